#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "engine/agreement.h"
#include "engine/real_engine.h"
#include "engine/sharing.h"
#include "gpu/device_kernel.h"
#include "memory/source.h"
#include "placement/kernel_calls.h"
#include "placement/touch.h"

namespace numatlas {

namespace {

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

/// How long a rank may be at work on a scenario, on a slow machine.
Nanoseconds time_at_work(const Scenario& scenario, const Layout& layout) {
  constexpr double bytes_per_ns = 0.25;
  double most = 0;
  std::map<int, double> by_rank;
  for (const Flow& flow : scenario.flows) {
    double& bytes = by_rank[layout.workers[static_cast<std::size_t>(flow.worker)].rank];
    bytes += static_cast<double>(flow.region.bytes.value);
    if (flow.source) bytes += static_cast<double>(flow.source->bytes.value);
    most = std::max(most, bytes);
  }
  return 2 * scenario.stop.time + Nanoseconds(static_cast<std::int64_t>(most / bytes_per_ns));
}

/// What a flow's memory lost at a first touch.
std::optional<Error> taken_back(const Flow& flow, const Job& job) {
  if (job.buffer && job.buffer->taken_back()) return taken_back_error(flow.region);
  if (job.source && job.source->taken_back()) return taken_back_error(*flow.source);
  return std::nullopt;
}

/// What is cut short by a stop is not looked at: that takes as long as a pass.
void note_wrong(Job& job) {
  if (stop_requested()) return;
  if (auto right = job.kernel->verify(); !right) {
    job.trace.wrong = right.error();
    if (job.trace.wrong->hint.empty())
      job.trace.wrong->hint = "a defect of numatlas, or of this machine's memory or CPU";
    // A device that is lost does nothing in no time.
    if (job.device != nullptr) {
      job.trace.samples.clear();
      job.trace.device->steps.clear();
    }
  }
}

/// The host's side of what a GPU works on; nullptr between GPUs.
Buffer* host_side(const Flow& flow, Job& job) {
  if (gpu_of(flow.region.placement) < 0) return job.buffer.get();
  const bool other = flow.source && gpu_of(flow.source->placement) < 0;
  return other ? job.source.get() : nullptr;
}

/// The flow of this rank whose memory this one shares.
const Job& owner_of(const Flow& flow, const std::vector<Job>& jobs) {
  return *std::find_if(jobs.begin(), jobs.end(),
                       [&](const Job& other) { return other.flow == *flow.shares; });
}

/// Base pages that the kernel is about to write: a page fault for each would take longer. Huge
/// pages have few faults, and leave the cache before they are filled. A long stride writes few
/// pages.
void populate_base_pages(const Flow& flow, const KernelMemory& memory) {
  const KernelTraits& traits = traits_of(flow.kernel);
  const bool fills =
      (traits.chases() || traits.streams()) && stride_of(flow.kernel).value <= kernel::page_size();
  if (!fills || memory.filled) return;
  if (flow.region.pages == PageKind::base) (void)populate(memory.data, memory.bytes);
  if (flow.source && flow.source->pages == PageKind::base)
    (void)populate(memory.source, memory.source_bytes);
}

}  // namespace

std::string RealEngine::description() const {
  return fmt::format("{}, {} worker{} per rank", team_description(), threads_,
                     threads_ == 1 ? "" : "s");
}

std::vector<Job> RealEngine::jobs_of(const Scenario& scenario) {
  std::vector<Job> jobs;
  flows_here_ = measured_here_ = 0;
  for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
    const Flow& flow = scenario.flows[i];
    const Worker& worker = layout_.workers[static_cast<std::size_t>(flow.worker)];
    if (worker.host != layout_.own_host(comm_)) continue;
    if (worker.rank == layout_.own_rank(comm_)) {
      Job job;
      job.flow = static_cast<int>(i);
      job.window = flows_here_;
      job.trace.flow = job.flow;
      jobs.push_back(std::move(job));
    }
    ++flows_here_;
    measured_here_ += flow.role == Role::measured ? 1 : 0;
  }
  return jobs;
}

