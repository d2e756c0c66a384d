// CMake reads the names from here: a line for each.
#include "legacy/programs.h"

#include <functional>
#include <map>

namespace numatlas::legacy {

std::optional<int> run_program_named(std::string_view name, const std::vector<std::string>& words) {
  const std::map<std::string_view, std::function<int(const std::vector<std::string>&)>> programs{
      {"distributed_streams", std::bind_front(distributed_streams, StreamVariant::memory)},
      {"distributed_streams_memkind", std::bind_front(distributed_streams, StreamVariant::memkind)},
      {"distributed_streams_pmem", std::bind_front(distributed_streams, StreamVariant::pmem)},
      {"numa_allocator", allocator},
      {"numa_bench", numa_bench},
      {"numa_cpu_xfer_bench", cpu_xfer},
      {"numa_gpu_xfer_bench", gpu_xfer},
      {"numa_mem_bench", mem_bench},
      {"numa_numa_xfer_bench", numa_xfer}};
  // As the documents of numa-gpu-xfer-bench call it: ./build/benchmark
  if (name == "benchmark") name = "numa_gpu_xfer_bench";
  const auto program = programs.find(name);
  if (program == programs.end()) return std::nullopt;
  return program->second(words);
}

}  // namespace numatlas::legacy
