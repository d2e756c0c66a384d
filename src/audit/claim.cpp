#include "audit/claim.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "report/view_text.h"

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

const Estimate* AuditInput::cell(const std::string& what, NodeId cpus, NodeId memory) const {
  const Fact* const fact = find("matrix_" + what, {{"cpu_node", std::to_string(cpus.value)},
                                                   {"memory_node", std::to_string(memory.value)}});
  return fact == nullptr ? nullptr : &fact->estimate;
}

const std::vector<const Claim*>& all_claims() {
  static const std::vector<const Claim*> all{&slit_claim,    &hmat_claim,       &tiers_claim,
                                             &weights_claim, &dimms_claim,      &caches_claim,
                                             &links_claim,   &gpu_memory_claim, &settings_claim};
  return all;
}

ClaimVerdict not_measurable(ClaimVerdict verdict, std::string reason) {
  verdict.outcome = ClaimOutcome::not_measurable;
  verdict.reason = std::move(reason);
  return verdict;
}

ClaimVerdict decided(ClaimVerdict verdict, bool has_interval, const std::optional<bool>& wrong,
                     const std::string& next) {
  if (!wrong) {
    const char* const why = has_interval ? ": too uncertain," : " without an interval:";
    std::string reason = fmt::format("found {}{} increase --time", verdict.found, why);
    return not_measurable(std::move(verdict), std::move(reason));
  }
  verdict.outcome = *wrong ? ClaimOutcome::contradicted : ClaimOutcome::confirmed;
  if (*wrong) verdict.next = next;
  return verdict;
}

std::string short_ratio(double found, NodeId node, const std::string& claimed) {
  return fmt::format("{} times node {}'s, claimed {}", three_digits(found), node.value, claimed);
}

const char* name_of(ClaimOutcome outcome) {
  switch (outcome) {
    case ClaimOutcome::confirmed: return "confirmed";
    case ClaimOutcome::contradicted: return "contradicted";
    case ClaimOutcome::not_measurable: break;
  }
  return "not judged here";
}

std::string to_text(const ClaimVerdict& verdict) {
  if (verdict.outcome == ClaimOutcome::not_measurable) {
    const std::string claimed = verdict.claimed.empty() ? "" : "claimed " + verdict.claimed + "; ";
    return claimed + verdict.reason;
  }
  std::string text = fmt::format("claimed {}; found {}", verdict.claimed, verdict.found);
  if (verdict.outcome == ClaimOutcome::contradicted) text += "; next: " + verdict.next;
  return text;
}

bool clearly_more(const Estimate& one, const Estimate& other) {
  return surely_more(one, scaled(other, 1 + same_part));
}

ClaimVerdict judged(ClaimVerdict verdict, const Estimate& measured, double claimed, double factor,
                    const std::string& next) {
  verdict.claimed_value = claimed;
  verdict.measured = measured;
  verdict.found = estimate_text(measured, verdict.unit);
  const bool agrees = measured.value <= claimed * factor && measured.value >= claimed / factor;
  const bool has_interval = measured.low && measured.high && claimed > 0;
  std::optional<bool> wrong;
  if (has_interval && (*measured.low > claimed * factor || *measured.high < claimed / factor))
    wrong = true;
  else if (has_interval && agrees)
    wrong = false;
  return decided(std::move(verdict), has_interval, wrong, next);
}

ClaimVerdict judged_best(ClaimVerdict verdict, const Estimate& times, const std::string& next) {
  std::optional<bool> wrong;
  if (times.low && *times.low > 1 + same_part) wrong = true;
  if (times.high && *times.high < 1 + 2 * same_part && !wrong) wrong = false;
  return decided(std::move(verdict), times.low.has_value(), wrong, next);
}

ClaimVerdict judged_share(ClaimVerdict verdict, const Fact& fact, double limit,
                          const std::string& next) {
  const Estimate share = scaled(fact.estimate, 1 / limit);
  verdict.measured = share;
  verdict.found = fmt::format("{} ({}), {:.0f} % of it", estimate_text(fact.estimate, "B/s"),
                              fact.words, share.value * 100);
  std::optional<bool> is_less;
  if (share.high && *share.high < *verdict.claimed_value) is_less = true;
  if (share.low && *share.low >= *verdict.claimed_value) is_less = false;
  return decided(std::move(verdict), share.low.has_value(), is_less, next);
}

void spare_disturbed(std::vector<ClaimVerdict>& verdicts, const std::vector<RunReport>& reports) {
  for (const RunReport& report : reports) {
    for (const CpuUse& use : report.cpu_use) {
      if (!is_disturbed(use)) continue;
      for (ClaimVerdict& verdict : verdicts) {
        if (verdict.outcome != ClaimOutcome::contradicted || !verdict.measured) continue;
        std::string reason = fmt::format("not judged: {}; found {}: run again when it is quiet",
                                         disturbance_text(use), verdict.found);
        verdict = not_measurable(std::move(verdict), std::move(reason));
      }
      return;
    }
  }
}

}  // namespace numatlas
