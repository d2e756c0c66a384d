// The source systems' programs. A build has an executable for each, which knows its name; a package
// has one for all of them, which is that by whose name it is started.
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "legacy/allocator.h"
#include "legacy/cpu_xfer.h"
#include "legacy/gpu_sweep.h"
#include "legacy/mem_bench.h"
#include "legacy/numa_bench.h"
#include "legacy/numa_xfer.h"
#include "legacy/streams.h"
#include "run/program.h"

int main(int argc, char** argv) {
  using namespace numatlas::legacy;
  const std::map<std::string_view, std::function<int(const std::vector<std::string>&)>> programs{
      {"distributed_streams", std::bind_front(distributed_streams, StreamVariant::memory)},
      {"distributed_streams_memkind", std::bind_front(distributed_streams, StreamVariant::memkind)},
      {"distributed_streams_pmem", std::bind_front(distributed_streams, StreamVariant::pmem)},
      {"numa_allocator", allocator},
      {"numa_bench", numa_bench},
      {"numa_cpu_xfer_bench", cpu_xfer},
      {"numa_gpu_xfer_bench", gpu_xfer},
      {"numa_gpu_xfer_sweep", gpu_sweep},
      {"numa_mem_bench", mem_bench},
      {"numa_numa_xfer_bench", numa_xfer}};
#ifdef NUMATLAS_PROGRAM
  const std::string_view name = NUMATLAS_PROGRAM;
#else
  std::string_view name = argc > 0 ? argv[0] : "";
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
#endif
  const auto program = programs.find(name);
  if (program == programs.end()) {
    std::cerr << "numatlas: error: no program has the name " << name << '\n';
    return 2;
  }
  return numatlas::run_program([&] { return program->second({argv + 1, argv + argc}); });
}
