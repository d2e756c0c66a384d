#include "audit/rules.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "record/estimate.h"
#include "report/fact_text.h"

namespace numatlas {
ClaimVerdict decided(ClaimVerdict verdict, bool has_interval, const std::optional<bool>& wrong,
                     const std::string& next) {
  if (!wrong) {
    verdict.outcome = ClaimOutcome::not_measurable;
    verdict.reason = fmt::format("found {}{} increase --time", verdict.found,
                                 has_interval ? ": too uncertain," : " without an interval:");
  } else if (*wrong) {
    verdict.outcome = ClaimOutcome::contradicted;
    verdict.next = next;
  } else {
    verdict.outcome = ClaimOutcome::confirmed;
  }
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
  return "not measurable";
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

std::optional<bool> contradicts(const Estimate& measured, double claimed, double factor) {
  if (!measured.low || !measured.high || !(claimed > 0)) return std::nullopt;
  return *measured.low > claimed * factor || *measured.high < claimed / factor;
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
  std::optional<bool> wrong = contradicts(measured, claimed, factor);
  const bool has_interval = wrong.has_value();
  if (wrong && !*wrong && !agrees) wrong.reset();
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
        verdict.outcome = ClaimOutcome::not_measurable;
        verdict.next.clear();
        verdict.reason = fmt::format("not judged: {}; found {}: run again when it is quiet",
                                     disturbance_text(use), verdict.found);
      }
      return;
    }
  }
}

ClaimVerdict not_measurable(const std::string& claim, const std::string& about,
                            const std::string& reason) {
  ClaimVerdict verdict;
  verdict.claim = claim;
  verdict.about = about;
  verdict.reason = reason;
  return verdict;
}

}  // namespace numatlas
