#include "advise/advise.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/program.h"
#include "base/signals.h"
#include "base/tree.h"
#include "base/units.h"
#include "machine/cpu_use.h"
#include "placement/kernel_calls.h"
#include "placement/policy.h"
#include "placement/weighted.h"

namespace numatlas {
namespace {

std::string weights_problem(const MemoryPlacement& memory) {
  if (!kernel_has_weighted_interleave())
    return "this kernel has no weighted interleave (Linux 6.9)";
  if (const auto differ = weights_differ(memory.nodes))
    return *differ + "; `numatlas weights` finds the best and prints how to set them";
  return "";
}

using Clock = std::chrono::steady_clock;

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

ProgramTraits traits_of(const Look& look) {
  ProgramTraits traits;
  // Of several processes those that wait for others keep no CPU busy.
  const int busy = static_cast<int>(std::lround(look.cpus_used()));
  if (look.threads > 0) traits.threads = std::max(look.threads, busy);
  traits.memory = look.peak_memory();
  traits.huge_share = look.huge_share();
  traits.openmp = look.openmp;
  traits.gpu = look.gpu;
  return traits;
}

/// Standard input is no file, so that it cannot be read anew by each run, and has something to
/// read.
bool has_input_that_is_lost() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0) return false;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) && poll(&input, 1, 0) > 0 &&
         (input.revents & POLLIN) != 0;
}

/// CPU time of the host; our own is also that of all programs that were run.
Expected<CpuTimes> host_times() {
  auto times = read_cpu_times(running_system(), {static_cast<int>(getpid())});
  rusage usage{};
  if (!times || getrusage(RUSAGE_CHILDREN, &usage) != 0) return times;
  for (const timeval& part : {usage.ru_utime, usage.ru_stime})
    times->own += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
  return times;
}

/// One advising from its first run to its last.
class Adviser {
 public:
  Adviser(const AdviseOptions& options, const Machine& machine)
      : options_(options), start_(Clock::now()), cpu_before_(host_times()) {
    advice_.machine = machine;
    advice_.program = options.program;
    advice_.metric = options.metric;
    advice_.arguments = options.arguments;
    advice_.started = now_in_utc();
    advice_.seed = options.seed;
    timeout_ = options.timeout;
  }

