#include "benchmarks/program.h"
#include "legacy/streams.h"

int main(int argc, char** argv) {
  return numatlas::run_program([&] {
    return numatlas::legacy::distributed_streams(numatlas::legacy::StreamVariant::memkind,
                                                 {argv + 1, argv + argc});
  });
}
