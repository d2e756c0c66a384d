// What `numatlas gpu` is asked for, its points, and how they are shown; `latency` and `bandwidth`
// are the same with --on. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
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
  unsigned blocks = 0;  ///< of a launch; 0: as many as are under way at a time

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
Expected<std::vector<Operation>> kernels_of(const std::vector<Choice>& choices,
                                            const std::string& option);

/// Error (usage, naming --latency-size): less than two lines of a GPU.
Expected<void> check_chase_sizes(const std::vector<Bytes>& sizes);

/// The memory that --memory asks for; nullopt: of each GPU its own. Errors name the option.
Expected<std::optional<MemorySpec>> memory_of(const PlanInput& input);
bool is_of_host(const std::optional<MemorySpec>& memory);
/// The label `memory`: "own", "gpu:1", "bind:0"; and in words: "its own memory", "memory of GPU 1",
/// "memory of node 0".
std::string place_of(const std::optional<MemorySpec>& memory);
std::string memory_words(const std::string& memory);

/// The largest that all of these GPUs have room for: two such flows may be in memory at a time.
Bytes largest_on(const PlanInput& input, const std::vector<int>& gpus, Bytes most);

/// The fewest that this GPU has on any host; a usual number where a driver or a file does not say.
int multiprocessors_of(const PlanInput& input, int gpu);

/// Adds a flow of each of these kernels on each host that has its GPU, called by a worker that no
/// other of them has; where one cannot be, the point is skipped. Error (usage, naming --size): a
/// kernel that the size does not hold.
Expected<void> add_flows(const PlanInput& input, const std::vector<KernelSpec>& kernels, Bytes size,
                         PageKind pages, const std::optional<MemorySpec>& memory,
                         PlannedScenario& planned);

/// --on of a benchmark that CPUs run, or GPUs.
class OnOption {
 public:
  /// `has_memory`: of a benchmark whose help has --memory.
  void add_to(CLI::App& app, bool has_memory = true);
  bool on_gpus() const { return !gpus_.empty(); }
  /// Error (usage): it names neither CPUs nor GPUs.
  Expected<void> parse();
  const std::vector<int>& gpus() const { return gpus_; }
  /// Error (usage) if one of these options was given: it applies only to `what`, such as "chases by
  /// CPUs".
  static Expected<void> refuse(const char* what,
                               const std::vector<std::pair<const char*, bool>>& options);
  /// From now on its flows are of GPUs.
  void prepare(Benchmark& benchmark) const;
  /// From now on the benchmark is what `own` says, on these GPUs.
  void take_over(Benchmark& benchmark, Options own) const;

 private:
  std::string text_ = "cpus";
  std::vector<int> gpus_;
};

}  // namespace numatlas::benchmark_gpu
