// Internal: the real engine's parts. engine.cpp prepares, recording.cpp takes samples.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/signals.h"
#include "engine/clock.h"
#include "engine/engine.h"
#include "engine/meeting.h"
#include "engine/sampler.h"
#include "engine/team.h"
#include "gpu/device_kernel.h"

namespace numatlas {

/// The time in which a flow recorded, as its host sees it.
struct Window {
  std::int64_t start_ns, end_ns;
};

/// What the flows of one host share while they run. The counters only ever grow: each scenario
/// waits for a higher value, so nothing has to be reset between scenarios.
struct HostBlock {
  alignas(64) std::atomic<std::uint64_t> arrived;   ///< at meetings: after the warm-up, each step
  alignas(64) std::atomic<std::uint64_t> finished;  ///< measured flows that had their time
  alignas(64) std::atomic<std::uint64_t> left;      ///< flows whose windows are complete
  alignas(64) std::atomic<std::uint32_t> stop;      ///< some rank was interrupted
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "processes share these counters, so they must not hide a lock");

/// One flow of this rank while its scenario runs.
struct Job {
  int flow = 0;            ///< index into the scenario
  std::size_t window = 0;  ///< slot in the host's windows
  // The kernel goes first: it may have pinned the memory.
  std::unique_ptr<Buffer> buffer, source;
  std::unique_ptr<Kernel> kernel;
  DeviceKernel* device = nullptr;    ///< the same kernel, where a GPU runs it
  std::unique_ptr<Sampler> sampler;  ///< made early: it takes memory of its own
  bool reused = false;               ///< the memory stood ready from the scenario before
  bool goes_on = false;              ///< which was of the same flows; its placement is known
  /// Set when its thread has run its last step: until then who works on the same memory answers.
  std::shared_ptr<std::atomic<bool>> left = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<bool>> owner_left;  ///< of the flow whose memory this one shares
  std::vector<std::pair<VectorWidth, double>> width_times;  ///< tried, and nanoseconds a step
  Trace trace;
  std::optional<Residency> seen_after, source_seen_after;  ///< after the last step
  std::optional<Error> error;
};

/// Memory that stands ready after a scenario, with its kernel. The next one may want just that.
struct Kept {
  Flow flow;
  int memory_number = 0, round = 0;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Buffer> buffer, source;
  Residency residency;  ///< as last observed
  std::optional<Residency> source_residency;
};

/// A scenario while this rank's team runs it.
struct TeamRun {
  const Scenario& scenario;
  std::vector<Job>& jobs;
  bool goes_on = false;                          ///< with the memory of the scenario before
  SleepingBarrier barrier;                       ///< of the threads that have work
  Expected<void> agreed = {};                    ///< that all ranks begin
  std::atomic<std::uint64_t> done_together = 0;  ///< counts for the meetings of this rank's flows
  // When all memory is written, when GPUs have pinned theirs, and after the last step.
  const ProcessMappings written = {}, pinned = {}, after = {};

  const Flow& flow_of(const Job& job) const {
    return scenario.flows[static_cast<std::size_t>(job.flow)];
  }
};

class RealEngine final : public Engine {
 public:
  RealEngine(Comm& comm, const Layout& layout, const Machine& machine, const EngineOptions& options,
             HostBlock* block)
      : comm_(comm),
        layout_(layout),
        machine_(machine),
        options_(options),
        block_(block),
        windows_(reinterpret_cast<Window*>(block + 1)),
        threads_(static_cast<int>(layout.workers_of(layout.own_rank(comm)).size())),
        workers_per_cpu_(layout.workers_per_cpu()),
        kept_(static_cast<std::size_t>(threads_)) {}

  Expected<std::vector<Trace>> run(const Scenario& scenario) override;
  std::string description() const override;
  void release() override {
    for (auto& kept : kept_) kept.reset();
  }
  Clock& clock() override { return clock_; }

