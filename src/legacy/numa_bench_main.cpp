#include "benchmarks/program.h"
#include "legacy/numa_bench.h"

int main(int argc, char** argv) {
  return numatlas::run_program([&] {
    return numatlas::legacy::numa_bench({argv + 1, argv + argc});
  });
}
