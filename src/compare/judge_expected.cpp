// Hosts against what is expected of them.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "compare/check_parts.h"
#include "record/figure.h"

namespace numatlas {
namespace {

/// A figure of a host that an expectation is of, with its run.
struct HostFigure {
  const StoredRun* run = nullptr;
  ExpectedFigure figure;
};

/// Of each host that has one, over the newest runs of all commands: of a fact, else of cases.
std::map<std::string, HostFigure> figures_for(const Expectation& expected,
                                              const std::vector<const StoredRun*>& newest) {
  std::map<std::string, HostFigure> found;
  for (const StoredRun* run : newest) {
    for (std::size_t i = 0; i < run->hosts.size(); ++i) {
      const auto figure = figure_for(expected, *run, i);
      if (!figure) continue;
      const auto [place, is_new] = found.try_emplace(run->hosts[i], HostFigure{run, *figure});
      if (!is_new && is_preferred(*figure, place->second.figure, expected))
        place->second = {run, *figure};
    }
  }
  return found;
}

}  // namespace

Expected<void> judge_expected(const Expectation& expected,
                              const std::vector<const StoredRun*>& newest,
                              std::map<std::string, CheckedHost>& hosts) {
  const auto found_on = figures_for(expected, newest);
  const bool lower = expected.unit.better() == Better::lower;
  for (const auto& [name, found] : found_on) {
    const Estimate& its = *found.figure.figure.estimate;
    // Its whole interval has to miss the limit.
    const double best = (lower ? its.low : its.high).value_or(its.value);
    if (lower ? best <= expected.limit : best >= expected.limit) continue;
    hosts[name].findings.push_back({Finding::below, found.run->command, found.figure.name,
                                    expected.name, expected.unit, its.value, expected.limit,
                                    its.value / expected.limit - 1, std::nullopt, "--expect", "",
                                    found.figure.figure.disturbed});
  }
  if (found_on.empty()) {
    const auto names = [&](std::optional<Unit> unit) {
      std::vector<std::string> all;
      for (const StoredRun* run : newest)
        for (std::string& name : names_to_expect(*run, unit)) add_once(all, std::move(name));
      return all;
    };
    const auto fitting = names(expected.unit);
    return fail_usage("--expect",
                      fmt::format("no result has a figure '{}' in {}", expected.name,
                                  expected.unit == "B/s"   ? "bytes per second"
                                  : expected.unit == "1/s" ? "operations per second"
                                                           : "seconds"),
                      fitting.empty()
                          ? fmt::format("these have other units: {}", fmt::join(names({}), ", "))
                          : fmt::format("these have: {}", fmt::join(fitting, ", ")));
  }
  for (auto& [name, host] : hosts)
    if (!found_on.contains(name))
      host.unjudged.push_back({"", fmt::format("no figure '{}' (--expect)", expected.name)});
  return {};
}

std::vector<std::string> judge_known(const std::vector<const StoredRun*>& newest,
                                     std::map<std::string, CheckedHost>& hosts) {
  std::vector<std::string> names;
  for (const StoredRun* run : newest) {
    if (!run->known) continue;
    CheckedHost& host = hosts.at(run->hosts.front());
    add_once(names, host.name);
    host.judged = true;
    host.unjudged.clear();
    const auto& [reads, limit, against, words] = *run->known;
    if (reads.high.value_or(reads.value) < limit)
      host.findings.push_back({Finding::below, run->command, "reads of all CPUs", "read", "B/s",
                               reads.value, limit, reads.value / limit - 1, std::nullopt, against,
                               "", words});
  }
  return names;
}

}  // namespace numatlas
