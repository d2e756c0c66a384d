#include "load/held_load.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <latch>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/signals.h"
#include "base/statistics.h"
#include "base/text.h"
#include "comm/comm.h"
#include "engine/agreement.h"
#include "engine/clock.h"
#include "engine/simulated/null_engine.h"
#include "kernels/kernel.h"
#include "load/bursts.h"
#include "memory/buffer.h"
#include "placement/policy.h"
#include "record/unit.h"
#include "run/flows.h"
#include "run/levels.h"

namespace numatlas {
namespace {

/// What a thread moves without a look at the clock, at most: some 100 us of work. Less of it at a
/// time is more even, but waking up takes up to 40 us of CPU time on a virtual machine.
constexpr double burst_bytes = 1 * mib;
/// Of a low rate a burst is less: so many a second make it even.
constexpr double least_bursts = 250;
/// Shorter pauses are spent looking at the clock: waking up takes as long.
constexpr std::int64_t shortest_sleep_ns = 50'000;
/// Between two looks at whether it is to end, or to go on at another rate.
constexpr std::int64_t longest_sleep_ns = 20'000'000;

constexpr double in_seconds = 1e-9;

/// What one thread says of itself, each in a line of its own.
struct alignas(64) Counters {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::int64_t> asleep_ns{0};
};

/// Only the owning thread writes it.
template <class T>
void add(std::atomic<T>& counter, T more) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// Without a last stretch that is spun, as an engine's clock has it: it would be no sleep.
void sleep_until(std::int64_t time_ns) {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec wake{static_cast<time_t>(time_ns / second), static_cast<long>(time_ns % second)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
}

class RealLoad final : public HeldLoad {
 public:
  explicit RealLoad(const LoadRequest& request)
      : request_(request),
        jobs_(request.workers.size()),
        ready_(static_cast<std::ptrdiff_t>(jobs_.size())) {
    step_bytes_ = traffic_per_step(request_.kernel).counted();
  }
  RealLoad(const RealLoad&) = delete;
  RealLoad& operator=(const RealLoad&) = delete;
  ~RealLoad() override { end(); }

  Expected<void> start() {
    // Signals are for the thread that waits.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::size_t started = 0;
    std::optional<Error> problem;
    for (; started < jobs_.size() && !problem; ++started) {
      Job& job = jobs_[started];
      const WorkerPlacement& place = request_.workers[started];
      try {
        job.thread = std::thread([this, &job, &place] {
          job.error = error_of(prepare(job, place));
          ready_.count_down();
          if (!job.error) work(job);
        });
      } catch (const std::system_error& thrown) {
        problem = Error{ErrorKind::resource,
                        fmt::format("{} of {} threads of the load started: {}", started,
                                    jobs_.size(), thrown.what()),
                        "give it fewer --cpus"};
        ready_.count_down(static_cast<std::ptrdiff_t>(jobs_.size() - started));
      }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ready_.wait();
    for (const Job& job : jobs_)
      if (!problem) problem = job.error;
    if (problem) return fail(*problem);
    last_ = totals();
    return {};
  }

  void hold(std::optional<double> rate) override {
    const double burst = std::min(burst_bytes, rate.value_or(HUGE_VAL) / least_bursts);
    const auto steps = static_cast<std::uint64_t>(burst / static_cast<double>(step_bytes_));
    steps_.store(std::max<std::uint64_t>(1, steps));
    bursts_.hold(rate, static_cast<double>(steps_.load() * step_bytes_));
    changes_.fetch_add(1);
  }

  LoadWindow look(double) override {
    const Totals now = totals();
    const double threads = static_cast<double>(jobs_.size());
    LoadWindow window;
    window.seconds = static_cast<double>(now.time_ns - last_.time_ns) * in_seconds;
    window.bytes = static_cast<double>(now.bytes - last_.bytes);
    window.cpu = static_cast<double>(now.cpu_ns - last_.cpu_ns) * in_seconds;
    const double asleep = static_cast<double>(now.asleep_ns - last_.asleep_ns) * in_seconds;
    window.taken = std::max(0.0, threads * window.seconds - asleep - window.cpu);
    last_ = now;
    return window;
  }

  void wait(double seconds) override {
    constexpr std::int64_t look_every_ns = 50'000'000;
    const std::int64_t until = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
    for (std::int64_t now = monotonic_ns(); now < until && !stop_requested(); now = monotonic_ns())
      sleep_until(std::min(until, now + look_every_ns));
  }

  std::vector<Residency> residencies() override {
    const ProcessMappings mappings;
    std::vector<Residency> all;
    for (const Job& job : jobs_) all.push_back(job.buffer->residency(mappings));
    return all;
  }
  std::vector<PolicyOutcome> policies() override {
    std::vector<PolicyOutcome> all;
    for (const Job& job : jobs_) all.push_back(job.buffer->policy());
    return all;
  }

  Expected<void> finish() override {
    end();
    for (const Job& job : jobs_) TRY(job.kernel->verify());
    return {};
  }

 private:
  struct Job {
    std::thread thread;
    std::unique_ptr<Buffer> buffer;
    std::unique_ptr<Kernel> kernel;
    Counters counters;
    std::optional<Error> error;
  };
  struct Totals {
    std::int64_t time_ns = 0, asleep_ns = 0, cpu_ns = 0;
    std::uint64_t bytes = 0;
  };

  Expected<void> prepare(Job& job, const WorkerPlacement& place) const {
    TRY(bind_thread(place.cpu ? CpuSet{*place.cpu} : place.cpus));
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    job.buffer = TRY(allocate(request_.region_of(place)));
    // Else each page would be copied that is written while a program starts.
    madvise(job.buffer->data(), job.buffer->bytes(), MADV_DONTFORK);
    job.kernel = make_kernel(request_.kernel);
    return job.kernel->prepare({job.buffer->data(), request_.size.value});
  }

  void work(Job& job) {
    while (!ending_.load(std::memory_order_relaxed)) {
      if (pause(job.counters)) continue;
      const std::uint64_t steps = steps_.load(std::memory_order_relaxed);
      job.kernel->run(steps);
      add(job.counters.bytes, steps * step_bytes_);
    }
  }

  /// Until a burst is due; whether there is none after all.
  bool pause(Counters& counters) {
    const std::uint64_t changes = changes_.load();
    const auto taken = bursts_.take();
    std::int64_t now = monotonic_ns();
    while (!taken || now < *taken) {
      if (ending_.load(std::memory_order_relaxed) || changes != changes_.load()) return true;
      const std::int64_t until =
          std::min(taken.value_or(now + longest_sleep_ns), now + longest_sleep_ns);
      const bool sleeps = until - now > shortest_sleep_ns;
      if (sleeps) sleep_until(until);
      const std::int64_t after = monotonic_ns();
      // Who wakes up late had no CPU.
      if (sleeps) add(counters.asleep_ns, std::min(after, until) - now);
      now = after;
    }
    return false;
  }

  Totals totals() const {
    Totals all;
    for (const Job& job : jobs_) {
      all.bytes += job.counters.bytes.load(std::memory_order_relaxed);
      all.asleep_ns += job.counters.asleep_ns.load(std::memory_order_relaxed);
      clockid_t clock{};
      timespec time{};
      auto& thread = const_cast<std::thread&>(job.thread);
      if (thread.joinable() && pthread_getcpuclockid(thread.native_handle(), &clock) == 0 &&
          clock_gettime(clock, &time) == 0)
        all.cpu_ns += std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }
    all.time_ns = monotonic_ns();
    return all;
  }

  void end() {
    ending_.store(true);
    for (Job& job : jobs_)
      if (job.thread.joinable()) job.thread.join();
  }

  LoadRequest request_;
  std::uint64_t step_bytes_ = 0;
  std::atomic<std::uint64_t> steps_{1};  ///< of a burst
  MonotonicClock clock_;
  Bursts bursts_{clock_};
  std::atomic<std::uint64_t> changes_{0};
  std::atomic<bool> ending_{false};
  std::vector<Job> jobs_;
  std::latch ready_;  ///< all memory is there
  Totals last_;
};

Layout layout_of(const LoadRequest& request, const Machine& machine) {
  Layout layout;
  layout.hosts = {machine.host};
  for (const WorkerPlacement& place : request.workers) layout.workers.push_back({0, 0, place});
  return layout;
}

/// A flow for each thread.
Scenario scenario_of(const LoadRequest& request) {
  Scenario scenario;
  scenario.name = "load";
  for (const WorkerPlacement& place : request.workers) {
    Flow& flow = scenario.flows.emplace_back();
    flow.worker = static_cast<int>(scenario.flows.size() - 1);
    flow.kernel = request.kernel;
    flow.region = request.region_of(place);
  }
  return scenario;
}

class SimulatedLoad final : public HeldLoad {
 public:
  SimulatedLoad(const LoadRequest& request, const Machine& machine) : request_(request) {
    layout_ = layout_of(request, machine);
    engine_ = make_null_engine(*comm_, layout_, machine, {});
  }

  Expected<void> start() {
    traces_ = TRY(engine_->run(scenario({})));
    return {};
  }

  void hold(std::optional<double> rate) override { rate_ = rate; }

  LoadWindow look(double seconds) override {
    LoadWindow window;
    window.seconds = seconds;
    if (rate_ && *rate_ <= 0) return window;
    const auto traces = engine_->run(scenario(rate_));
    if (!traces) return window;
    window.bytes = rate_of(*traces) * seconds;
    const auto threads = static_cast<double>(request_.workers.size());
    window.cpu = threads * seconds * std::min(1.0, rate_of(*traces) / rate_of(traces_));
    return window;
  }

  void wait(double) override {}
  std::vector<Residency> residencies() override {
    std::vector<Residency> all;
    for (const Trace& trace : traces_) all.push_back(trace.residency);
    return all;
  }
  std::vector<PolicyOutcome> policies() override {
    std::vector<PolicyOutcome> all;
    for (const Trace& trace : traces_) all.push_back(trace.policy);
    return all;
  }
  Expected<void> finish() override { return {}; }

 private:
  double rate_of(const std::vector<Trace>& traces) const {
    const auto bytes = static_cast<double>(traffic_per_step(request_.kernel).counted());
    double rate = 0;
    for (const Trace& trace : traces)
      if (const auto steps = summarize(nanoseconds_per_step(trace)))
        rate += bytes / (steps->mean * in_seconds);
    return rate;
  }

  Scenario scenario(std::optional<double> rate) const {
    Scenario scenario = scenario_of(request_);
    scenario.stop.time = std::chrono::milliseconds(10);
    for (Flow& flow : scenario.flows)
      if (rate) flow.rate = *rate / static_cast<double>(request_.workers.size());
    return scenario;
  }

  const LoadRequest& request_;
  std::unique_ptr<Comm> comm_ = make_single_comm();
  Layout layout_;
  std::unique_ptr<Engine> engine_;
  std::vector<Trace> traces_;  ///< without pauses
  std::optional<double> rate_ = 0;
};

/// The node of CPUs that is nearest to one of memory.
NodeId nearest_cpus(const Machine& machine, NodeId memory) {
  const NodeSet with_cpus = machine.nodes_of(machine.usable_cpus());
  return with_cpus.empty() ? memory : nearest_to(machine, with_cpus, memory);
}

/// `all`: seconds of all threads.
std::string taken_text(const LoadWindow& window, double all) {
  return fmt::format("its CPUs were taken away for {:.2f} of {:.2f} s", window.taken, all);
}

}  // namespace

CpuSet LoadRequest::cpus() const {
  CpuSet all;
  for (const WorkerPlacement& place : workers) all = all | place.cpus;
  return all;
}

Region LoadRequest::region_of(const WorkerPlacement& worker) const {
  Region region{size, worker.memory, pages};
  region.local_node = worker.cpu_node;
  return region;
}

std::vector<std::string> LoadRequest::levels(const Machine& machine) const {
  const Layout layout = layout_of(*this, machine);
  const Scenario scenario = scenario_of(*this);
  std::vector<std::string> levels;
  for (const Flow& flow : scenario.flows)
    levels.push_back(level_of_flow(machine, layout, scenario, flow));
  return levels;
}

std::string LoadRequest::text() const {
  return fmt::format("{} by {}, {} each on {}", full_name(kernel), cpus_text(cpus()), to_text(size),
                     workers.front().memory.text());
}

std::string cpus_text(const CpuSet& cpus) {
  return (cpus.size() == 1 ? "CPU " : "CPUs ") + to_list(cpus);
}

LoadWindow& LoadWindow::operator+=(const LoadWindow& more) {
  seconds += more.seconds;
  bytes += more.bytes;
  taken += more.taken;
  cpu += more.cpu;
  return *this;
}

std::string shortfall_text(const LoadWindow& window, double asked, std::size_t threads) {
  const double lack = asked > 0 ? 1 - window.rate() / asked : 0;
  if (lack <= held_within) return "";
  const double all = window.seconds * static_cast<double>(threads);
  const std::string text = fmt::format("{:.0f} % short: ", 100 * lack);
  // Without these CPUs for a quarter of what lacks, others are no more than a part of the reason.
  if (window.taken > 0.5 * lack * all) return text + taken_text(window, all);
  const std::string who = threads == 1 ? "its CPU runs" : fmt::format("its {} CPUs run", threads);
  return text + who + " without a pause: the memory is full, or they can do no more";
}

Expected<std::unique_ptr<HeldLoad>> start_load(const LoadRequest& request, const Machine& machine) {
  std::vector<Region> regions;
  for (const WorkerPlacement& place : request.workers) regions.push_back(request.region_of(place));
  TRY(check_fits(regions, machine));
  auto load = std::make_unique<RealLoad>(request);
  TRY(load->start());
  return std::unique_ptr<HeldLoad>(std::move(load));
}

Expected<std::unique_ptr<HeldLoad>> simulate_load(const LoadRequest& request,
                                                  const Machine& machine) {
  auto load = std::make_unique<SimulatedLoad>(request, machine);
  TRY(load->start());
  return std::unique_ptr<HeldLoad>(std::move(load));
}

LoadWindow peak_of(HeldLoad& load) {
  constexpr double settling = 0.1, measured = 1;
  load.hold(std::nullopt);
  load.wait(settling);
  load.look(settling);
  load.wait(measured);
  const LoadWindow peak = load.look(measured);
  load.hold(0);
  return peak;
}

std::string lack_of_peak(const LoadWindow& peak, std::size_t threads) {
  const double all = peak.seconds * static_cast<double>(threads);
  constexpr double little = 0.1;
  return peak.taken <= little * all ? "" : taken_text(peak, all);
}

std::string peak_text(const LoadWindow& peak, std::size_t threads) {
  const std::string lack = lack_of_peak(peak, threads);
  return quantity_text(peak.rate(), "B/s") + " without pauses" +
         (lack.empty() ? "" : " (" + lack + ")");
}

CpuSet one_cpu_per_core(const Machine& machine, const CpuSet& cpus) {
  CpuSet firsts;
  std::set<int> cores;
  for (const CpuId id : cpus) {
    if (cores.insert(machine.core_or_own(id)).second) firsts.insert(id);
  }
  return firsts;
}

Expected<LoadCpus> usual_load_cpus(const Machine& machine, const NodeSet& memory, bool beside) {
  const CpuSet usable = machine.usable_cpus();
  CpuSet near = usable;
  if (!memory.empty()) near = machine.own_cpus(nearest_cpus(machine, memory.front())) & usable;
  if (near.empty()) near = usable;
  const CpuSet cores = one_cpu_per_core(machine, near);
  const std::vector<CpuId> firsts(cores.begin(), cores.end());
  LoadCpus cpus;
  for (std::size_t i = beside && firsts.size() > 1 ? 1 : 0; i < firsts.size(); i += beside ? 2 : 1)
    cpus.load.insert(firsts[i]);
  cpus.program = usable - cpus.load;
  CpuSet apart = cpus.program;  // without second threads of the load's cores
  for (const CpuId id : cpus.program)
    for (const CpuId other : cpus.load)
      if (machine.core_or_own(id) == machine.core_or_own(other)) apart = apart - CpuSet{id};
  if (!apart.empty()) cpus.program = apart;
  if (beside && cpus.program.empty())
    return fail_about(ErrorKind::unavailable, "--cpus",
                      fmt::format("a load needs a CPU beside the program's, and this process may "
                                  "use {} only",
                                  count_text(usable.size(), "CPU")));
  return cpus;
}

}  // namespace numatlas
