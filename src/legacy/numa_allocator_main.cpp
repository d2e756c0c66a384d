#include "benchmarks/program.h"
#include "legacy/allocator.h"

int main(int argc, char** argv) {
  return numatlas::run_program([&] { return numatlas::legacy::allocator({argv, argv + argc}); });
}
