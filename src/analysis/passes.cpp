#include "analysis/passes.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace numatlas {

double bytes_of_host(const RunReport& report, const ScenarioResult& one, int host) {
  const Figure* const bytes = find_total(one, pass_bytes_key);
  const HostRow& row = report.host_rows[static_cast<std::size_t>(host)];
  return bytes == nullptr ? 0 : bytes->value().value_or(0) * row.processes;
}

std::vector<double> rates_of(const RunReport& report, const ScenarioResult& one, int host,
                             const std::vector<PassTimes>& passes) {
  const double bytes = bytes_of_host(report, one, host);
  std::vector<double> rates;
  for (const PassTimes& pass : counted(passes))
    rates.push_back(pass.node > 0 ? bytes / pass.node : 0);
  return rates;
}

Figure bandwidth_of(std::vector<double> rates) {
  std::erase(rates, 0.0);
  const std::optional<Summary> summary = summarize(rates);
  if (!summary) return {"bandwidth", "B/s", std::nullopt, std::nullopt};
  return {"bandwidth", "B/s", estimate_of_median(*summary, std::nullopt), summary};
}

}  // namespace numatlas
