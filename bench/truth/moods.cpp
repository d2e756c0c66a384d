#include "moods.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/sides.h"
#include "comparisons.h"
#include "run/pilots.h"

namespace numatlas::truth {
namespace {

/// Bandwidths of reads and copies of a real machine, each 60 ms, one after the other.
struct Recording {
  std::vector<double> at, read, copy;  ///< seconds, GB/s
};

Recording recorded() {
  Recording recording;
  std::ifstream file(NUMATLAS_MOODS);
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    double at = 0, read = 0, copy = 0;
    if (std::sscanf(line.c_str(), "%lf,%lf,%lf", &at, &read, &copy) != 3) break;
    recording.at.push_back(at);
    recording.read.push_back(read);
    recording.copy.push_back(copy);
  }
  if (recording.at.empty()) {
    fmt::print(stderr, "bench_truth: no recording in {}\n", NUMATLAS_MOODS);
    std::exit(70);
  }
  return recording;
}

/// How a run goes through the recording.
struct Timing {
  std::string name;
  int visits = 0;
  double seconds = 0;  ///< from the first visit to the last
};

class Replay {
 public:
  Replay() : recording_(recorded()), random_(1) {}

  /// The figure of copies of a run that begins at a random time, with the reads before and after
  /// each visit as its pilots.
  Row run(const Timing& timing, bool pilots) {
    const double last = recording_.at[recording_.at.size() - 2];
    const double begin = std::uniform_real_distribution<>(0, last - timing.seconds)(random_);
    std::vector<double> values;
    Case result;
    result.visits.emplace();
    PilotSeries pilot;
    pilot.unit = "B/s";
    std::vector<std::pair<double, double>> times;
    for (int i = 0; i < timing.visits; ++i) {
      const std::size_t at = index_at(begin + timing.seconds * i / std::max(1, timing.visits - 1));
      values.push_back(recording_.copy[at]);
      times.emplace_back(3 * i + 1, 3 * i + 2);
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        pilot.values.push_back(recording_.read[at + side]);
        pilot.start.push_back(3 * i + 2.0 * static_cast<double>(side));
        pilot.end.push_back(pilot.start.back() + (side == 0 ? 1 : 0.5));
      }
    }
    result.visits->figures.push_back({"bandwidth_sum", "B/s", values, 0});
    relate_to_pilots(result, times, {pilot});
    Row figure = row_of_visits(values, "B/s");
    if (pilots) figure.relative = result.visits->figures.front().relative;
    return figure;
  }

  /// Both sides in turn, five times each, in the order A B B A A B ...
  std::pair<Row, Row> in_turn() {
    constexpr std::size_t pairs = 5;
    const std::size_t first = std::uniform_int_distribution<std::size_t>(
        0, recording_.at.size() - 2 * pairs - 1)(random_);
    std::vector<Row> base, now;
    for (std::size_t i = 0; i < 2 * pairs; ++i) {
      Row one;
      one.unit = "B/s";
      one.estimate = recording_.copy[first + i];
      ((i + 1) / 2 % 2 == 0 ? base : now).push_back(one);
    }
    return {row_of_launches(base), row_of_launches(now)};
  }

 private:
  std::size_t index_at(double second) const {
    const auto found = std::lower_bound(recording_.at.begin(), recording_.at.end() - 2, second);
    return static_cast<std::size_t>(found - recording_.at.begin());
  }

  Recording recording_;
  std::mt19937_64 random_;
};

bool differs(const Row& base, const Row& now, const CompareRule& rule) {
  Change change = change_between(base, now, rule);
  judge({&change}, rule);
  return change.verdict == CaseVerdict::slower || change.verdict == CaseVerdict::faster;
}

}  // namespace

bool run_moods(const std::string& only, int replicates, bool wide) {
  bool good = true, any = false;
  const auto row = [&](const std::string& name, double most, const auto& one) {
    if (name.find(only) == std::string::npos) return;
    if (!any)
      fmt::print("{:<60} {:>8}\n", "recorded moods, identical runs: false verdicts", "share");
    any = true;
    int wrong = 0;
    for (int i = 0; i < replicates; ++i) wrong += one();
    const double share = static_cast<double>(wrong) / replicates;
    const bool holds = share <= most + (wide ? 0.05 : 0);
    fmt::print("{:<60} {:>6.1f} %  {}\n", name, 100 * share, holds ? "ok" : "OUTSIDE");
    std::fflush(stdout);
    good = good && holds;
  };
  Replay replay;
  const Timing timings[] = {{"5 visits over 1.4 s", 5, 1.4},
                            {"10 visits over 10 s", 10, 10},
                            {"10 visits over 60 s", 10, 60},
                            {"20 visits over 60 s", 20, 60}};
  for (const bool pilots : {false, true}) {
    for (const Timing& timing : timings) {
      // Runs of 1.4 s, and runs without pilots, show why: they have no gate.
      const bool gated = pilots && timing.seconds >= 10;
      row(fmt::format("moods, {}{}", timing.name, pilots ? ", with pilots" : ""), gated ? 0.07 : 1,
          [&] {
            const Row base = replay.run(timing, pilots);
            return differs(base, replay.run(timing, pilots), {});
          });
    }
  }
  row("moods, in turn, five pairs", 0.05, [&] {
    CompareRule rule;
    rule.in_pairs = true;
    const auto [base, now] = replay.in_turn();
    return differs(base, now, rule);
  });
  return good;
}

}  // namespace numatlas::truth
