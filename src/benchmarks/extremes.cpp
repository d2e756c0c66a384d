#include "benchmarks/extremes.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "record/cache_level.h"

namespace numatlas {
namespace {

/// Of these figures of cases, which are all of one host or of all hosts together.
void add_shares_of(const std::vector<std::vector<Figure>*>& cases) {
  const auto sum_of = [](const std::vector<Figure>& figures) -> std::optional<Estimate> {
    const Figure* const sum = find_figure(figures, "bandwidth_sum");
    return sum != nullptr ? sum->estimate : std::nullopt;
  };
  const std::vector<Figure>* best = nullptr;
  for (const auto* figures : cases) {
    const auto sum = sum_of(*figures);
    if (sum && sum->value > 0 && (best == nullptr || sum->value > sum_of(*best)->value))
      best = figures;
  }
  if (best == nullptr) return;
  const Estimate most = *sum_of(*best);
  for (auto* figures : cases) {
    const auto sum = sum_of(*figures);
    if (!sum) continue;
    const Estimate share = figures == best ? Estimate(1) : ratio_of(*sum, most);
    figures->push_back({"best_share", "1", share, std::nullopt});
  }
}

}  // namespace

void add_best_shares(RunReport& report) {
  std::vector<std::vector<Figure>*> all;
  std::vector<std::vector<std::vector<Figure>*>> of_hosts(report.hosts.size());
  for (ScenarioResult& one : report.scenarios) {
    if (!cache_text(one).empty()) continue;
    all.push_back(&one.figures);
    for (HostTotals& totals : one.host_totals)
      of_hosts[static_cast<std::size_t>(totals.host)].push_back(&totals.figures);
  }
  add_shares_of(all);
  for (const auto& cases : of_hosts) add_shares_of(cases);
}

}  // namespace numatlas
