// Other hosts of the same kind, by the rule for slow nodes (fleet/slow_nodes.h): each figure of
// this host against the median of all, with this one.
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/claim.h"
#include "audit/rules.h"
#include "base/count_text.h"
#include "fleet/fleet.h"
#include "fleet/slow_nodes.h"

namespace numatlas {
namespace {

class PeersClaim final : public Claim {
 public:
  std::string name() const override { return "peers"; }
  std::string summary() const override {
    return "hosts of the same kind (--peers): by the rule for slow nodes";
  }
  std::vector<std::string> benchmarks(const Machine&) const override {
    return {"matrix", "latency", "bandwidth"};
  }
  std::vector<ClaimVerdict> judge(const AuditInput& input) const override;

 private:
  std::optional<ClaimVerdict> judge_fact(const Fact& fact, const std::string& benchmark,
                                         const std::vector<double>& others,
                                         const SlowRule& rule) const;
};

/// "; left out: hosts of another kind (a, b), files without a result of one host (c.json)".
std::string left_out_text(const std::vector<std::string>& hosts,
                          const std::vector<std::string>& files) {
  const auto some = [](std::vector<std::string> names) {
    constexpr std::size_t most = 3;
    const std::size_t more = names.size() - std::min(names.size(), most);
    names.resize(names.size() - more);
    return fmt::format("{}{}", fmt::join(names, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : "");
  };
  std::string text;
  if (!hosts.empty()) text += fmt::format("hosts of another kind ({})", some(hosts));
  if (!files.empty())
    text += fmt::format("{}files without a result of one host ({})", text.empty() ? "" : ", ",
                        some(files));
  return text.empty() ? "" : "; left out: " + text;
}

/// A figure as a rate: of times, how many in a second.
double as_rate(double value, const std::string& unit) { return unit == "s" ? 1 / value : value; }

/// nullopt: it is within the rule.
std::optional<ClaimVerdict> PeersClaim::judge_fact(const Fact& fact, const std::string& benchmark,
                                                   const std::vector<double>& others,
                                                   const SlowRule& rule) const {
  const double mine = as_rate(fact.estimate.value, fact.unit);
  std::vector<double> rates{mine};
  for (const double value : others) rates.push_back(as_rate(value, fact.unit));
  const Peers peers = peers_of(rates, rule);
  const auto slow = compare(mine, peers, {}, rule);
  if (!slow || !fact.estimate.low) return std::nullopt;
  // The host's own interval has to exclude the median.
  const double median = as_rate(peers.median, fact.unit);
  const bool apart = fact.unit == "s" ? *fact.estimate.low > median : *fact.estimate.high < median;
  if (!apart) return std::nullopt;
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = benchmark + " " + fact.key;
  for (const auto& [label, value] : fact.where)
    verdict.about += fmt::format(" {}={}", label, value);
  verdict.unit = fact.unit;
  verdict.claimed =
      fmt::format("{}, the median of {} hosts", value_text(median, fact.unit), peers.count);
  verdict.claimed_value = median;
  verdict.measured = fact.estimate;
  verdict.found = fmt::format("{}: {} % slower, {:.1f} MAD", figure_text(fact.estimate, fact.unit),
                              fmt::format("{:.0f}", slow->drop * 100), slow->mads);
  verdict.outcome = ClaimOutcome::contradicted;
  verdict.next = "modules, firmware settings, cooling and power of this host against a peer's";
  return verdict;
}

std::vector<ClaimVerdict> PeersClaim::judge(const AuditInput& input) const {
  if (!input.peers) return {};
  const SlowRule rule;
  const HostKind kind = kind_of(input.machine, 0, 0);
  std::vector<const PeerHost*> peers;
  std::vector<std::string> others_of;  // of another kind
  for (const PeerHost& peer : input.peers->hosts) {
    if (peer.host == input.machine.host) continue;
    if (alike(peer.kind, kind))
      peers.push_back(&peer);
    else
      others_of.push_back(peer.host);
  }
  const std::string left_out = left_out_text(others_of, input.peers->not_read);
  std::vector<ClaimVerdict> verdicts;
  std::size_t compared = 0;
  for (const RunReport& report : input.reports) {
    for (const Fact& fact : report.facts) {
      if ((fact.unit != "s" && fact.unit != "B/s") || !(fact.estimate.value > 0)) continue;
      std::vector<double> others;
      for (const PeerHost* peer : peers) {
        const auto its = peer->figures.find({fact.key, fact.where});
        if (its != peer->figures.end()) others.push_back(its->second);
      }
      if (others.size() + 1 < rule.least_hosts) continue;
      ++compared;
      if (auto slow = judge_fact(fact, report.command, others, rule)) {
        if (verdicts.empty()) slow->next += left_out;
        verdicts.push_back(*std::move(slow));
      }
    }
  }
  if (!verdicts.empty()) return verdicts;
  if (compared == 0)
    return {not_measurable(
        name(), "all figures",
        fmt::format("{} has {} of this kind ({}), and no figure that {} of them have too{}",
                    input.peers->folder, count_text(peers.size(), "other host"),
                    hardware_text(kind), rule.least_hosts - 1, left_out))};
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = "all figures";
  verdict.claimed = fmt::format("as fast as {} of its kind", count_text(peers.size(), "host"));
  verdict.found = fmt::format("none of {} is slow: {}{}", count_text(compared, "figure"),
                              to_text(rule), left_out);
  verdict.outcome = ClaimOutcome::confirmed;
  return {verdict};
}

}  // namespace

std::unique_ptr<Claim> make_peers_claim() { return std::make_unique<PeersClaim>(); }

}  // namespace numatlas
