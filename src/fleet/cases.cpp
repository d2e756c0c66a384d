#include "fleet/cases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "fleet/fleet.h"
#include "fleet/summary.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

Figure bandwidth(std::optional<Estimate> estimate, std::optional<Summary> rounds) {
  return {"bandwidth", "B/s", std::move(estimate), std::move(rounds)};
}

ScenarioResult case_of(const Fleet& fleet, std::size_t index,
                       const std::optional<KernelRows>& rows) {
  constexpr std::uint64_t arrays = 3;
  const FleetKernel& kernel = fleet.kernels[index];
  ScenarioResult one;
  one.name = full_name(kernel) + (kernel.stores.empty() ? "" : " " + kernel.stores);
  one.kernel = kernel.name;
  one.stores = kernel.stores;
  one.labels = {{"mode", kernel.mode}, {"memory", fleet.memory}};
  if (fleet.elements > 0 && !fleet.kinds.empty()) {
    const HostKind& kind = fleet.kinds.front();
    const int threads = std::max(1, kind.workers / std::max(1, kind.processes));
    one.size = Bytes{arrays * sizeof(double) * fleet.elements / static_cast<unsigned>(threads)};
  }
  if (rows) one.figures.push_back(bandwidth(rows->host.median, {}));
  for (std::size_t host = 0; host < fleet.hosts.size(); ++host) {
    if (const auto times = times_of(fleet, fleet.hosts[host], index))
      one.host_totals.push_back({static_cast<int>(host), {bandwidth_of(*times)}});
    else
      one.status = Status::incomplete;
  }
  return one;
}

}  // namespace

Figure bandwidth_of(const HostTimes& times) {
  if (times.rates) return bandwidth(estimate_of_median(*times.rates, std::nullopt), times.rates);
  return bandwidth(times.rate > 0 ? std::optional<Estimate>(times.rate) : std::nullopt, {});
}

void add_cases(RunReport& report) {
  const Fleet& fleet = *report.fleet;
  std::string reason = report.incomplete_reason;
  for (const ScenarioResult& before : report.scenarios)
    if (!before.reason.empty()) reason = before.reason;
  report.scenarios.clear();
  report.hosts.clear();
  for (const FleetHost& host : fleet.hosts) report.hosts.push_back(host.name);
  const auto rows = rows_of(fleet);
  for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
    report.scenarios.push_back(case_of(fleet, kernel, rows[kernel]));
    if (report.scenarios.back().status != Status::ok) report.scenarios.back().reason = reason;
  }
}

Expected<RunReport> report_with_cases(const nlohmann::json& value) {
  auto report = report_from_json(value);
  if (report && report->fleet && !report->fleet->slow) {
    add_cases(*report);
    report->fleet->slow = find_slow(*report->fleet);
  }
  return report;
}

}  // namespace numatlas
