#include "benchmarks/program.h"
#include "legacy/cpu_xfer.h"

int main(int argc, char** argv) {
  return numatlas::run_program([&] { return numatlas::legacy::cpu_xfer({argv + 1, argv + argc}); });
}