 private:
  std::vector<Job> jobs_of(const Scenario& scenario);
  std::vector<bool> threads_with_work(const Scenario& scenario, const std::vector<Job>& jobs) const;
  Expected<void> run_jobs(const Scenario& scenario, std::vector<Job>& jobs);
  /// Calls `work(flow, job)` for the jobs of a thread.
  template <class Work>
  void for_own(TeamRun& run, int thread, Work work) const {
    for (Job& job : run.jobs) {
      const Flow& flow = run.flow_of(job);
      if (place_of(flow.worker).thread == thread) work(flow, job);
    }
  }
  const WorkerPlacement& place_of(int worker) const {
    return layout_.workers[static_cast<std::size_t>(worker)].placement;
  }
  // Phases of run_jobs: by every thread that has work.
  void take_kept(TeamRun& run, int thread);
  void check_room(TeamRun& run, int thread);
  void allocate_memory(TeamRun& run, int thread);
  void agree_to_start(TeamRun& run, int thread);
  void measure(TeamRun& run, int thread);
  void finish_devices(TeamRun& run, int thread);
  void check_results(TeamRun& run, int thread);
  void keep_or_free(TeamRun& run, int thread);

  /// One step of making ready the thread's jobs whose memory is their own, or another's.
  template <bool shares, Expected<void> (RealEngine::*one)(TeamRun&, const Flow&, Job&)>
  void step(TeamRun& run, int thread) {
    for_own(run, thread, [&](const Flow& flow, Job& job) {
      if (flow.shares.has_value() == shares)
        prepare(flow, job, [&] { return (this->*one)(run, flow, job); });
    });
  }

  /// Calls `step` and keeps its error and the time it took with the job.
  void prepare(const Flow& flow, Job& job, const std::function<Expected<void>()>& step);
  Expected<void> allocate_for(const Flow& flow, Job& job) const;
  Expected<void> make_ready(TeamRun& run, const Flow& flow, Job& job);
  Expected<std::unique_ptr<Kernel>> kernel_of(const Flow& flow, Job& job,
                                              const KernelMemory& memory);
  Expected<void> attach(TeamRun& run, const Flow& flow, Job& job);
  Expected<void> observe(TeamRun& run, const Flow& flow, Job& job);
  void note_moved(Job& job, const ProcessMappings& mappings);
  void finish_device(TeamRun& run, const Flow& flow, Job& job) const;
  Expected<void> agree_on_start(const TeamRun& run);
  /// Whether some rank runs a loop whose width is not known yet.
  Expected<bool> some_width_is_open(const TeamRun& run);
  void find_widths(TeamRun& run, int thread);
  void try_widths(const TeamRun& run, const Flow& flow, Job& job);
  Expected<void> agree_on_widths(const TeamRun& run);
  void use_widths(const Scenario& scenario, const Flow& flow, Job& job) const;
  void sample(const TeamRun& run, const Flow& flow, Job& job);
  std::function<void(std::uint64_t)> steps_of(TeamRun& run, const Flow& flow, Job& job);
  void record(const Scenario& scenario, const Flow& flow, Meeting& all, Job& job);
  void record_steps(std::uint64_t steps, Meeting& all, Sampler& sampler);
  /// False once the run is stopped, on any rank of the host.
  bool goes_on();
  /// The same, of a flow that waits for the others and does nothing meanwhile.
  bool stays();
  /// True until `counter` reaches `target`, or the run is stopped.
  bool waiting(const std::atomic<std::uint64_t>& counter, std::uint64_t target);
  /// Until all flows of the host have left, or the run is stopped.
  void wait_for_windows();
  void note_overlap(const Scenario& scenario, Job& job);
  void phase(const Scenario& scenario, const std::string& name) {
    if (options_.progress != nullptr) options_.progress->phase(scenario, name);
  }

  Comm& comm_;
  const Layout& layout_;
  const Machine& machine_;
  EngineOptions options_;
  HostBlock* block_;
  Window* windows_;
  int threads_;
  double workers_per_cpu_;  ///< over 1: they share CPUs
  MonotonicClock clock_;
  std::vector<std::optional<Kept>> kept_;  ///< by thread; a thread has one flow at a time
  bool kept_for_next_ = false;             ///< the scenario before said so, on all ranks
  bool tries_widths_ = false;              ///< in the scenario at hand, on all ranks
  int last_memory_ = 0;                    ///< its memory number
  std::uint64_t flows_here_ = 0;           ///< of the scenario at hand, on this host
  std::uint64_t measured_here_ = 0;
  std::uint64_t met_before_ = 0, met_ = 0;  ///< HostBlock::arrived, before and after it
  std::uint64_t finished_target_ = 0;
  std::uint64_t left_target_ = 0;
};

}  // namespace numatlas
