// Other hosts of the same kind, and this one before, judged as `numatlas check` judges stored
// results.
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/peers.h"
#include "audit/claim.h"
#include "audit/rules.h"
#include "base/text.h"
#include "compare/check.h"
#include "record/figure.h"

namespace numatlas {
namespace {

class PeersClaim final : public Claim {
 public:
  std::string name() const override { return "peers"; }
  std::string summary() const override {
    return "hosts of the same kind, and its past (--peers): by the rule of `numatlas check`";
  }
  std::vector<std::string> benchmarks(const Machine&) const override {
    return {"matrix", "latency", "bandwidth"};
  }
  std::vector<ClaimVerdict> judge(const AuditInput& input) const override;

 private:
  ClaimVerdict verdict_on(const Finding& finding) const;
};

/// "; left out: files that are no results (c.json)".
std::string left_out_text(const Results& peers) {
  std::vector<std::string> files = peers.unrelated;
  for (const Error& error : peers.broken) files.push_back(printable(error.subject));
  return files.empty()
             ? ""
             : fmt::format("; left out: files that are no results ({})", names_text(files));
}

ClaimVerdict PeersClaim::verdict_on(const Finding& finding) const {
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = fmt::format("{} {} {}", finding.command, finding.name, finding.metric);
  verdict.unit = finding.unit;
  verdict.claimed_value = finding.reference;
  verdict.claimed = fmt::format("{}, the median of {}",
                                quantity_text(*finding.reference, finding.unit), finding.against);
  verdict.measured = Estimate(*finding.value);
  verdict.found =
      fmt::format("{}: {:+.0f} %, {:.1f} MAD", quantity_text(*finding.value, finding.unit),
                  finding.change * 100, finding.mads.value_or(0));
  if (!finding.since.empty()) verdict.found += " since " + day_of(finding.since);
  verdict.outcome = ClaimOutcome::contradicted;
  verdict.next = "modules, firmware settings, cooling and power of this host against a peer's";
  return verdict;
}

std::vector<ClaimVerdict> PeersClaim::judge(const AuditInput& input) const {
  if (!input.peers || input.now.empty()) return {};
  std::vector<StoredRun> runs = input.peers->runs;  // this host's own there are its past
  runs.insert(runs.end(), input.now.begin(), input.now.end());
  const auto checked = check_runs(runs, {});
  if (!checked) return {not_measurable(name(), "all figures", full_text(checked.error()))};
  const std::string left_out = left_out_text(*input.peers);
  std::vector<ClaimVerdict> verdicts;
  for (const CheckedHost& host : checked->hosts) {
    if (host.name != input.now.front().hosts.front()) continue;
    for (const Finding& finding : host.findings)
      if (finding.value) verdicts.push_back(verdict_on(finding));
    if (!verdicts.empty()) {
      verdicts.front().next += left_out;
      return verdicts;
    }
    if (!host.judged)
      return {not_measurable(
          name(), "all figures",
          fmt::format("{}: {}{}", input.peers_from,
                      host.unjudged.empty() ? "no figure in common" : host.unjudged.front().reason,
                      left_out))};
  }
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = "all figures";
  verdict.claimed =
      fmt::format("as fast as the hosts of its kind, or as before, below {}", input.peers_from);
  verdict.found = "none is slow: " + to_text(SlowRule{}) + left_out;
  verdict.outcome = ClaimOutcome::confirmed;
  return {verdict};
}

}  // namespace

std::unique_ptr<Claim> make_peers_claim() { return std::make_unique<PeersClaim>(); }

}  // namespace numatlas