Expected<std::vector<Trace>> RealEngine::run(const Scenario& scenario) {
  std::vector<Job> jobs = jobs_of(scenario);
  TRY(run_jobs(scenario, jobs));
  std::vector<Trace> traces;
  traces.reserve(jobs.size());
  for (Job& job : jobs) traces.push_back(std::move(job.trace));
  note_stops(scenario, traces, workers_per_cpu_ > 1);
  return traces;
}

/// The first thread, and those that touch, measure or still keep memory.
std::vector<bool> RealEngine::threads_with_work(const Scenario& scenario,
                                                const std::vector<Job>& jobs) const {
  std::vector<bool> works(static_cast<std::size_t>(threads_), false);
  works[0] = true;
  for (std::size_t thread = 0; thread < works.size(); ++thread)
    works[thread] = works[thread] || kept_[thread].has_value();
  for (const Job& job : jobs) {
    const Flow& flow = scenario.flows[static_cast<std::size_t>(job.flow)];
    for (const int worker : {flow.worker, toucher_of(flow)})
      works[static_cast<std::size_t>(place_of(worker).thread)] = true;
  }
  return works;
}

Expected<void> RealEngine::run_jobs(const Scenario& scenario, std::vector<Job>& jobs) {
  // What other ranks still hold for a next run that never came is no room for this one.
  if (comm_.size() > 1 && kept_for_next_ && scenario.memory_number != last_memory_) {
    release();
    TRY(comm_.barrier());
  }
  last_memory_ = scenario.memory_number;
  // Who takes no part waits for those that do, as long as for what it did itself.
  if (!scenario.flows.empty()) comm_.allow(time_at_work(scenario, layout_));
  // A thread without work sleeps until the end: waking it for each phase would disturb those who
  // work.
  const std::vector<bool> works = threads_with_work(scenario, jobs);
  const auto working = static_cast<int>(std::count(works.begin(), works.end(), true));
  TeamRun run{scenario, jobs, std::exchange(kept_for_next_, scenario.keep_memory),
              SleepingBarrier(working)};
  SleepingBarrier end(threads_);
  // Each begins when all threads have ended the one before. Who only shares memory comes second:
  // its owner decides where the pages lie.
  using Engine = RealEngine;
  constexpr bool owners = false, sharers = true;
  constexpr void (Engine::*phases[])(TeamRun&, int){&Engine::take_kept,
                                                    &Engine::check_room,
                                                    &Engine::allocate_memory,
                                                    &Engine::step<owners, &Engine::make_ready>,
                                                    &Engine::step<owners, &Engine::attach>,
                                                    &Engine::step<owners, &Engine::observe>,
                                                    &Engine::step<sharers, &Engine::make_ready>,
                                                    &Engine::step<sharers, &Engine::attach>,
                                                    &Engine::step<sharers, &Engine::observe>,
                                                    &Engine::agree_to_start,
                                                    &Engine::measure,
                                                    &Engine::finish_devices,
                                                    &Engine::check_results,
                                                    &Engine::keep_or_free};
  // The caller is the team's first thread and gets its CPUs back: the next run may place it anew.
  const CpuSet callers_cpus = thread_affinity();
  phase(scenario, "preparing");
  auto ran = run_team(threads_, [&](int thread) {
    for (const auto phase : phases) {
      if (!works[static_cast<std::size_t>(thread)]) break;
      (this->*phase)(run, thread);
      run.barrier.wait();
    }
    end.wait();
  });
  (void)bind_thread(callers_cpus);
  if (!ran) return ran;
  TRY(run.agreed);
  for (Job& job : jobs) note_overlap(scenario, job);
  return {};
}

