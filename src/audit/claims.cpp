#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "audit/claim.h"

namespace numatlas {

const char* name_of(MachineUse use) {
  switch (use) {
    case MachineUse::throughput: return "throughput";
    case MachineUse::latency: return "latency";
    case MachineUse::hpc: break;
  }
  return "hpc";
}

const Fact* AuditInput::find(const std::string& key,
                             const std::vector<std::pair<std::string, std::string>>& where) const {
  for (const Fact* fact : all(key)) {
    const bool has_all = std::all_of(where.begin(), where.end(), [&](const auto& label) {
      return where_of(*fact, label.first) == label.second;
    });
    if (has_all) return fact;
  }
  return nullptr;
}

std::vector<const Fact*> AuditInput::all(const std::string& key) const {
  std::vector<const Fact*> found;
  for (const RunReport& report : reports) {
    for (const Fact& fact : report.facts)
      if (fact.key == key) found.push_back(&fact);
  }
  return found;
}

const RunReport* AuditInput::report_of(const std::string& benchmark) const {
  const auto found = std::ranges::find(
      reports, benchmark, [](const RunReport& report) { return name_in_survey(report); });
  return found == reports.end() ? nullptr : &*found;
}

std::string AuditInput::why_no(const std::string& benchmark) const {
  const auto found = skipped.find(benchmark);
  if (found != skipped.end()) return benchmark + ": " + found->second;
  const bool ran = report_of(benchmark) != nullptr;
  return benchmark + (ran ? " has no figure of it: no time for it, or a size that fits a cache"
                          : " did not run");
}

const Estimate* AuditInput::latency(NodeId cpus, NodeId memory) const {
  const Fact* const fact = find("matrix_latency", {{"cpu_node", std::to_string(cpus.value)},
                                                   {"memory_node", std::to_string(memory.value)}});
  return fact == nullptr ? nullptr : &fact->estimate;
}

const Estimate* AuditInput::bandwidth(NodeId cpus, NodeId memory) const {
  const Fact* const fact = find(
      "matrix_bandwidth",
      {{"cpu_node", std::to_string(cpus.value)}, {"memory_node", std::to_string(memory.value)}});
  return fact == nullptr ? nullptr : &fact->estimate;
}

std::vector<std::unique_ptr<Claim>> all_claims() {
  std::vector<std::unique_ptr<Claim>> all;
  all.push_back(make_slit_claim());
  all.push_back(make_hmat_claim());
  all.push_back(make_tiers_claim());
  all.push_back(make_weights_claim());
  all.push_back(make_dimms_claim());
  all.push_back(make_expected_claim());
  all.push_back(make_caches_claim());
  all.push_back(make_links_claim());
  all.push_back(make_gpu_memory_claim());
  all.push_back(make_settings_claim());
  return all;
}

}  // namespace numatlas
