#include "benchmarks/program.h"
#include "legacy/numa_xfer.h"

int main(int argc, char** argv) {
  return numatlas::run_program([&] {
    return numatlas::legacy::numa_xfer({argv + 1, argv + argc});
  });
}