/// Takes over memory kept from the scenario before, as it stands or its pages, and frees what this
/// one does not want.
void RealEngine::take_kept(TeamRun& run, int thread) {
  std::optional<Kept>& kept = kept_[static_cast<std::size_t>(thread)];
  for_own(run, thread, [&](const Flow& flow, Job& job) {
    if (!kept) return;
    const Scenario& scenario = run.scenario;
    const bool stands_ready =
        kept->memory_number == scenario.memory_number && same_work(kept->flow, flow);
    if (!stands_ready && !(kept->round == scenario.round && same_pages(kept->flow, flow))) return;
    job.kernel = std::move(kept->kernel);
    job.buffer = std::move(kept->buffer);
    job.source = std::move(kept->source);
    if (!stands_ready) {
      job.kernel.reset();
      job.buffer->use(flow.region.bytes.value);
      return;
    }
    job.reused = true;
    job.goes_on = run.goes_on;
    job.trace.residency = std::move(kept->residency);
    job.trace.source_residency = std::move(kept->source_residency);
  });
  kept.reset();
}

/// Other programs may have taken memory since the plan was made: better refused than killed. Gives
/// all jobs an error where their memory does not fit any more.
void RealEngine::check_room(TeamRun& run, int thread) {
  if (thread != 0 || !machine_.is_live()) return;
  std::vector<Region> regions;
  std::size_t workers = 0;
  for (const Job& job : run.jobs) {
    const Flow& flow = run.flow_of(job);
    if (flow.shares || job.buffer) continue;
    ++workers;
    regions.push_back(flow.region);
    if (flow.source) regions.push_back(*flow.source);
  }
  if (regions.empty()) return;
  auto fits = check_fits(regions, machine_, workers, Reserve::small);
  if (!fits) {
    // What another rank or program just gives back takes a moment.
    constexpr std::chrono::milliseconds moment{100};
    std::this_thread::sleep_for(moment);
    fits = check_fits(regions, machine_, workers, Reserve::small);
  }
  if (fits) return;
  for (Job& job : run.jobs) job.error = fits.error();
}

void RealEngine::prepare(const Flow& flow, Job& job, const std::function<Expected<void>()>& step) {
  if (job.error) return;
  const std::int64_t start = clock_.now_ns();
  try {
    if (auto done = step(); !done) job.error = done.error();
    if (!job.error) job.error = taken_back(flow, job);
  } catch (const std::bad_alloc&) {
    job.error = Error{ErrorKind::resource, "no memory for the samples (operator new)",
                      "raise the limits of address space and data (ulimit -v, -d)", "",
                      ", or use fewer --threads"};
  }
  job.trace.prepare_seconds += seconds(clock_.now_ns() - start);
}

/// By the thread that touches first.
void RealEngine::allocate_memory(TeamRun& run, int thread) {
  for (Job& job : run.jobs) {
    const Flow& flow = run.flow_of(job);
    if (flow.shares || place_of(toucher_of(flow)).thread != thread || job.buffer) continue;
    prepare(flow, job, [&] { return allocate_for(flow, job); });
  }
}

Expected<void> RealEngine::allocate_for(const Flow& flow, Job& job) const {
  const WorkerPlacement& place = place_of(toucher_of(flow));
  if (place.cpu) {
    TRY(bind_thread({*place.cpu}));
  }
  const auto memory_for = [&](const Region& region) {
    const int gpu = on_gpu(flow.kernel) ? gpu_of(region.placement) : -1;
    return gpu >= 0 ? allocate_on_gpu(region.bytes, gpu) : allocate(region);
  };
  job.buffer = TRY(memory_for(flow.region));
  if (flow.source) {
    job.source = TRY(memory_for(*flow.source));
  }
  // Else the kernel touches it, as it writes what it needs.
  if (flow.first_touch) {
    touch_pages(job.buffer->data(), job.buffer->bytes());
    if (job.source) touch_pages(job.source->data(), job.source->bytes());
  }
  return {};
}

