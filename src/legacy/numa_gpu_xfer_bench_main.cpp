#include "benchmarks/program.h"
#include "legacy/gpu_xfer.h"

int main(int argc, char** argv) {
  return numatlas::run_program([&] { return numatlas::legacy::gpu_xfer({argv + 1, argv + argc}); });
}
