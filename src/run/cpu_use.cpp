#include "run/cpu_use.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace numatlas {

Expected<void> note_cpu_use(const std::optional<CpuWatch>& watch, Comm& comm, bool all_hosts,
                            RunReport& report) {
  const std::string mine = watch ? to_json(watch->use()).dump() : "";
  std::vector<std::string> all{mine};
  if (all_hosts) {
    all = TRY(comm.gather(mine));
  }
  // Rank 0 has a watch where anybody has one: it is the first of its host.
  if (comm.rank() != 0 || !watch) return {};
  CpuUse unknown;
  unknown.reason = "the run ended before this host reported";
  report.cpu_use.assign(report.hosts.size(), unknown);
  std::vector<std::pair<std::string, CpuUse>> by_host;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    const auto host = static_cast<std::size_t>(comm.layout().host_of[rank]);
    report.cpu_use[host] = cpu_use_from_json(nlohmann::json::parse(all[rank]));
    by_host.emplace_back(report.hosts[host], report.cpu_use[host]);
  }
  if (std::string text = cpu_use_warning(by_host); !text.empty())
    report.warnings.push_back({"other-processes", "", std::move(text)});
  return {};
}

Expected<VisitUse> use_of_visit(const std::optional<CpuWatch>& watch, Comm& comm, bool disturbed,
                                bool counts) {
  std::vector<std::string> all{watch ? to_json(watch->use()).dump() : ""};
  if (comm.size() > 1) {
    all = TRY(comm.gather(all.front()));
  }
  VisitUse most;
  most.disturbed = disturbed && comm.rank() == 0;
  const auto larger = [](std::optional<double>& a, const std::optional<double>& b) {
    if (b) a = std::max(a.value_or(0), *b);
  };
  for (const std::string& text : all) {
    if (text.empty()) continue;
    const CpuUse use = cpu_use_from_json(nlohmann::json::parse(text));
    larger(most.others, use.others);
    larger(most.stolen, use.stolen);
    larger(most.throttled, use.throttled);
    most.disturbed = most.disturbed || is_disturbed(use);
  }
  most.disturbed = TRY(comm.broadcast_value(most.disturbed));
  most.counts = TRY(comm.broadcast_value(counts));
  return most;
}

bool Repeats::again(const VisitUse& use) {
  constexpr int lasting = 3, at_first = 3, each = 5;
  visits_ += use.repeated ? 0 : 1;
  if (!use.disturbed) in_vain_ = 0;
  if (use.disturbed && use.repeated) ++in_vain_;
  const bool again = use.disturbed && !use.repeated && !use.counts && in_vain_ < lasting &&
                     repeated_ < at_first + visits_ / each;
  repeated_ += again ? 1 : 0;
  return again;
}

}  // namespace numatlas
