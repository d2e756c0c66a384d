#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "engine/agreement.h"
#include "engine/pace.h"
#include "engine/real_engine.h"
#include "engine/sharing.h"
#include "gpu/buffers.h"
#include "memory/source.h"
#include "memory/touch.h"
#include "placement/kernel_calls.h"

namespace numatlas {

namespace {

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

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
  const KernelTraits& traits = traits_of(flow.kernel.name);
  const bool fills =
      traits.chases() ? flow.kernel.chain.stride.value <= kernel::page_size() : traits.streams();
  if (!fills || memory.filled) return;
  if (flow.region.pages == PageKind::base) (void)populate(memory.data, memory.bytes);
  if (flow.source && flow.source->pages == PageKind::base)
    (void)populate(memory.source, memory.source_bytes);
}

}  // namespace

std::string RealEngine::description() const {
  std::string text = fmt::format("{}, {} worker{} per rank", team_description(), threads_,
                                 threads_ == 1 ? "" : "s");
  const std::size_t hosts = comm_.layout().hosts.size();
  if (hosts > 1)
    text +=
        fmt::format(", clocks of {} hosts synchronized within {}", hosts, to_text(clocks_.error()));
  return text;
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
  std::set<int> workers;
  for (const Flow& flow : scenario.flows) {
    if (!workers.insert(flow.worker).second) {
      return fail(
          ErrorKind::internal,
          fmt::format("scenario {}: worker {} has two flows, which it could only run in turn",
                      scenario.name, flow.worker));
    }
  }
  std::vector<Job> jobs = jobs_of(scenario);
  TRY(run_jobs(scenario, jobs));
  std::vector<Trace> traces;
  traces.reserve(jobs.size());
  for (Job& job : jobs) traces.push_back(std::move(job.trace));
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
  const bool goes_on = std::exchange(kept_for_next_, scenario.keep_memory);
  last_memory_ = scenario.memory_number;
  // A thread without work sleeps until the end: waking it for each step would disturb those who
  // work.
  const std::vector<bool> works = threads_with_work(scenario, jobs);
  SleepingBarrier barrier(static_cast<int>(std::count(works.begin(), works.end(), true)));
  SleepingBarrier end(threads_);
  // The caller is the team's first thread and gets its CPUs back: the next run may place it anew.
  const CpuSet callers_cpus = thread_affinity();
  Expected<std::int64_t> start = 0;
  // When all memory is written, when GPUs have pinned theirs, and after the last step.
  const ProcessMappings written, pinned, after;
  phase(scenario, "preparing");
  auto ran = run_team(threads_, [&](int thread) {
    if (!works[static_cast<std::size_t>(thread)]) return end.wait();
    const auto mine = [&](const Job& job) {
      return place_of(scenario.flows[static_cast<std::size_t>(job.flow)].worker).thread == thread;
    };
    // First goes what is not wanted any more, to make room.
    std::optional<Kept>& kept = kept_[static_cast<std::size_t>(thread)];
    for (Job& job : jobs) {
      const Flow& flow = scenario.flows[static_cast<std::size_t>(job.flow)];
      if (!mine(job) || !kept || kept->memory_number != scenario.memory_number ||
          !same_work(kept->flow, flow))
        continue;
      job.kernel = std::move(kept->kernel);
      job.buffer = std::move(kept->buffer);
      job.source = std::move(kept->source);
      job.reused = true;
      job.goes_on = goes_on;
      job.trace.residency = std::move(kept->residency);
      job.trace.source_residency = std::move(kept->source_residency);
    }
    kept.reset();
    barrier.wait();
    if (thread == 0) check_room(scenario, jobs);
    barrier.wait();
    for (Job& job : jobs) {
      const Flow& flow = scenario.flows[static_cast<std::size_t>(job.flow)];
      if (flow.shares || place_of(toucher_of(flow)).thread != thread || job.buffer) continue;
      prepare(scenario, job, [&](const Flow& f, Job& j) { return allocate_memory(f, j); });
    }
    barrier.wait();
    // Who only shares memory comes second: its owner decides where the pages lie.
    for (const bool shares : {false, true}) {
      const auto each = [&](const PrepareStep& step) {
        for (Job& job : jobs) {
          const Flow& flow = scenario.flows[static_cast<std::size_t>(job.flow)];
          if (mine(job) && flow.shares.has_value() == shares) prepare(scenario, job, step);
        }
        barrier.wait();
      };
      each([&](const Flow& f, Job& j) { return make_ready(scenario, f, j, jobs); });
      each([&](const Flow& f, Job& j) { return attach(f, j, written); });
      each([&](const Flow& f, Job& j) {
        return observe(f, j, jobs, j.device == nullptr ? written : pinned);
      });
    }
    if (thread == 0) {
      std::vector<const Trace*> traces;
      for (const Job& job : jobs) traces.push_back(&job.trace);
      const bool made_anew =
          std::any_of(jobs.begin(), jobs.end(), [](const Job& job) { return !job.goes_on; });
      if (options_.when_prepared && made_anew) options_.when_prepared(traces);
      phase(scenario, "measuring");
      start = agree_on_start(scenario, jobs);
    }
    barrier.wait();
    find_widths(scenario, jobs, thread, start, barrier);
    if (start && scenario.stop.passes) {
      take_passes(scenario, jobs, thread, *start, barrier);
    } else {
      for (Job& job : jobs) {
        if (start && mine(job)) sample(scenario, job, *start);
      }
    }
    barrier.wait();
    for (Job& job : jobs) {
      if (mine(job) && start && job.device != nullptr) job.device->finish();
    }
    // Nobody looks at memory while a GPU still works on some.
    barrier.wait();
    for (Job& job : jobs) {
      if (!mine(job)) continue;
      if (start && job.device != nullptr) finish_device(scenario, job, after);
      // After a stop nobody waits for the end of a long check.
      if (!start || block_->stop.load(std::memory_order_acquire) != 0) continue;
      job.trace.counts = job.kernel->counts();
      if (scenario.checks) note_wrong(job);
      // Memory that stays is looked at when it goes.
      if (scenario.checks && !scenario.keep_memory) note_moved(job, after);
    }
    barrier.wait();
    for (Job& job : jobs) {
      if (!mine(job)) continue;
      const Flow& flow = scenario.flows[static_cast<std::size_t>(job.flow)];
      // Other ranks of the host could not count on the memory that this one keeps, unless they keep
      // theirs.
      if (start && (comm_.size() == 1 || scenario.keep_memory) && !job.trace.wrong &&
          job.device == nullptr && stands_alone(scenario, job.flow)) {
        kept = Kept{flow,
                    scenario.memory_number,
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
    }
    end.wait();
  });
  (void)bind_thread(callers_cpus);
  if (!ran) return ran;
  if (!start) return fail(start.error());
  if (scenario.stop.passes) {
    if (!pass_start_) return fail(pass_start_.error());
    return {};
  }
  if (!jobs.empty()) wait_for_windows();
  for (Job& job : jobs) note_overlap(scenario, job);
  return {};
}

/// Other programs may have taken memory since the plan was made: better refused than killed.
void RealEngine::check_room(const Scenario& scenario, std::vector<Job>& jobs) const {
  if (!machine_.is_live()) return;
  std::vector<Region> regions;
  std::size_t workers = 0;
  for (const Job& job : jobs) {
    const Flow& flow = scenario.flows[static_cast<std::size_t>(job.flow)];
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
  for (Job& job : jobs) job.error = fits.error();
}

void RealEngine::prepare(const Scenario& scenario, Job& job, const PrepareStep& step) {
  if (job.error) return;
  const Flow& flow = scenario.flows[static_cast<std::size_t>(job.flow)];
  const std::int64_t start = clock_.now_ns();
  try {
    if (auto done = step(flow, job); !done) job.error = done.error();
  } catch (const std::bad_alloc&) {
    job.error =
        Error{ErrorKind::resource, "no memory for the samples (operator new)",
              "raise the limit of address space (ulimit -v)", "", ", or use fewer --threads"};
  }
  job.trace.prepare_seconds += seconds(clock_.now_ns() - start);
}

/// By the thread that touches first.
Expected<void> RealEngine::allocate_memory(const Flow& flow, Job& job) {
  const WorkerPlacement& place = place_of(toucher_of(flow));
  if (place.cpu) {
    TRY(bind_thread({*place.cpu}));
  }
  const auto memory_for = [&](const Region& region) {
    return on_gpu(flow.kernel) ? allocate_for_gpu(region, flow.kernel.device) : allocate(region);
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
Expected<void> RealEngine::make_ready(const Scenario& scenario, const Flow& flow, Job& job,
                                      const std::vector<Job>& jobs) {
  const WorkerPlacement& place = place_of(flow.worker);
  if (place.cpu) {
    TRY(bind_thread({*place.cpu}));
  }
  const Job* owner = &job;
  if (flow.shares) {
    owner = &owner_of(flow, jobs);
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
  if (!scenario.stop.passes) {
    std::function<void(std::uint64_t)> ready;
    if (job.kernel->gets_ready())
      ready = [&kernel = *job.kernel](std::uint64_t steps) { kernel.ready(steps); };
    const std::uint64_t first_steps = ready ? 1 : job.kernel->steps_per_pass();
    job.sampler = std::make_unique<Sampler>(clock_, scenario.stop, paced(flow, *job.kernel, clock_),
                                            first_steps, workers_a_cpu_, std::move(ready));
  }
  job.trace.address = reinterpret_cast<std::uintptr_t>(memory.data);
  return {};
}

/// The flow's kernel, with its memory written.
Expected<std::unique_ptr<Kernel>> RealEngine::kernel_of(const Flow& flow, Job& job,
                                                        const KernelMemory& memory) {
  if (!on_gpu(flow.kernel)) {
    auto kernel = make_kernel(flow.kernel);
    if (!kernel) return fail(kernel.error());
    populate_base_pages(flow, memory);
    TRY((*kernel)->prepare(memory));
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
Expected<void> RealEngine::attach(const Flow& flow, Job& job, const ProcessMappings& mappings) {
  if (job.device == nullptr) return {};
  if (const Buffer* host = host_side(flow, job))
    job.trace.before_pinning = host->residency(mappings);
  return job.device->attach();
}

/// By the flow's own thread, when all GPUs are done.
void RealEngine::finish_device(const Scenario& scenario, Job& job,
                               const ProcessMappings& mappings) {
  const Flow& flow = scenario.flows[static_cast<std::size_t>(job.flow)];
  if (const Buffer* host = host_side(flow, job)) job.trace.after = host->residency(mappings);
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
Expected<void> RealEngine::observe(const Flow& flow, Job& job, const std::vector<Job>& jobs,
                                   const ProcessMappings& mappings) {
  if (flow.shares) {
    const Trace& owner = owner_of(flow, jobs).trace;
    job.trace.residency = owner.residency;
    // What is to be said of it is said once, of the owner.
    job.trace.policy.mechanism = owner.policy.mechanism;
    return {};
  }
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
  HostClocks clocks(comm);
  TRY(clocks.measure());
  std::size_t windows = 0;
  for (const Worker& worker : layout.workers) {
    windows += worker.host == layout.own_host(comm) ? 1 : 0;
  }
  // Whether the team can be had is found out before it matters that all ranks are in step.
  const auto mine = static_cast<int>(layout.workers_of(layout.own_rank(comm)).size());
  const auto team = run_team(mine, [](int) {});
  TRY(agree(comm, error_of(team)));
  const auto block = TRY(comm.shared_block(sizeof(HostBlock) + 2 * windows * sizeof(Window)));
  // Zeroed shared memory is a valid HostBlock: all counters at 0.
  return std::make_unique<RealEngine>(comm, layout, machine, options,
                                      static_cast<HostBlock*>(block), std::move(clocks));
}

}  // namespace numatlas