/// By the flow's own thread, when all memory of this rank is there.
Expected<void> RealEngine::make_ready(TeamRun& run, const Flow& flow, Job& job) {
  const WorkerPlacement& place = place_of(flow.worker);
  if (place.cpu) {
    TRY(bind_thread({*place.cpu}));
  }
  const Job* owner = &job;
  if (flow.shares) {
    owner = &owner_of(flow, run.jobs);
    job.owner_left = owner->left;
    if (owner->error) return fail(*owner->error);
  }
  KernelMemory memory{owner->buffer->data(), flow.region.bytes.value};
  memory.filled = owner != &job;
  if (owner->buffer->persistent()) {
    memory.persist = [buffer = owner->buffer.get()](const void* start, std::size_t bytes) {
      return buffer->persist(start, bytes);
    };
  }
  if (owner->source) {
    memory.source = owner->source->data();
    memory.source_bytes = flow.source->bytes.value;
  }
  if (!job.kernel) {
    job.kernel = TRY(kernel_of(flow, job, memory));
  }
  std::function<void(std::uint64_t)> ready;
  if (job.kernel->gets_ready())
    ready = [&kernel = *job.kernel](std::uint64_t steps) { kernel.ready(steps); };
  const std::uint64_t first_steps = ready ? 1 : job.kernel->steps_per_pass();
  job.sampler = std::make_unique<Sampler>(clock_, run.scenario.stop, steps_of(run, flow, job),
                                          first_steps, workers_per_cpu_, std::move(ready));
  job.trace.address = reinterpret_cast<std::uintptr_t>(memory.data);
  return {};
}

/// The flow's kernel, with its memory written.
Expected<std::unique_ptr<Kernel>> RealEngine::kernel_of(const Flow& flow, Job& job,
                                                        const KernelMemory& memory) {
  if (!on_gpu(flow.kernel)) {
    auto kernel = make_kernel(flow.kernel);
    populate_base_pages(flow, memory);
    TRY(kernel->prepare(memory));
    return kernel;
  }
  auto kernel =
      TRY(make_device_kernel(flow.kernel, flow.source ? gpu_of(flow.source->placement) : -1,
                             gpu_of(flow.region.placement)));
  TRY(kernel->prepare(memory));
  job.device = kernel.get();
  return std::unique_ptr<Kernel>(std::move(kernel));
}

/// Pins the memory that a GPU works on, by the flow's own thread.
Expected<void> RealEngine::attach(TeamRun& run, const Flow& flow, Job& job) {
  if (job.device == nullptr) return {};
  if (const Buffer* host = host_side(flow, job))
    job.trace.before_pinning = host->residency(run.written);
  return job.device->attach();
}

void RealEngine::measure(TeamRun& run, int thread) {
  find_widths(run, thread);
  if (!run.agreed) return;
  for_own(run, thread, [&](const Flow& flow, Job& job) { sample(run, flow, job); });
}

void RealEngine::finish_devices(TeamRun& run, int thread) {
  for_own(run, thread, [&](const Flow&, Job& job) {
    if (run.agreed && job.device != nullptr) job.device->finish();
  });
  // A check reads all memory: not beside the last step of another rank.
  if (thread == 0 && run.agreed && !run.jobs.empty()) wait_for_windows();
}

/// Nobody looks at memory while a GPU still works on some.
void RealEngine::check_results(TeamRun& run, int thread) {
  for_own(run, thread, [&](const Flow& flow, Job& job) {
    if (run.agreed && job.device != nullptr) finish_device(run, flow, job);
    // After a stop nobody waits for the end of a long check.
    if (!run.agreed || block_->stop.load(std::memory_order_acquire) != 0) return;
    job.trace.counts = job.kernel->counts();
    job.trace.groups = job.kernel->group_times();
    if (run.scenario.checks) note_wrong(job);
    if (auto lost = taken_back(flow, job)) job.trace.wrong = std::move(lost);
    // Memory that stays is looked at when it goes.
    if (run.scenario.checks && !run.scenario.keep_memory) note_moved(job, run.after);
  });
}

