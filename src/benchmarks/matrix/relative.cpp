#include "benchmarks/matrix/relative.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/traits.h"
#include "record/labels.h"

namespace numatlas {
namespace {

/// Where a cell's figures stand, of one host.
struct HostCell {
  std::string cpus, memory;
  std::vector<Figure>* figures = nullptr;
  Estimate estimate;
};

/// The figures of a case that are one host's; nullptr where there are none.
std::vector<Figure>* figures_of_host(const RunReport& report, ScenarioResult& one, int host) {
  if (traits_of(one.kernel).chases()) {
    for (FlowResult& flow : one.flows)
      if (host_of(report, flow) == host) return &flow.figures;
    return nullptr;
  }
  for (HostTotals& totals : one.host_totals)
    if (totals.host == host) return &totals.figures;
  return report.hosts.size() < 2 ? &one.figures : nullptr;
}

bool same_matrix(const ScenarioResult& a, const ScenarioResult& b) {
  return a.kernel == b.kernel && a.pages == b.pages && a.stores == b.stores;
}

}  // namespace

void add_times_local(RunReport& report) {
  std::vector<const ScenarioResult*> seen;  // the first case of each matrix
  for (const ScenarioResult& first : report.scenarios) {
    const auto again = [&](const ScenarioResult* one) { return same_matrix(*one, first); };
    if (std::any_of(seen.begin(), seen.end(), again)) continue;
    seen.push_back(&first);
    const bool latency = traits_of(first.kernel).chases();
    for (int host = 0; host < static_cast<int>(report.hosts.size()); ++host) {
      std::vector<HostCell> cells;
      for (ScenarioResult& one : report.scenarios) {
        if (!same_matrix(one, first)) continue;
        std::vector<Figure>* const figures = figures_of_host(report, one, host);
        const Figure* const found =
            figures == nullptr ? nullptr
                               : find_figure(*figures, latency ? "latency" : "bandwidth_sum");
        if (found == nullptr || !found->estimate || !(found->estimate->value > 0)) continue;
        cells.push_back(
            {label_of(one, "cpu_node"), label_of(one, "memory_node"), figures, *found->estimate});
      }
      for (HostCell& cell : cells) {
        const HostCell* const local = nearest_cell(cells, cell.cpus, latency);
        const Estimate times =
            local == &cell ? Estimate(1) : ratio_of(cell.estimate, local->estimate);
        cell.figures->push_back({"times_local", "1", times, std::nullopt});
      }
    }
  }
}

}  // namespace numatlas
