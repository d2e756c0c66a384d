#include "benchmarks/program.h"
#include "legacy/mem_bench.h"

int main(int argc, char** argv) {
  return numatlas::run_program([&] {
    return numatlas::legacy::mem_bench({argv + 1, argv + argc});
  });
}