void RealEngine::keep_or_free(TeamRun& run, int thread) {
  for_own(run, thread, [&](const Flow& flow, Job& job) {
    // Other ranks of the host could not count on the memory that this one keeps, unless they keep
    // theirs.
    if (run.agreed && (comm_.size() == 1 || run.scenario.keep_memory) && !job.trace.wrong &&
        job.device == nullptr && stands_alone(run.scenario, job.flow)) {
      kept_[static_cast<std::size_t>(thread)] =
          Kept{flow,
               run.scenario.memory_number,
               run.scenario.round,
               std::move(job.kernel),
               std::move(job.buffer),
               std::move(job.source),
               job.seen_after.value_or(job.trace.residency),
               job.source_seen_after ? job.source_seen_after : job.trace.source_residency};
    }
    // By its own thread: a large unmap is that thread's time.
    job.kernel.reset();
    job.buffer.reset();
    job.source.reset();
  });
}

/// By the flow's own thread, when all GPUs are done.
void RealEngine::finish_device(TeamRun& run, const Flow& flow, Job& job) const {
  const Scenario& scenario = run.scenario;
  if (const Buffer* host = host_side(flow, job)) job.trace.after = host->residency(run.after);
  job.device->detach();
  job.trace.device = job.device->take_report();
  if (job.trace.samples.empty()) return;
  std::vector<DeviceStep>& steps = job.trace.device->steps;
  if (scenario.stop.steps) {  // the last ones, each with its sample
    const std::size_t kept = std::min(steps.size(), job.trace.samples.size());
    steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(kept));
    return;
  }
  // Steps of the warm-up, and of the time in which others were not there yet, are no samples. By
  // their middle: the two clocks are a little apart.
  const std::int64_t first = job.trace.samples.front().start_ns;
  const Sample& last = job.trace.samples.back();
  std::erase_if(steps, [&](const DeviceStep& step) {
    const std::int64_t middle = step.start_ns + step.duration_ns / 2;
    return middle < first || middle > last.start_ns + last.duration_ns;
  });
}

/// Where the memory lies, now that it was written.
Expected<void> RealEngine::observe(TeamRun& run, const Flow& flow, Job& job) {
  if (flow.shares) {
    const Trace& owner = owner_of(flow, run.jobs).trace;
    job.trace.residency = owner.residency;
    // What is to be said of it is said once, of the owner.
    job.trace.policy.mechanism = owner.policy.mechanism;
    return {};
  }
  const ProcessMappings& mappings = job.device == nullptr ? run.written : run.pinned;
  const NodeId local = place_of(toucher_of(flow)).cpu_node;
  if (!job.goes_on) {
    job.trace.residency = job.buffer->residency(mappings);
    if (job.source) job.trace.source_residency = job.source->residency(mappings);
  }
  // Of what a GPU works on the host's side is what a policy is for.
  const Buffer* const host = on_gpu(flow.kernel) ? host_side(flow, job) : nullptr;
  job.trace.policy = (host != nullptr ? host : job.buffer.get())->policy();
  std::vector<Warning> warnings =
      placement_warnings(flow.region, job.trace.residency, local, machine_);
  if (job.source) {
    for (Warning& warning :
         placement_warnings(*flow.source, *job.trace.source_residency, local, machine_))
      warnings.push_back(std::move(warning));
  }
  for (Warning& warning : warnings) {
    if (options_.strict && (options_.strict_pages || warning.code != "page-size"))
      return fail(
          {ErrorKind::placement, warning.text, "", "", "without --strict this is a warning"});
    job.trace.warnings.push_back(std::move(warning));
  }
  return {};
}

Expected<std::unique_ptr<Engine>> make_engine(Comm& comm, const Layout& layout,
                                              const Machine& machine,
                                              const EngineOptions& options) {
  std::size_t windows = 0;
  for (const Worker& worker : layout.workers) {
    windows += worker.host == layout.own_host(comm) ? 1 : 0;
  }
  // Check thread creation before the first collective.
  const auto mine = static_cast<int>(layout.workers_of(layout.own_rank(comm)).size());
  const auto team = run_team(mine, [](int) {});
  TRY(agree(comm, error_of(team)));
  const auto block = TRY(comm.shared_block(sizeof(HostBlock) + windows * sizeof(Window)));
  // Zeroed shared memory is a valid HostBlock: all counters at 0.
  return std::make_unique<RealEngine>(comm, layout, machine, options,
                                      static_cast<HostBlock*>(block));
}

}  // namespace numatlas
