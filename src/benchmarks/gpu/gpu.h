// What `numatlas gpu` is asked for, its points, and how they are shown; `latency` and `bandwidth`
// are the same with --on. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/stream_loops.h"
#include "run/benchmark.h"
#include "run/choices.h"

namespace numatlas::benchmark_gpu {

struct Options {
  bool latency = false, bandwidth = false;
  std::vector<int> gpus;  ///< empty: all
  bool together = false;  ///< the kernels of all GPUs at the same time
  /// In the memory of each node and of each GPU, in one size of each; else in what --memory says.
  bool every_memory = false;
  std::vector<Operation> kernels{Operation::read,  Operation::write, Operation::copy,
                                 Operation::scale, Operation::add,   Operation::triad};
  std::vector<Bytes> latency_sizes, sizes;  ///< empty: usual ones
  std::vector<GpuLoads> loads{GpuLoads::cached};
  Pinning pinning = Pinning::pinned;  ///< of the host's memory; or managed
  unsigned blocks = 0;                ///< of a launch; 0: as many as are fastest

  std::vector<bool Options::*> measures;
  std::string blocks_text, gpus_text, latency_size_text, size_text;
};

Expected<Plan> plan(const Options& own, const PlanInput& input);

/// The GPUs with their memory; latency by size, and bandwidth by kernel and size, a column a GPU.
std::vector<View> views(const RunReport& report);

/// A matrix of each kernel: a row a GPU, a column a memory.
std::vector<View> matrix_views(const RunReport& report);

/// Of each GPU the latency of each level, and the rate of each kernel.
std::vector<Fact> facts(const RunReport& report);

/// Adds what a rate is of that of the memory's bus.
std::vector<Figure> totals(const ScenarioResult& point, const RunReport& report);

/// The kernels of GPUs for these of CPUs: a mix of two reads to a write is triad, of one to one
/// copy. Error (usage, naming `option`): a GPU has no such kernel.
Expected<std::vector<Operation>> kernels_of(const std::vector<Choice>& choices, const char* option);

/// The memory that --memory asks for; nullopt: of each GPU its own. Errors name the option.
Expected<std::optional<MemorySpec>> memory_of(const PlanInput& input);

/// The largest that all of these GPUs have room for: two such flows may be in memory at a time.
Bytes largest_on(const PlanInput& input, const std::vector<int>& gpus, Bytes most);

/// The flow of a kernel of a GPU on a host, called by a worker that is not yet `taken`; nullopt,
/// and why (`skip`), where it cannot be.
std::optional<Flow> flow_at(const PlanInput& input, int host, const KernelSpec& kernel, Bytes size,
                            PageKind pages, const std::optional<MemorySpec>& memory,
                            std::set<int>& taken, std::optional<Error>& skip);

/// "its own memory", "memory of GPU 1", "memory of node 0": of the label `memory` of a point.
std::string memory_words(const std::string& memory);

/// --on of a benchmark that CPUs run, or GPUs.
class OnOption {
 public:
  /// `has_memory`: of a benchmark whose help has --memory.
  void add_to(CLI::App& app, bool has_memory = true);
  bool on_gpus() const { return !gpus_.empty(); }
  /// Error (usage): it names neither CPUs nor GPUs.
  Expected<void> parse();
  const std::vector<int>& gpus() const { return gpus_; }
  /// From now on its flows are of GPUs.
  void prepare(Benchmark& benchmark) const;
  /// From now on the benchmark is what `own` says, on these GPUs.
  void take_over(Benchmark& benchmark, Options own) const;

 private:
  std::string text_ = "cpus";
  std::vector<int> gpus_;
};

}  // namespace numatlas::benchmark_gpu
