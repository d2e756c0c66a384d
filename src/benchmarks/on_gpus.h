// --on: benchmarks that GPUs run instead of CPUs, and what is the same of all of these.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/stream_loops.h"
#include "run/benchmark.h"
#include "run/choices.h"

namespace numatlas::on_gpus {

/// --on of a benchmark that CPUs run, or GPUs.
class OnOption {
 public:
  /// Options, and whether they were given.
  using Given = std::vector<std::pair<const char*, bool>>;

  /// `has_memory`: of a benchmark whose help has --memory.
  void add_to(CLI::App& app, bool has_memory = true);
  bool on_gpus() const { return on_gpus_; }
  /// Error (usage): it names neither CPUs nor GPUs.
  Expected<void> parse();
  const std::vector<int>& gpus() const { return gpus_; }  ///< empty: all
  /// Error (usage) if one of these was given: it applies only to `what`, such as "chases by CPUs".
  Expected<void> refuse(const char* what, const Given& options) const;
  /// From now on its flows are of GPUs; `together`: of so many at a time, 0 for all of them.
  void prepare(Benchmark& benchmark, std::size_t together) const;

 private:
  std::string text_ = "cpus";
  bool on_gpus_ = false;
  std::vector<int> gpus_;
};

/// A survey's part by GPUs; none where no GPU can be used.
SurveyPart survey_part(const Machine& machine, SurveyPart part);

/// The kernels of GPUs for these of CPUs: a mix of two reads to a write is triad, of one to one
/// copy. Error (usage, naming `option`): a GPU has no such kernel.
Expected<std::vector<Operation>> kernels_of(const std::vector<Choice>& choices,
                                            const std::string& option);

/// Error (usage, naming --size): less than two lines of a GPU.
Expected<void> check_chase_size(Bytes size);

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

/// Adds what a rate is of that of the memory's bus.
std::vector<Figure> totals(const ScenarioResult& point, const RunReport& report);

}  // namespace numatlas::on_gpus