  Expected<Advice> run() {
    TRY(warm_up());
    if (!advice_.first_run_cut) TRY(look());
    if (!advice_.first_run_cut) warn_of_the_program();
    TRY(propose());
    observe_curve();
    race();
    load_.reset();
    prove();
    advice_.cpu_use = cpu_use_between(cpu_before_, host_times());
    if (is_disturbed(advice_.cpu_use))
      advice_.warnings.push_back(
          {"other-processes", "", disturbance_text(advice_.cpu_use) + " during the runs"});
    advice_.seconds = seconds();
    return std::move(advice_);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double seconds_left() const { return options_.seconds - seconds(); }

  /// Whether the time for all runs is over, which ended this one.
  bool is_cut(const ProgramRun& run) const {
    return run.ending == Ending::timeout && !options_.runs && seconds_left() <= 0;
  }

  void tell(const std::string& line) const {
    if (options_.told) options_.told(line);
  }

  /// Of a program that reads nothing and is a process group of its own.
  static ProgramRequest request_for(std::vector<std::string> words) {
    ProgramRequest request{std::move(words)};
    request.input = "/dev/null";
    request.output = ProgramOutput::errors_kept;
    request.own_group = true;
    request.grace = std::chrono::seconds(2);
    return request;
  }

  ProgramRequest request_for(const Candidate& candidate) const {
    ProgramRequest request = request_for(options_.program);
    request.prepare = [layout = candidate.layout] { return put_in_force(layout); };
    if (!options_.input.empty()) request.input = options_.input;
    if (options_.show_output) request.output = ProgramOutput::shown;
    if (!options_.metric.is_time()) request.output = ProgramOutput::kept;
    request.timeout = timeout_;
    if (!options_.runs) {
      const double left = std::max(seconds_left(), 0.0);
      request.timeout = std::min(timeout_.value_or(left), left);
    }
    return request;
  }

  Expected<void> prepare() const {
    if (options_.prepare.empty()) return {};
    ProgramRequest request = request_for({"sh", "-c", options_.prepare});
    request.timeout = options_.timeout;
    if (!options_.runs) {
      constexpr double at_least = 1;
      request.timeout =
          std::min(request.timeout.value_or(options_.seconds), std::max(seconds_left(), at_least));
    }
    const auto run = run_program(request);
    if (!run) return fail(about("--prepare", run.error()));
    if (run->good()) return {};
    const bool stopped = run->ending == Ending::interrupted;
    return fail_about(stopped ? ErrorKind::interrupted : ErrorKind::usage, "--prepare",
                      fmt::format("'{}' {}", options_.prepare, failure_text(*run)));
  }

  /// A run that goes wrong here goes wrong in all others.
  Error bad_program(const ProgramRun& run) const {
    const bool stopped = run.ending == Ending::interrupted;
    return {stopped ? ErrorKind::interrupted : ErrorKind::usage, failure_text(run),
            stopped ? "" : "run it alone; it may need --timeout or --input",
            options_.program.front()};
  }

  Expected<void> warm_up() {
    for (std::size_t i = 0; i < options_.warmup; ++i) {
      tell(fmt::format("warm-up {} of {}", i + 1, options_.warmup));
      TRY(prepare());
      const auto run = run_program(request_for(Candidate{}));
      if (!run) return fail(run.error());
      advice_.first_run_cut = is_cut(*run);
      if (advice_.first_run_cut) return {};
      if (!run->good()) return fail(bad_program(*run));
    }
    return {};
  }

  Expected<void> look() {
    tell("observing the program as it is");
    const double before = seconds();
    TRY(prepare());
    auto look = look_at(request_for(Candidate{}), thread_affinity(), advice_.machine);
    if (!look) return fail(look.error());
    advice_.first_run_cut = is_cut(look->run);
    if (advice_.first_run_cut) return {};
    if (!look->run.good()) return fail(bad_program(look->run));
    if (!options_.metric.is_time()) {
      const auto value = options_.metric.find_in(look->run.output);
      if (!value)
        return fail_usage("--metric", fmt::format("the program {}", value.error().message),
                          "its standard output and standard error are searched, line by line");
    }
    advice_.look = *std::move(look);
    run_seconds_ = seconds() - before;
    if (!timeout_) {
      constexpr double many_times = 10, at_least = 10;
      timeout_ = many_times * advice_.look.run.seconds + at_least;
    }
    return {};
  }

  void warn_of_the_program() {
    constexpr double short_run = 0.05;
    if (options_.metric.is_time() && advice_.look.run.seconds < short_run)
      advice_.warnings.push_back(
          {"short-run", "",
           fmt::format(
               "a run takes only {:.2g} ms, and starting the program is a large part of it: "
               "a longer run, or a --metric, says more",
               1e3 * advice_.look.run.seconds)});
    if (options_.input.empty() && has_input_that_is_lost())
      advice_.warnings.push_back(
          {"input", "",
           "standard input is not a file and cannot be read anew for each run, so the program "
           "reads nothing: use --input FILE"});
  }

  Expected<void> propose() {
    if (options_.curve && !advice_.first_run_cut) {
      advice_.curve = TRY(plan_curve(advice_.machine, &advice_.look));
      Curve& curve = *advice_.curve;
      advice_.candidates = curve_candidates(curve, advice_.machine, traits_of(advice_.look),
                                            advice_.machine.is_live() ? weights_problem : nullptr);
      curve.windows.resize(advice_.candidates.size());
      curve.observed.resize(advice_.candidates.size());
      auto started = start_load(curve.load, advice_.machine);
      if (!started) return fail(renamed(started.error(), "size", "--curve"));
      load_ = *std::move(started);
      const LoadWindow peak = peak_of(*load_);
      curve.peak = peak.rate();
      tell(fmt::format("the load: {}: {}", curve.load.text(),
                       peak_text(peak, curve.load.workers.size())));
      if (const auto lack = lack_of_peak(peak, curve.load.workers.size()); !lack.empty())
        advice_.warnings.push_back({"peak", "", "the load's peak was measured while " + lack});
    } else if (options_.curve) {
      advice_.candidates = TRY(curve_for(advice_.machine));
    } else {
      advice_.candidates = candidates_for(options_, advice_.machine, traits_of(advice_.look));
    }
    const auto is_tried = [](const Candidate& one) { return one.not_tried.empty(); };
    auto& all = advice_.candidates;
    advice_.tried = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_tried));
    leave_out_for_time();
    return {};
  }

  /// Where its pages are, once of each part of them that is asked for; and without a load.
  void observe_curve() {
    for (std::size_t i = 0; advice_.curve && i < advice_.tried; ++i) {
      const Candidate& one = advice_.candidates[i];
      if (one.curve->load > 0 || stop_requested()) continue;
      tell("observing it: " + one.name);
      if (!prepare()) return;
      auto look = look_at(request_for(one), *one.layout.cpus, advice_.machine);
      if (!look || !look->run.good()) continue;
      advice_.curve->observed[i] = *std::move(look);
      const Look& seen = *advice_.curve->observed[i];
      const auto chosen = own_cpus_warning(*advice_.curve, seen);
      if (chosen && i == 0) advice_.warnings.push_back(*chosen);
      if (seen.fullest() == nullptr || !has_own_memory(*seen.fullest())) continue;
      const bool is_far = one.curve->far > 0;
      const NodeId node = is_far ? *advice_.curve->far : advice_.curve->near;
      const auto shares = seen.node_shares();
      const auto found = shares.find(node.value);
      const double share = found == shares.end() ? 0 : found->second;
      constexpr double near_enough = 0.1;  // files that were in memory before
      if (std::abs(share - (is_far ? one.curve->far : 1)) > near_enough)
        advice_.warnings.push_back(
            {"placement", one.name,
             fmt::format("{:.0f} % of its memory was on node {}", 100 * share, node.value)});
    }
  }

  /// Beside a run of this candidate, and without one.
  void hold(std::size_t index) {
    const CurvePoint& point = *advice_.candidates[index].curve;
    constexpr double settling = 0.05;
    load_->hold(point.load * advice_.curve->peak);
    if (point.load > 0) load_->wait(settling);
    load_->look(settling);
  }
  void release(std::size_t index, bool counts) {
    const LoadWindow window = load_->look(0);
    load_->hold(0);
    if (counts) advice_.curve->windows[index] += window;
  }

  /// Runs that so many candidates, "as it is" among them, take at least.
  double least_runs(std::size_t candidates) const {
    if (candidates < 2) return 0;
    if (options_.curve) return static_cast<double>(candidates * (rule().least_final + 1));
    const std::size_t finalists = std::min(candidates, rule().most_finalists + 1);
    const std::size_t screening = candidates > 2 ? candidates * rule().least_rounds : 0;
    return static_cast<double>(screening + finalists * rule().least_final);
  }

  /// Time that the best one is then observed in.
  double race_seconds_left() const { return seconds_left() - run_seconds_; }

  void leave_out_for_time() {
    if (options_.runs) return;
    const auto needed = [&] { return least_runs(advice_.tried) * run_seconds_; };
    while (advice_.tried > 1 && (advice_.first_run_cut || needed() > race_seconds_left())) {
      const double all = seconds() + run_seconds_ + needed();
      advice_.lacks_time = true;
      --advice_.tried;
      advice_.candidates[advice_.tried].not_tried =
          advice_.first_run_cut
              ? "not enough time"
              : fmt::format("not enough time: it takes --time {:.0f}s", std::ceil(all * 1.1));
    }
  }

  RaceRule rule() const {
    RaceRule rule;
    rule.least_gain = options_.metric.higher() ? std::log(1 + options_.min_effect)
                                               : -std::log(1 - options_.min_effect);
    if (options_.curve) {  // none is dropped
      rule.most_finalists = advice_.candidates.size();
      rule.least_rounds = rule.most_rounds = 0;
      rule.least_gain = 0;
      if (options_.runs) rule.least_final = rule.most_final = *options_.runs;
      return rule;
    }
    if (!options_.runs) return rule;
    rule.least_rounds = std::min(rule.least_rounds, *options_.runs);
    rule.most_rounds = *options_.runs;
    rule.least_final = rule.most_final = *options_.runs;
    return rule;
  }

  RunValue run_once(std::size_t index) {
    constexpr int most_attempts = 3;
    for (int attempt = 1;; ++attempt) {
      if (stop_requested()) return {std::nullopt, "", true};
      if (const auto prepared = prepare(); !prepared) {
        // It fails for all candidates alike.
        if (!stop_requested()) advice_.prepare_failure = full_text(prepared.error());
        return {std::nullopt, "", true};
      }
      if (load_) hold(index);
      const auto run = run_program(request_for(advice_.candidates[index]));
      if (load_) release(index, run && run->good() && !run->suspended);
      if (!run) return {std::nullopt, "cannot be run: " + full_text(run.error()), stop_requested()};
      if (run->ending == Ending::interrupted) return {std::nullopt, "", true};
      if (is_cut(*run)) return {std::nullopt, "", false, true};
      if (run->suspended && attempt < most_attempts) continue;
      return value_of(*run);
    }
  }

  RunValue value_of(const ProgramRun& run) const {
    if (run.suspended) return {std::nullopt, "was suspended in each attempt", false};
    if (!run.good()) return {std::nullopt, failure_text(run), false};
    if (options_.metric.is_time()) return {run.seconds, "", false};
    const auto value = options_.metric.find_in(run.output);
    if (!value) return {std::nullopt, value.error().message, false};
    return {options_.metric.cost_of(*value), "", false};
  }

  void race() {
    Race race(advice_.tried, rule(), options_.seed);
    RaceWork work;
    work.run = [&](std::size_t index) { return run_once(index); };
    if (!options_.runs) work.seconds_left = [&] { return race_seconds_left(); };
    if (options_.progress)
      work.progress = [&](const RaceProgress& progress, const RaceResult& so_far) {
        options_.progress(progress, so_far, advice_.candidates, options_.metric);
      };
    advice_.race = race.run(work);
    if (advice_.curve) advice_.race.best = std::nullopt;
  }

  /// What was asked for is not what the system did: seen once, in a run that counts for nothing.
  void prove() {
    if (!advice_.best() || stop_requested()) return;
    if (!options_.runs && seconds_left() <= 0) return;
    tell("observing the best one");
    if (!prepare()) return;
    auto look = look_at(request_for(*advice_.best()),
                        advice_.best()->layout.cpus.value_or(thread_affinity()), advice_.machine);
    if (!look || !look->run.good()) return;
    advice_.proof = *std::move(look);
    check_nodes();
    const auto pages = advice_.best()->layout.pages;
    constexpr double least_share = 0.05;
    const bool huge = pages && *pages != PageKind::base;
    if (huge && advice_.proof->huge_share().value_or(1) < least_share)
      advice_.warnings.push_back(
          {"placement", advice_.best()->name,
           "hardly any of its memory was in huge pages, so the gain has another cause"});
  }

  /// Whether its memory lies on the nodes that it is bound to.
  void check_nodes() {
    const auto& memory = advice_.best()->layout.memory;
    if (!memory || memory->mode != MemoryMode::bind || advice_.proof->fullest() == nullptr) return;
    double on_them = 0;
    for (const auto& [node, share] : advice_.proof->node_shares())
      if (memory->node_set().contains(NodeId{node})) on_them += share;
    constexpr double most = 0.9;  // the rest: files that were in memory before
    if (on_them < most)
      advice_.warnings.push_back(
          {"placement", advice_.best()->name,
           fmt::format("only {:.0f} % of its memory was on the nodes that it is bound to",
                       100 * on_them)});
  }

  const AdviseOptions& options_;
  Clock::time_point start_;
  Expected<CpuTimes> cpu_before_;
  Advice advice_;
  std::unique_ptr<HeldLoad> load_;  ///< of a curve
  std::optional<double> timeout_;
  double run_seconds_ = 0;
};

}  // namespace

std::vector<Candidate> candidates_for(const AdviseOptions& options, const Machine& machine,
                                      const ProgramTraits& traits) {
  const Atlas* atlas = options.atlas ? &*options.atlas : nullptr;
  ProposalInput input{machine, traits, atlas, options.axes, false, {}};
  if (machine.is_live()) {
    input.weights_problem = weights_problem;
    input.kernel_weight = kernel::system_weight;
    input.has_policy = inherited_policy().has_value();
  }
  return propose(input);
}

Expected<std::vector<Candidate>> curve_for(const Machine& machine) {
  const Curve curve = TRY(plan_curve(machine, nullptr));
  return curve_candidates(curve, machine, {}, machine.is_live() ? weights_problem : nullptr);
}

Expected<Advice> advise(const AdviseOptions& options, const Machine& machine) {
  return Adviser(options, machine).run();
}

}  // namespace numatlas
