#include "gains.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/weights/search.h"
#include "record/estimate.h"

namespace numatlas::truth {
namespace {

using Random = std::mt19937_64;

/// A machine of two nodes on which one choice of weights is faster than all others, which are as
/// fast as the nearest node alone.
struct Planted {
  const char* name;
  double gain;      ///< of these weights; 0: all are alike
  int least, most;  ///< visits of a point
};

const Weights equal_weights{{NodeId{0}, 1}, {NodeId{1}, 1}};
const Weights faster_weights{{NodeId{0}, 2}, {NodeId{1}, 1}};

class Machine {
 public:
  Machine(const Planted& planted, Random& random) : planted_(planted), random_(random) {}

  double true_rate(const std::string& weights) const {
    return 1e11 * (weights == text_of(faster_weights) ? 1 + planted_.gain : 1);
  }

  /// All points of a stage, visited in rounds. Within a round the machine has one speed; a visit
  /// varies by 1.5 %.
  void measure(RunReport& report, const std::vector<Weights>& all, const std::string& round) {
    constexpr int most_rounds = 10;
    std::vector<double> speeds;
    for (int i = 0; i < most_rounds; ++i) speeds.push_back(is_slow_(random_) ? 0.55 : 1);
    for (const Weights& weights : all) {
      const std::string name = weights.empty() ? nearest_alone : text_of(weights);
      const int visits = std::uniform_int_distribution<>(planted_.least, planted_.most)(random_);
      std::vector<double> values;
      for (int i = 0; i < visits; ++i)
        values.push_back(true_rate(name) * speeds[static_cast<std::size_t>(i)] *
                         std::exp(noise_(random_)));
      Case& one = report.cases.emplace_back();
      one.labels = {{weights_label, name}, {round_label, round}};
      const Estimate rate = estimate_of_visits(values, std::nullopt, std::nullopt);
      one.figures = {{"bandwidth_sum", "B/s", rate, std::nullopt}};
      one.visits.emplace();
      one.visits->figures = {{"bandwidth_sum", "B/s", std::move(values), 0}};
    }
  }

 private:
  const Planted& planted_;
  Random& random_;
  std::bernoulli_distribution is_slow_{0.4};
  std::normal_distribution<> noise_{0, 0.015};
};

struct Found {
  bool better = false;  ///< than equal weights or than the nearest node alone
  bool held = false;    ///< the interval holds the true gain over the nearest node
};

Found search(const Planted& planted, Random& random) {
  Machine machine(planted, random);
  RunReport report;
  std::vector<Weights> first = coarse_grid({NodeId{0}, NodeId{1}});
  first.insert(first.begin(), Weights{});
  machine.measure(report, first, "0");
  for (Next next = next_round(report); !next.weights.empty(); next = next_round(report))
    machine.measure(report, next.weights, next.round);
  const Case& best = *best_point(report);
  Found found;
  for (const std::string& other : {text_of(equal_weights), std::string(nearest_alone)}) {
    const Case& reference = *point_of(report, other);
    if (&reference == &best) continue;
    const Estimate gain = *gain_of(report, best, reference);
    found.better = found.better || *gain.low > 1;
    if (other != nearest_alone) continue;
    const double truth = machine.true_rate(text_of(weights_of(best))) / machine.true_rate(other);
    found.held = *gain.low <= truth && truth <= *gain.high;
  }
  return found;
}

}  // namespace

bool run_gains(const std::string& only, int replicates, bool wide) {
  const Planted machines[] = {{"weights, all alike, 10 visits", 0, 10, 10},
                              {"weights, all alike, 5 to 10 visits", 0, 5, 10},
                              {"weights, one 3 % faster, 10 visits", 0.03, 10, 10}};
  const double slack = wide ? 0.05 : 0;
  bool good = true, any = false;
  for (const Planted& planted : machines) {
    if (std::string(planted.name).find(only) == std::string::npos) continue;
    if (!any) fmt::print("{:<60} {:>8} {:>8}\n", "gain of weights", "better", "holds");
    any = true;
    Random random(1);
    int better = 0, held = 0;
    for (int i = 0; i < replicates; ++i) {
      const Found found = search(planted, random);
      better += found.better;
      held += found.held;
    }
    const double share = static_cast<double>(better) / replicates;
    const double covers = static_cast<double>(held) / replicates;
    const bool claims = planted.gain > 0 ? share >= 0.8 - slack : share <= 0.05 + slack;
    const bool holds = claims && covers >= 0.93 - slack;
    fmt::print("{:<60} {:>6.1f} % {:>6.1f} %  {}\n", planted.name, 100 * share, 100 * covers,
               holds ? "ok" : "OUTSIDE");
    std::fflush(stdout);
    good = good && holds;
  }
  return good;
}

}  // namespace numatlas::truth
