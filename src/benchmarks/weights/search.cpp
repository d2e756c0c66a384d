#include "benchmarks/weights/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/add_once.h"
#include "benchmarks/common.h"
#include "memory/source.h"
#include "run/metrics.h"

namespace numatlas {
namespace {

// Pages that the weights of the coarse grid add up to: 5 vectors of two nodes, 10 of three and of
// four.
constexpr int coarse_sum = 6;
// Rounds of finer weights: steps of a twelfth, a 24th and a 48th of the pages. Finer ones change
// the bandwidth by less than it can be measured to.
constexpr int last_round = 3;

Weights reduced(Weights weights) {
  int divisor = 0;
  for (const auto& [node, weight] : weights) divisor = std::gcd(divisor, weight);
  for (auto& [node, weight] : weights) weight /= divisor;
  return weights;
}

/// All ways to share `rest` among the nodes from `at` on, each at least 1.
void share_out(const NodeSet& nodes, std::size_t at, int rest, Weights& begun,
               std::vector<Weights>& all) {
  const int others = static_cast<int>(nodes.size() - at) - 1;
  const int least = others == 0 ? rest : 1;
  for (int weight = least; weight <= rest - others; ++weight) {
    begun.emplace_back(nodes[at], weight);
    if (others == 0) {
      all.push_back(reduced(begun));
    } else {
      share_out(nodes, at + 1, rest - weight, begun, all);
    }
    begun.pop_back();
  }
}

bool is_final(const Case& one) { return label_of(one, round_label) == final_round; }

bool has_weights(const Case& one) { return label_of(one, weights_label) != nearest_alone; }

bool is_search(const Case& one) { return has_weights(one) && !is_final(one); }

/// A point of the final round that could turn out to be the best.
bool is_candidate(const Case& one) { return has_weights(one) && is_final(one); }

/// Points of the final round that could have turned out to be the best.
std::size_t candidates_beside(const RunReport& report, const Case& other) {
  const auto is_another = [&](const Case& one) { return &one != &other && is_candidate(one); };
  return static_cast<std::size_t>(
      std::count_if(report.cases.begin(), report.cases.end(), is_another));
}

int round_of(const Case& one) { return std::stoi(label_of(one, round_label)); }

/// The best of the rounds up to `last`.
const Case* best_until(const RunReport& report, int last) {
  return highest_of(report.cases, [&](const Case& one) {
    return is_search(one) && round_of(one) <= last ? value_of(rate_of(one)) : std::nullopt;
  });
}

/// Finer weights round the best; none after the last round, or one that brought nothing that can be
/// told.
Next finer_round(const RunReport& report, const Case& best) {
  int round = 0;
  std::set<std::string> tried;
  for (const Case& one : report.cases) {
    tried.insert(label_of(one, weights_label));
    if (is_search(one)) round = std::max(round, round_of(one));
  }
  if (round >= last_round) return {};
  if (round > 0) {
    const Case* before = best_until(report, round - 1);
    if (before == nullptr || !surely_more(*rate_of(best), *rate_of(*before))) return {};
  }
  Next next{std::to_string(round + 1), {}};
  for (Weights& weights : neighbours(weights_of(best), round + 1)) {
    if (tried.insert(text_of(weights)).second) next.weights.push_back(std::move(weights));
  }
  return next;
}

/// The best few weights, equal ones, and the nearest node alone.
std::vector<Weights> best_again(const RunReport& report) {
  constexpr std::size_t few = 3;
  std::vector<const Case*> searched;
  for (const Case& one : report.cases)
    if (is_search(one) && rate_of(one)) searched.push_back(&one);
  std::ranges::stable_sort(searched, std::greater{},
                           [](const Case* one) { return rate_of(*one)->value; });
  if (searched.size() > few) searched.resize(few);
  std::vector<Weights> again;
  for (const Case* one : searched) again.push_back(weights_of(*one));
  add_once(again, equal_weights(again.front()));
  again.emplace_back();
  return again;
}

}  // namespace

Weights equal_weights(Weights weights) {
  for (auto& [node, weight] : weights) weight = 1;
  return weights;
}

std::vector<Weights> coarse_grid(const NodeSet& nodes) {
  Weights equal, begun;
  for (NodeId node : nodes) equal.emplace_back(node, 1);
  std::vector<Weights> shares, all{equal};
  if (nodes.size() > 1) share_out(nodes, 0, coarse_sum, begun, shares);
  for (Weights& weights : shares) add_once(all, std::move(weights));
  return all;
}

std::vector<Weights> neighbours(const Weights& weights, int round) {
  int sum = 0;
  for (const auto& [node, weight] : weights) sum += weight;
  const int factor = (coarse_sum << round) / sum;
  std::vector<Weights> all;
  for (std::size_t less = 0; less < weights.size(); ++less) {
    for (std::size_t more = 0; more < weights.size(); ++more) {
      if (less == more) continue;
      Weights moved = weights;
      for (auto& [node, weight] : moved) weight *= factor;
      if (--moved[less].second < 1) continue;
      ++moved[more].second;
      all.push_back(reduced(moved));
    }
  }
  return all;
}

std::string text_of(const Weights& weights) {
  const std::string text = MemoryPlacement{MemoryMode::weighted, weights}.text();
  return text.substr(text.find(':') + 1);
}

Weights weights_of(const Case& one) {
  const auto spec = parse_memory_spec("weighted:" + label_of(one, weights_label));
  return spec ? spec->single.nodes : Weights{};
}

std::optional<Estimate> rate_of(const Case& one) {
  const Figure* sum = find_total(one, "bandwidth_sum");
  if (one.status != Status::ok || sum == nullptr) return std::nullopt;
  return sum->estimate;
}

const Case* best_point(const RunReport& report) {
  const auto* const best = highest_of(report.cases, [](const Case& one) {
    return is_candidate(one) ? value_of(rate_of(one)) : std::nullopt;
  });
  return best != nullptr ? best : best_until(report, last_round);
}

const Case* point_of(const RunReport& report, const std::string& weights) {
  const Case* found = nullptr;
  for (const Case& one : report.cases) {
    if (label_of(one, weights_label) != weights || !rate_of(one)) continue;
    if (found == nullptr || is_final(one)) found = &one;
  }
  return found;
}

Next next_round(const RunReport& report) {
  const Case* const best = best_until(report, last_round);
  const bool ended = std::ranges::any_of(report.cases, is_final);
  if (ended || best == nullptr || weights_of(*best).size() < 2) return {};
  Next next = finer_round(report, *best);
  return next.weights.empty() ? Next{final_round, best_again(report)} : next;
}

std::optional<Estimate> gain_of(const RunReport& report, const Case& best, const Case& other) {
  const auto its = rate_of(best), others = rate_of(other);
  if (!its || !others) return std::nullopt;
  if (is_final(best) && is_final(other)) {
    const auto pairs =
        ratio_of_pairs(visits_of(best, "bandwidth_sum"), visits_of(other, "bandwidth_sum"),
                       candidates_beside(report, other));
    if (pairs) return pairs;
  }
  return ratio_of(*its, *others);
}

}  // namespace numatlas
