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
#include "base/text.h"
#include "compare/match.h"

namespace numatlas {
namespace {

std::string percent(double part) { return fmt::format("{:+.1f} %", part * 100); }

const StoredRun* first_run_with_machine(const StoredFile& file) {
  const auto found = std::find_if(file.runs.begin(), file.runs.end(),
                                  [](const StoredRun& run) { return !run.machines.empty(); });
  return found == file.runs.end() ? nullptr : &*found;
}

/// Why the baseline is not this machine's past; "" where it may be.
std::string another_machine(const AuditInput& input) {
  const StoredRun* const run = first_run_with_machine(*input.baseline);
  if (run == nullptr) return "";
  const std::string &then = run->machines.front().cpu_model, &now = input.machine.cpu_model;
  if (then.empty() || now.empty() || then == now) return "";
  return fmt::format("{} is of another machine: '{}', and this one has '{}'", input.baseline->file,
                     then, now);
}

/// " of host NAME" where the baseline is another host's, which may be right: hosts are renamed.
std::string of_host(const AuditInput& input) {
  const StoredRun* const run = first_run_with_machine(*input.baseline);
  if (run == nullptr || run->machines.front().host == input.machine.host) return "";
  return fmt::format(" (of host '{}', and this is '{}')", run->machines.front().host,
                     input.machine.host);
}

class Baseline final : public Claim {
 public:
  std::string name() const override { return "baseline"; }
  std::string summary() const override {
    return "the machine's own past (--baseline): what became slower";
  }
  std::vector<std::string> benchmarks(const Machine&) const override {
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
  const Estimate& claimed = *one.base.figure.estimate;
  verdict.claimed_value = claimed.value;
  verdict.claimed = estimate_text(claimed, verdict.unit);
  verdict.measured = one.now.figure.estimate;
  verdict.found = estimate_text(*verdict.measured, verdict.unit);
  if (one.change.part) verdict.found += ", " + percent(*one.change.part);
  verdict.outcome = ClaimOutcome::contradicted;
  verdict.next =
      "what changed: numatlas compare of both results lists firmware, kernel, settings and modules";
  return verdict;
}

std::vector<ClaimVerdict> Baseline::judge(const AuditInput& input) const {
  if (!input.baseline || input.now.empty()) return {};
  if (const std::string other = another_machine(input); !other.empty())
    return {not_measurable(name(), "all cases", other)};
  const auto compared =
      compare_files(*input.baseline, {"this audit", "audit", input.now, {}}, CompareRule{});
  if (!compared) return {not_measurable(name(), "all cases", full_text(compared.error()))};
  std::vector<ClaimVerdict> verdicts;
  for (const ComparedCase& one : compared->cases)
    if (one.change.verdict == CaseVerdict::slower) verdicts.push_back(drift(one));
  if (!verdicts.empty()) return verdicts;
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = "all cases";
  const std::size_t all = compared->cases.size();
  verdict.claimed = count_text(all, "case") + " of " + input.baseline->file + of_host(input);
  const std::size_t same = compared->count(CaseVerdict::same),
                    faster = compared->count(CaseVerdict::faster),
                    unknown = compared->count(CaseVerdict::not_distinguishable);
  verdict.found = fmt::format("none slower: {} the same, {} faster, {} not distinguishable", same,
                              faster, unknown);
  const std::size_t decided = same + faster;
  if (decided > 0 && 2 * decided >= all)
    verdict.outcome = ClaimOutcome::confirmed;
  else if (decided + unknown > 0)
    verdict.reason = fmt::format("{} of {} can be told from no change: increase --time of both",
                                 decided == 0 ? "none" : std::to_string(decided), all);
  else
    verdict.reason = "none of them can be compared: numatlas compare tells why";
  return {verdict};
}

}  // namespace

std::unique_ptr<Claim> make_baseline_claim() { return std::make_unique<Baseline>(); }

}  // namespace numatlas
