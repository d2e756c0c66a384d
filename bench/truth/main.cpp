// Whether the intervals of results hold, on machines whose true speed is known.
//   bench_truth [--replicates 2000] [--only TEXT] [--wide]
// Each row runs a whole benchmark that many times on the null engine, with noise of another seed
// each time (noise.h), and counts how often the interval in the record encloses the truth. Exit
// code 1 when a row is outside its gate. --wide: gates for few replicates, for tests.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/terminal.h"
#include "benchmarks/parse.h"
#include "comparisons.h"
#include "fleets.h"
#include "gains.h"
#include "knees.h"
#include "moods.h"
#include "noise.h"
#include "races.h"
#include "record/labels.h"
#include "record/report.h"
#include "run/runner.h"

namespace numatlas::truth {
namespace {

using namespace std::chrono_literals;

using Words = std::vector<std::string>;

/// What must hold of a row.
enum class Gate {
  coverage,  ///< 93 to 97 % of the intervals, and of those that are called converged
  wrong,     ///< at most 5 % are called converged, name no two speeds, and miss the truth
};

struct Experiment {
  std::string name;
  NoiseSpec noise;
  std::string command;
  Words words;
  std::string figure;  ///< of the first flow, or the sum where it ends in _sum
  Gate gate = Gate::coverage;
  Words load = {};  ///< of loads on other memory: what is measured, and the node that is loaded
};

const Words one_reader = {"--cpus", "0", "--threads", "1", "--kernels", "read", "--size", "256MiB"};
const Words two_readers = {"--cpus",    "0,1",  "--threads", "2",
                           "--kernels", "read", "--size",    "256MiB"};
const Words one_chase = {"--cpus", "0", "--threads", "1", "--size", "256MiB"};

Words plus(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<Experiment> experiments() {
  // 50 ms each, one a second: other cases are visited meanwhile.
  const Words ten = {"--visits", "10", "--time", "500ms"};
  // The default: with the same memory where that is dear, and until it is known well enough.
  const Words together = {"--time", "500ms"};
  const auto reader = [](const Words& how) { return plus(one_reader, how); };
  const auto readers = [](const Words& how) { return plus(two_readers, how); };
  const auto chase = [](const Words& how) { return plus(one_chase, how); };
  std::vector<Experiment> all;
  for (const char* sd : {"1%", "5%", "20%"}) {
    const NoiseSpec noise{.samples = *parse_part(sd)};
    const std::string name = fmt::format("log-normal samples, {}", sd);
    all.push_back({name + ", read", noise, "bandwidth", reader(ten), "bandwidth"});
    all.push_back({name + ", sum of two", noise, "bandwidth", readers(ten), "bandwidth_sum"});
    all.push_back({name + ", 5 to 10 visits", noise, "bandwidth", reader(together), "bandwidth"});
  }
  for (const char* tau : {"1ms", "10ms", "100ms", "300ms"}) {
    const NoiseSpec noise{.ar1 = Ar1Noise{*parse_duration(tau), 0.05}};
    const std::string name = fmt::format("AR(1), tau {}", tau);
    all.push_back({name + ", read", noise, "bandwidth", reader(ten), "bandwidth"});
    all.push_back({name + ", sum of two", noise, "bandwidth", readers(ten), "bandwidth_sum"});
    all.push_back({name + ", latency", noise, "latency", chase(ten), "latency"});
  }
  const auto add_reader = [&](const std::string& name, const NoiseSpec& noise, const Words& how,
                              Gate gate) {
    all.push_back({name, noise, "bandwidth", reader(how), "bandwidth", gate});
  };
  add_reader("AR(1), tau 1ms, 5 to 10 visits", {.ar1 = Ar1Noise{1ms, 0.05}}, together,
             Gate::coverage);
  add_reader("AR(1), tau 100ms, 5 to 10 visits", {.ar1 = Ar1Noise{100ms, 0.05}}, together,
             Gate::wrong);
  add_reader("spikes of 1 ms, 100 a second", {.spikes = SpikeNoise{9ms, 1ms, 0.1}}, ten,
             Gate::coverage);
  add_reader("spikes of 5 ms, 10 a second", {.spikes = SpikeNoise{95ms, 5ms, 0.1}}, ten,
             Gate::coverage);
  all.push_back({"without a CPU for 4 ms, 5 a second, latency",
                 {.samples = 0.2, .spikes = SpikeNoise{196ms, 4ms, 0.001}},
                 "latency",
                 chase(ten),
                 "latency"});
  add_reader("two speeds, dwell 5 ms", {.telegraph = TelegraphNoise{0.6, 5ms}}, ten,
             Gate::coverage);
  for (const char* dwell : {"50ms", "300ms", "1s", "3s"})
    add_reader(fmt::format("two speeds, dwell {}", dwell),
               {.telegraph = TelegraphNoise{0.6, *parse_duration(dwell)}}, ten, Gate::wrong);
  add_reader("drift of 5 % over the run", {.drift = DriftNoise{0.05, 9s}}, ten, Gate::wrong);
  for (const char* measured : {"latency", "bandwidth"})
    for (const char* node : {"0", "1"})
      for (const char* tau : {"1ms", "100ms"})
        all.push_back({fmt::format("neighbour, {}, load on node {}, tau {}", measured, node, tau),
                       {.ar1 = Ar1Noise{*parse_duration(tau), 0.05}},
                       "loaded",
                       plus({"--pairs", "0:0", "--load-memory", "0,1"}, ten),
                       "neighbour_slowdown",
                       Gate::coverage,
                       {measured, node}});
  for (Experiment& one : all)
    if (std::ranges::find(one.words, "--visits") != one.words.end()) one.noise.rest = 950ms;
  return all;
}

struct Outcome {
  Estimate estimate;
  bool converged = false, modes = false;  ///< two speeds were named
  double seconds = 0;                     ///< from the first visit to the end of the last
};

/// One run; ends the program on errors, which are defects of it.
Outcome run_once(const Experiment& experiment, const NoiseSpec& noise) {
  const auto must = [&](const auto& expected) -> decltype(auto) {
    if (!expected) {
      fmt::print(stderr, "bench_truth: {}: {}\n", experiment.name, full_text(expected.error()));
      std::exit(70);
    }
    return *expected;
  };
  const bool loads = !experiment.load.empty();
  const Words words =
      plus(experiment.words,
           {"--machine", loads ? "numa:2(memory=17179869184) core:2 pu:1" : "numa:1 core:2 pu:1",
            "--engine", "null", "--quiet"});
  auto parsed = parse_run(experiment.command, words);
  must(parsed);
  parsed->options.noise = noise_of(noise);
  RunHooks hooks;
  hooks.table = [](const RunReport&) { return std::string(); };
  const auto comm = make_single_comm();
  const auto report = run_benchmark(parsed->benchmark, parsed->options, *comm, hooks);
  must(report);
  const auto found = std::ranges::find_if(report->cases, [&](const Case& one) {
    return !loads ||
           (label_of(one, "load") == "100%" &&
            Words{label_of(one, "measured"), label_of(one, "load_memory")} == experiment.load);
  });
  const Case result = found == report->cases.end() ? Case{} : *found;
  const Figure* const figure = loads || experiment.figure.ends_with("_sum")
                                   ? find_total(result, experiment.figure)
                                   : find_figure(result.flows.front(), experiment.figure);
  if (figure == nullptr || !figure->estimate) {
    fmt::print(stderr, "bench_truth: {}: no {}\n", experiment.name, experiment.figure);
    std::exit(70);
  }
  const bool modes = std::any_of(report->warnings.begin(), report->warnings.end(),
                                 [](const Warning& w) { return w.code == "two-speeds"; });
  return {*figure->estimate, result.flows.front().stop == "converged", modes,
          result.visits ? result.visits->seconds : 0};
}

bool is_time(const Experiment& experiment) { return experiment.command == "latency"; }

/// The speed that the figure should have found, 1 being full speed.
double true_speed(const Experiment& experiment, const NoiseSpec& noise, double seconds) {
  if (!experiment.load.empty()) return 1;  // both figures of the quotient have it
  SpeedOverTime speed(noise);
  if (noise.drift) return speed.mean_between(0, seconds * 1e9);
  // Blocks in which the thread was stopped are no part of a latency.
  if (is_time(experiment) && noise.spikes && noise.spikes->low < 0.01) return 1;
  return speed.expected();
}

/// Runs a row, prints it, and says whether its gate holds.
bool run(const Experiment& experiment, int replicates, bool wide) {
  const double full = run_once(experiment, {}).estimate.value;
  int held = 0, converged = 0, held_converged = 0, without = 0, modes = 0, missed = 0;
  std::vector<double> widths;
  NoiseSpec noise = experiment.noise;
  for (int seed = 1; seed <= replicates; ++seed) {
    noise.seed = static_cast<std::uint64_t>(seed);
    const Outcome outcome = run_once(experiment, noise);
    const double speed = true_speed(experiment, noise, outcome.seconds);
    const double truth = is_time(experiment) ? full / speed : full * speed;
    const Estimate& estimate = outcome.estimate;
    const bool holds = estimate.low && *estimate.low <= truth && truth <= *estimate.high;
    if (!estimate.low) ++without;
    held += holds;
    converged += outcome.converged;
    held_converged += outcome.converged && holds;
    modes += outcome.modes;
    missed += outcome.converged && !outcome.modes && !holds;
    if (const auto width = half_width(estimate)) widths.push_back(*width);
  }
  std::sort(widths.begin(), widths.end());
  const auto share = [&](int part, int all) { return static_cast<double>(part) / all; };
  const double covers = share(held, replicates - without);
  const double wrong = share(missed, replicates);
  // Of so few a share says little; and a quotient of two cases is not called converged.
  const bool enough = experiment.load.empty() && converged >= replicates / 20;
  const double covers_converged = enough ? share(held_converged, converged) : 0.95;
  const double slack = wide ? 0.05 : 0;
  const auto within = [&](double value) { return value >= 0.93 - slack && value <= 0.97 + slack; };
  const bool good = experiment.gate == Gate::wrong ? wrong <= 0.05 + slack
                                                   : within(covers) && within(covers_converged);
  fmt::print("{:<44} {:>6.1f} % {:>9} {:>6.1f} % {:>6.1f} % {:>7.1f} % {:>7.2f} %  {}\n",
             experiment.name, 100 * covers,
             enough ? fmt::format("{:.1f} %", 100 * covers_converged) : "-",
             100 * share(converged, replicates), 100 * share(modes, replicates), 100 * wrong,
             widths.empty() ? 0 : 100 * widths[widths.size() / 2], good ? "ok" : "OUTSIDE");
  std::fflush(stdout);
  return good;
}

}  // namespace
}  // namespace numatlas::truth

int main(int argc, char** argv) {
  using namespace numatlas::truth;
  CLI::App app("Whether intervals hold, on machines whose true speed is known.");
  int replicates = 2000;
  bool wide = false;
  std::string only;
  app.add_option("--replicates", replicates, "runs of each row")->check(CLI::Range(1, 1'000'000));
  app.add_option("--only", only, "only the rows whose name contains this");
  app.add_flag("--wide", wide, "gates 5 percentage points wider, for few replicates");
  CLI11_PARSE(app, argc, argv);
  fmt::print(
      "{} replicates; intervals that hold the truth: of all, and of those called converged\n"
      "{:<44} {:>8} {:>9} {:>8} {:>8} {:>9} {:>9}\n",
      replicates, "experiment", "holds", "if conv.", "conv.", "2 speeds", "wrong", "+- median");
  bool good = true, any = false;
  for (const Experiment& experiment : experiments()) {
    if (experiment.name.find(only) == std::string::npos) continue;
    any = true;
    good = run(experiment, replicates, wide) && good;
  }
  for (const char* others : {"compare", "moods", "fleet", "weights", "advise", "knee"})
    any =
        any || only.starts_with(others) || std::string_view(others).find(only) != std::string::npos;
  good = run_comparisons(only, replicates, wide) && good;
  good = run_moods(only, replicates, wide) && good;
  good = run_fleets(only, replicates, wide) && good;
  good = run_gains(only, replicates, wide) && good;
  good = run_knees(only, replicates, wide) && good;
  good = run_races(only, replicates, wide) && good;
  if (!any) {
    fmt::print(stderr, "bench_truth: no row's name contains '{}'\n", only);
    return 2;
  }
  return good ? 0 : 1;
}
