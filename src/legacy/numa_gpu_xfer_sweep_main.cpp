#include "benchmarks/program.h"
#include "legacy/gpu_sweep.h"

int main(int argc, char** argv) {
  return numatlas::run_program([&] {
    return numatlas::legacy::gpu_sweep({argv + 1, argv + argc});
  });
}
