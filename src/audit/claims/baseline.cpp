// The machine's own past: cases of an earlier result that were measured again, judged as `numatlas
// compare` judges two runs.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/claim.h"
#include "audit/rules.h"
#include "compare/match.h"

namespace numatlas {
namespace {

std::string percent(double part) { return fmt::format("{:+.1f} %", part * 100); }

class Baseline final : public Claim {
 public:
  std::string name() const override { return "baseline"; }
  std::string summary() const override {
    return "the machine's own past (--baseline): what became slower";
  }
  std::vector<std::string> benchmarks(const Machine&, const MemorySlots&) const override {
    return {"matrix", "latency", "bandwidth"};
  }
  std::vector<ClaimVerdict> judge(const AuditInput& input) const override;

 private:
  ClaimVerdict drift(const ComparedCase& one) const;
};

ClaimVerdict Baseline::drift(const ComparedCase& one) const {
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = one.now.command + " " + one.now.point;
  if (!one.now.part.empty()) verdict.about += " " + one.now.part;
  verdict.about += " " + one.now.metric;
  verdict.unit = one.now.unit;
  verdict.claimed_value = one.base.figure.value;
  const auto figure = [&](const StoredFigure& stored) {
    Estimate estimate = stored.value.value_or(0);
    if (stored.interval) {
      estimate.low = stored.interval->low;
      estimate.high = stored.interval->high;
      estimate.method = Method::derived;
    }
    return estimate;
  };
  verdict.claimed = figure_text(figure(one.base.figure), verdict.unit);
  verdict.measured = figure(one.now.figure);
  verdict.found = figure_text(*verdict.measured, verdict.unit);
  if (one.change.part) verdict.found += ", " + percent(*one.change.part);
  verdict.outcome = ClaimOutcome::contradicted;
  verdict.next =
      "what changed: numatlas compare of both results lists firmware, kernel, settings and modules";
  return verdict;
}

std::vector<ClaimVerdict> Baseline::judge(const AuditInput& input) const {
  if (!input.baseline || !input.now) return {};
  const auto compared = compare_files(*input.baseline, *input.now, CompareRule{});
  if (!compared) return {not_measurable(name(), "all cases", full_text(compared.error()))};
  std::vector<ClaimVerdict> verdicts;
  for (const ComparedCase& one : compared->cases)
    if (one.change.verdict == CaseVerdict::slower) verdicts.push_back(drift(one));
  if (!verdicts.empty()) return verdicts;
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = "all cases";
  verdict.claimed = fmt::format("{} cases of {}", compared->cases.size(), input.baseline->file);
  const std::size_t same = compared->count(CaseVerdict::same),
                    faster = compared->count(CaseVerdict::faster),
                    unknown = compared->count(CaseVerdict::not_distinguishable);
  verdict.found = fmt::format("none slower: {} the same, {} faster, {} not distinguishable", same,
                              faster, unknown);
  if (same + faster + unknown > 0)
    verdict.outcome = ClaimOutcome::confirmed;
  else
    verdict.reason = "none of them can be compared: numatlas compare tells why";
  return {verdict};
}

}  // namespace

std::unique_ptr<Claim> make_baseline_claim() { return std::make_unique<Baseline>(); }

}  // namespace numatlas
