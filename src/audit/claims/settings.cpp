// Settings of the system against what --for says that it is used for. Nothing is measured: a
// setting is known to cost such a use something, and the line says what.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/claim.h"

namespace numatlas {
namespace {

/// A setting that a use does not go with.
struct SettingRule {
  std::vector<MachineUse> uses;
  const char* setting;
  bool (*is_against)(const std::string& value);
  const char* cost;  ///< what it does to such a use
  const char* next;
};

bool is_never(const std::string& value) { return value == "never"; }
bool is_always(const std::string& value) { return value == "always"; }
bool is_not_zero(const std::string& value) { return value != "0"; }
/// Bit 0 moves pages to the nodes that use them; bit 1 alone (memory tiering) only promotes from
/// slower memory, which without slower memory does nothing.
bool balances(const std::string& value) { return value != "0" && value != "2"; }
bool is_not_performance(const std::string& value) { return value != "performance"; }
bool is_active(const std::string& value) { return value == "active"; }
bool is_off(const std::string& value) { return value == "off"; }

/// Of one setting several uses may think differently.
const std::vector<SettingRule>& setting_rules() {
  using enum MachineUse;
  static const std::vector<SettingRule> rules{
      {{throughput, latency, hpc},
       "thp_enabled",
       is_never,
       "no program gets transparent huge pages: large memory costs TLB misses",
       "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"},
      {{latency},
       "thp_enabled",
       is_always,
       "page faults of programs that never asked may wait for a huge page",
       "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"},
      {{latency},
       "thp_defrag",
       is_always,
       "page faults wait while memory is compacted",
       "echo madvise > /sys/kernel/mm/transparent_hugepage/defrag"},
      {{latency, hpc},
       "numa_balancing",
       balances,
       "the kernel unmaps pages to see who uses them, and moves them, of programs that are placed "
       "already",
       "sysctl kernel.numa_balancing=0, or 2 to promote from slower memory alone"},
      {{latency, hpc},
       "governor",
       is_not_performance,
       "CPUs may run below their full frequency when work comes",
       "cpupower frequency-set -g performance"},
      {{throughput, hpc},
       "turbo",
       is_off,
       "CPUs do not go above their base frequency",
       "echo 0 > /sys/devices/system/cpu/intel_pstate/no_turbo, or the firmware's setting"},
      {{latency, hpc},
       "smt",
       is_active,
       "a second thread on a core takes from the first one's caches and units",
       "echo off > /sys/devices/system/cpu/smt/control, or one worker a core"},
      {{throughput, latency},
       "zone_reclaim_mode",
       is_not_zero,
       "a full node drops its file cache before other nodes' free memory is used",
       "sysctl vm.zone_reclaim_mode=0"}};
  return rules;
}

ClaimVerdict judge_setting(const Setting* setting, const std::string& about, MachineUse use) {
  if (setting == nullptr)
    return not_measurable({about}, "not in this kernel, hidden, or not recorded");
  ClaimVerdict verdict{.about = about,
                       .claimed = fmt::format("settings that suit {} (--for)", name_of(use))};
  verdict.short_found = fmt::format("'{}', not for {}", setting->value, name_of(use));
  verdict.found = fmt::format("{} is '{}'", about, setting->value);
  verdict.outcome = ClaimOutcome::confirmed;
  for (const SettingRule& rule : setting_rules()) {
    const bool for_it = std::find(rule.uses.begin(), rule.uses.end(), use) != rule.uses.end();
    if (!for_it || rule.setting != about || !rule.is_against(setting->value)) continue;
    verdict.outcome = ClaimOutcome::contradicted;
    verdict.found += std::string(": ") + rule.cost;
    verdict.next = rule.next;
    break;
  }
  return verdict;
}

/// Huge pages that nobody took out of a pool cannot be used for anything else.
void judge_pools(const AuditInput& input, std::vector<ClaimVerdict>& verdicts) {
  std::uint64_t idle = 0, reserved = 0, memory = 0;
  for (const NumaNode& node : input.machine.nodes) {
    memory += node.memory_total ? node.memory_total->value : 0;
    for (const HugePagePool& pool : node.huge_pages) {
      reserved += pool.total * pool.page_size.value;
      idle += pool.free * pool.page_size.value;
    }
  }
  if (reserved == 0 || memory == 0) return;
  constexpr double much = 0.1;  // of the memory
  const bool wasted = static_cast<double>(idle) > much * static_cast<double>(memory);
  ClaimVerdict verdict{
      .about = "huge_pages",
      .claimed = fmt::format("settings that suit {} (--for)", name_of(*input.use))};
  verdict.found = fmt::format("{} of {} in pools of huge pages, {} of it unused",
                              to_rounded_text(Bytes{reserved}), to_rounded_text(Bytes{memory}),
                              to_rounded_text(Bytes{idle}));
  verdict.outcome = wasted ? ClaimOutcome::contradicted : ClaimOutcome::confirmed;
  if (wasted) verdict.next = "a smaller pool: /sys/kernel/mm/hugepages/hugepages-*/nr_hugepages";
  verdicts.push_back(std::move(verdict));
}

std::vector<ClaimVerdict> judge_settings(const AuditInput& input) {
  if (!input.use) return {};
  std::vector<ClaimVerdict> verdicts;
  std::vector<std::string> seen;
  for (const SettingRule& rule : setting_rules()) {
    const bool for_it =
        std::find(rule.uses.begin(), rule.uses.end(), *input.use) != rule.uses.end();
    const bool again = std::find(seen.begin(), seen.end(), rule.setting) != seen.end();
    if (!for_it || again) continue;
    seen.emplace_back(rule.setting);
    const auto& all = input.machine.settings;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Setting& one) { return one.name == rule.setting; });
    // What no cpufreq shows is nobody's choice.
    const bool hidden = found == all.end() || found->value == "not visible";
    verdicts.push_back(judge_setting(hidden ? nullptr : &*found, rule.setting, *input.use));
  }
  judge_pools(input, verdicts);
  return verdicts;
}

}  // namespace

const Claim settings_claim{
    "settings", "THP, NUMA balancing, governor, SMT, zone reclaim, huge pages against --for", "",
    [](const Machine&) { return false; }, judge_settings};

}  // namespace numatlas
