// What `numatlas gpu` is asked for, its points, and how they are shown; `latency` and `bandwidth`
// are the same with --on. Pure.
#pragma once

#include <string>
#include <vector>

#include "kernels/stream_loops.h"
#include "run/benchmark.h"

namespace numatlas::benchmark_gpu {

struct Options {
  bool latency = false, bandwidth = false;
  std::vector<int> gpus;  ///< empty: all
  bool together = false;  ///< the kernels of all GPUs at the same time
  std::vector<Operation> kernels{Operation::read,  Operation::write, Operation::copy,
                                 Operation::scale, Operation::add,   Operation::triad};
  std::vector<Bytes> latency_sizes, sizes;  ///< empty: usual ones
  std::vector<GpuLoads> loads{GpuLoads::cached};
  unsigned blocks = 0;  ///< of a launch; 0: as many as are fastest

  std::vector<bool Options::*> measures;
  std::string blocks_text, gpus_text, latency_size_text, size_text;
};

Expected<Plan> plan(const Options& own, const PlanInput& input);

/// The GPUs with their memory; latency by size, and bandwidth by kernel and size, a column a GPU.
std::vector<View> views(const RunReport& report);

/// Of each GPU the latency of each level, and the rate of each kernel.
std::vector<Fact> facts(const RunReport& report);

/// Adds what a rate is of that of the memory's bus.
std::vector<Figure> totals(const ScenarioResult& point, const RunReport& report);

/// --on of a benchmark that CPUs run, or GPUs.
class OnOption {
 public:
  void add_to(CLI::App& app);
  bool on_gpus() const { return !gpus_.empty(); }
  /// Error (usage): it names neither CPUs nor GPUs.
  Expected<void> parse();
  /// From now on the benchmark is what `own` says, on these GPUs.
  void take_over(Benchmark& benchmark, Options own) const;

 private:
  std::string text_ = "cpus";
  std::vector<int> gpus_;
};

}  // namespace numatlas::benchmark_gpu
