#include "comparisons.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/sides.h"
#include "record/estimate.h"

namespace numatlas::truth {
namespace {

/// Two sides of a comparison: so many launches of each, with a deviation of all cases of a launch.
struct Sides {
  int launches = 1;
  double launch_sd = 0;
  double change = 0;   ///< planted
  bool guest = false;  ///< on a virtual machine
  bool known = false;  ///< six hosts tell how launches differ
};

/// Launches of programs with known values: five visits of each case, with 1 % of noise.
class Launches {
 public:
  explicit Launches(std::uint64_t seed) : random_(seed) {}

  /// The cases of one side.
  std::vector<Row> side(const Sides& sides, int cases, double value) {
    std::vector<std::vector<Row>> by_case(static_cast<std::size_t>(cases));
    for (int launch = 0; launch < sides.launches; ++launch) {
      const double factor = std::exp(sides.launch_sd * normal_(random_));
      for (auto& figures : by_case) figures.push_back(of_visits(value * factor));
    }
    std::vector<Row> all;
    for (const auto& figures : by_case) {
      all.push_back(figures.size() == 1 ? figures.front() : row_of_launches(figures));
      all.back().guest = sides.guest;
    }
    return all;
  }

  /// How much the launches of a case on six hosts differ.
  Uncertain history(const Sides& sides) {
    std::vector<double> logarithms(6);
    for (double& one : logarithms) one = sides.launch_sd * normal_(random_);
    const double deviation = *summarize(logarithms)->stddev;
    return {0, deviation * deviation, 5};
  }

 private:
  Row of_visits(double value) {
    std::vector<double> visits;
    for (std::size_t i = 0; i < least_visits; ++i)
      visits.push_back(value * std::exp(0.01 * normal_(random_)));
    return row_of_visits(visits, "s");
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

/// How many cases are called slower, and how many faster, by the command's own rule.
std::pair<int, int> judged(Launches& launches, const Sides& sides, int cases) {
  const CompareRule rule;
  auto base = launches.side(sides, cases, 100);
  auto now = launches.side(sides, cases, 100 * (1 + sides.change));
  std::vector<Change> changes;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (sides.known) base[i].launch_spread = now[i].launch_spread = launches.history(sides);
    changes.push_back(change_between(base[i], now[i], rule));
  }
  std::vector<Change*> all;
  for (Change& change : changes) all.push_back(&change);
  judge(all, rule);
  std::pair<int, int> counts;
  for (const Change& change : changes) {
    counts.first += change.verdict == CaseVerdict::slower;
    counts.second += change.verdict == CaseVerdict::faster;
  }
  return counts;
}

}  // namespace

Row row_of_visits(const std::vector<double>& visits, Unit unit) {
  Row row;
  row.unit = unit;
  row.estimate = estimate_of_visits(visits, std::nullopt, std::nullopt);
  return row;
}

bool run_comparisons(const std::string& only, int replicates, bool wide) {
  constexpr int file = 50;  // cases
  const double slack = wide ? 0.05 : 0;
  bool good = true, any = false;
  const auto row = [&](const std::string& name, const Sides& sides, int cases, double least,
                       double most) {
    if (name.find(only) == std::string::npos) return;
    if (!any)
      fmt::print("{:<60} {:>8} {:>8}\n", "comparisons: share with any verdict", "slower", "faster");
    any = true;
    Launches launches(1);
    int slower = 0, faster = 0, different = 0;
    for (int i = 0; i < replicates; ++i) {
      const auto [up, down] = judged(launches, sides, cases);
      slower += up > 0;
      faster += down > 0;
      different += up + down > 0;
    }
    const auto share = [&](int part) { return static_cast<double>(part) / replicates; };
    const bool holds = sides.change == 0 ? share(different) <= most + slack
                                         : share(slower) >= least - slack && faster == 0;
    fmt::print("{:<60} {:>6.1f} % {:>6.1f} %  {}\n", name, 100 * share(slower), 100 * share(faster),
               holds ? "ok" : "OUTSIDE");
    std::fflush(stdout);
    good = good && holds;
  };
  for (const int launches : {1, 5}) {
    for (const double sd : {0.0, 0.005, 0.01, 0.02}) {
      const std::string name =
          fmt::format("compare identical, {} launch{} a side, deviation {:g} %", launches,
                      launches == 1 ? "" : "es", sd * 100);
      row(name + ", a case", {launches, sd, 0}, 1, 0, 0.05);
      row(name + ", a file of 50", {launches, sd, 0}, file, 0, 0.05);
    }
  }
  // As CPUs of a virtual machine that share a core in one launch and not in the next.
  constexpr double moved = 0.3;
  for (const bool known : {false, true}) {
    const std::string name =
        fmt::format("compare identical, a launch a side of a guest{}", known ? ", 6 known" : "");
    row(name + ", a case", {1, moved, 0, true, known}, 1, 0, 0.05);
    row(name + ", a file of 50", {1, moved, 0, true, known}, file, 0, 0.05);
  }
  row("compare 50 % slower, a launch a side of a guest, 6 known, 5 %", {1, 0.05, 0.5, true, true},
      1, 0.8, 0);
  row("compare 3 % slower, 5 launches a side, deviation 1 %", {5, 0.01, 0.03}, 1, 0.8, 0);
  return good;
}

}  // namespace numatlas::truth
