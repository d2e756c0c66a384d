#include "fleet/slow_nodes.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/statistics.h"
#include "fleet/summary.h"

namespace numatlas {
namespace {

// Makes the MAD of normally distributed values their standard deviation.
constexpr double mad_to_deviation = 1.4826;

/// Of few values the MAD is too small on average: Croux & Rousseeuw, "Time-efficient algorithms for
/// two highly robust estimators of scale", COMPSTAT 1992.
double small_sample_factor(std::size_t n) {
  constexpr double factors[] = {1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
  if (n < std::size(factors)) return factors[n];
  return static_cast<double>(n) / (static_cast<double>(n) - 0.8);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// From so many rounds on more than two good ones acquit a host: those that something disturbed now
/// and then are not slow.
constexpr std::size_t enough_rounds = 5;

/// Of three values or more.
double third_best(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + 2, values.end(), std::greater<>());
  return values[2];
}

/// One kernel on the hosts of one kind.
class KindTimes {
 public:
  KindTimes(const Fleet& fleet, const std::vector<std::size_t>& hosts, std::size_t kernel)
      : fleet_(fleet), kernel_(kernel) {
    for (std::size_t host : hosts) {
      const auto times = times_of(fleet, fleet.hosts[host], kernel);
      if (!times || times->rate <= 0) continue;
      hosts_.push_back(host);
      rates_.push_back(times->rate);
    }
    if (!rates_.empty()) median_ = median_of(rates_);
  }
  const std::vector<std::size_t>& hosts() const { return hosts_; }
  const std::vector<double>& rates() const { return rates_; }

  /// Each round of a host over the median of all hosts in that round; 0 where it has none.
  std::vector<double> rounds_over_median(std::size_t host) {
    const auto rounds = counted_rounds(fleet_.hosts[host], kernel_);
    std::vector<double> relative(rounds.size(), 0);
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      const double median = round_median(round);
      if (rounds[round].node > 0 && median > 0)
        relative[round] = rate(host, rounds[round]) / median;
    }
    return relative;
  }
  /// Those that there are.
  std::vector<double> relative_rounds(std::size_t host) {
    auto relative = rounds_over_median(host);
    std::erase(relative, 0.0);
    return relative;
  }

 private:
  double rate(std::size_t host, const PassTimes& pass) const {
    return bytes_of_host(fleet_, fleet_.hosts[host], kernel_) / pass.node;
  }
  double round_median(std::size_t round) {
    if (!fleet_.at_once) return *median_;
    while (round_medians_.size() <= round) {
      std::vector<double> values;
      for (std::size_t host : hosts_) {
        const auto rounds = counted_rounds(fleet_.hosts[host], kernel_);
        const std::size_t at = round_medians_.size();
        if (at < rounds.size() && rounds[at].node > 0) values.push_back(rate(host, rounds[at]));
      }
      round_medians_.push_back(values.empty() ? 0 : median_of(std::move(values)));
    }
    return round_medians_[round];
  }

  const Fleet& fleet_;
  std::size_t kernel_;
  std::vector<std::size_t> hosts_;
  std::vector<double> rates_;
  std::optional<double> median_;       ///< of the rates
  std::vector<double> round_medians_;  ///< made when they are asked for
};

std::vector<std::vector<std::size_t>> hosts_by_kind(const Fleet& fleet) {
  std::vector<std::vector<std::size_t>> kinds(fleet.kinds.size());
  for (std::size_t host = 0; host < fleet.hosts.size(); ++host)
    kinds[fleet.hosts[host].kind].push_back(host);
  return kinds;
}

std::vector<std::string> names_of(const Fleet& fleet, const std::vector<std::size_t>& hosts) {
  std::vector<std::string> names;
  for (std::size_t host : hosts) names.push_back(fleet.hosts[host].name);
  return names;
}

bool has_times(const Fleet& fleet, const FleetHost& host) {
  for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel)
    if (times_of(fleet, host, kernel)) return true;
  return false;
}

void leave_unjudged(const Fleet& fleet, const std::vector<std::size_t>& hosts,
                    const std::string& why, SlowReport& report) {
  report.not_judged.push_back(names_text(names_of(fleet, hosts)) + ": " + why);
  report.unjudged.insert(report.unjudged.end(), hosts.begin(), hosts.end());
}

/// Removes the hosts for which `holds` is false, and returns them.
template <class Holds>
std::vector<std::size_t> remove_unless(std::vector<std::size_t>& hosts, Holds holds) {
  const auto others = std::stable_partition(hosts.begin(), hosts.end(), holds);
  std::vector<std::size_t> taken(others, hosts.end());
  hosts.erase(others, hosts.end());
  return taken;
}

/// Removes the hosts that have nothing to compare, and says so.
void drop_unfinished(const Fleet& fleet, std::vector<std::size_t>& hosts, SlowReport& report) {
  const auto without =
      remove_unless(hosts, [&](std::size_t host) { return has_times(fleet, fleet.hosts[host]); });
  if (!without.empty()) leave_unjudged(fleet, without, "no finished round", report);
}

/// Takes away the hosts of a kind that have too few others to be compared with in any kernel.
void drop_lonely(const Fleet& fleet, std::size_t kind, const SlowRule& rule,
                 std::vector<std::size_t>& hosts, SlowReport& report) {
  const std::size_t all = hosts.size();
  std::set<std::size_t> comparable;
  for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
    const KindTimes times(fleet, hosts, kernel);
    if (times.hosts().size() >= rule.least_hosts)
      comparable.insert(times.hosts().begin(), times.hosts().end());
  }
  const auto lonely =
      remove_unless(hosts, [&](std::size_t host) { return comparable.contains(host); });
  if (lonely.empty()) return;
  const std::string kind_text = to_text(fleet.kinds[kind]);
  leave_unjudged(fleet, lonely,
                 all < rule.least_hosts
                     ? fmt::format("only {} of this kind ({}); at least {} are required", all,
                                   kind_text, rule.least_hosts)
                     : fmt::format("fewer than {} of this kind ({}) ran the same kernels, array "
                                   "sizes, memory and instruction set",
                                   rule.least_hosts, kind_text),
                 report);
}

void judge_kernel(KindTimes& times, std::size_t kernel, const SlowRule& rule,
                  std::map<std::size_t, SlowHost>& found) {
  if (times.hosts().size() < rule.least_hosts) return;
  const Peers peers = peers_of(times.rates(), rule);
  for (std::size_t i = 0; i < times.hosts().size(); ++i) {
    const std::size_t host = times.hosts()[i];
    // The rounds are looked at for those only that the first two conditions leave.
    if (!compare(times.rates()[i], peers, {}, rule)) continue;
    auto slow = compare(times.rates()[i], peers, times.relative_rounds(host), rule);
    if (!slow) continue;
    slow->kernel = kernel;
    SlowHost& entry = found[host];
    entry.host = host;
    entry.peers = std::max(entry.peers, peers.count);
    entry.kernels.push_back(*slow);
  }
}

/// A host's rounds over all kernels.
struct RoundsTogether {
  std::size_t host = 0;
  std::vector<double> rounds;  ///< each the median over kernels of rates over their medians
  double score = 0;            ///< their median
};

/// Of the hosts that have enough rounds of every kernel.
std::vector<RoundsTogether> rounds_together(std::vector<KindTimes>& kernels,
                                            const std::vector<std::size_t>& hosts) {
  std::vector<RoundsTogether> all;
  for (const std::size_t host : hosts) {
    std::vector<std::vector<double>> relative;
    for (KindTimes& times : kernels) relative.push_back(times.rounds_over_median(host));
    RoundsTogether one{host, {}, 0};
    for (std::size_t round = 0; round < relative.front().size(); ++round) {
      std::vector<double> of_round;
      for (const auto& rounds : relative)
        if (round < rounds.size() && rounds[round] > 0) of_round.push_back(rounds[round]);
      if (of_round.size() == kernels.size()) one.rounds.push_back(median_of(std::move(of_round)));
    }
    if (one.rounds.size() < enough_rounds) continue;
    one.score = median_of(one.rounds);
    all.push_back(std::move(one));
  }
  return all;
}

void judge_together(const Fleet& fleet, std::vector<KindTimes>& kernels,
                    const std::vector<std::size_t>& hosts, const SlowRule& rule,
                    std::map<std::size_t, SlowHost>& found) {
  if (!fleet.at_once || kernels.empty()) return;
  const std::vector<RoundsTogether> all = rounds_together(kernels, hosts);
  if (all.size() < rule.least_hosts) return;
  std::vector<double> scores;
  for (const RoundsTogether& one : all) scores.push_back(one.score);
  SlowRule fine = rule;
  fine.least_spread = rule.least_spread / 2;  // medians of medians vary less
  const Peers peers = peers_of(scores, fine);
  if (!(peers.spread > 0)) return;
  std::vector<double> chances;
  for (const RoundsTogether& one : all)
    chances.push_back(chance_of((peers.median - one.score) / peers.spread, peers));
  const std::vector<bool> named = standing(chances, rule.false_share);
  const double least = peers.median * (1 - rule.drop_together);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RoundsTogether& one = all[i];
    if (!named[i] || one.score >= least || third_best(one.rounds) >= least) continue;
    SlowHost& entry = found[one.host];
    entry.host = one.host;
    entry.peers = std::max(entry.peers, peers.count);
    SlowTogether& slow = entry.together.emplace();
    slow.drop = 1 - one.score / peers.median;
    slow.mads = (peers.median - one.score) / peers.spread;
    slow.rounds = one.rounds.size();
    for (const double round : one.rounds) slow.slow_rounds += round < least ? 1 : 0;
  }
}

/// The same host in the retest; nullptr where it is not.
const FleetHost* again(const Retest& retest, const FleetHost& host) {
  for (const FleetHost& other : retest.hosts)
    if (other.name == host.name && other.kind == host.kind) return &other;
  return nullptr;
}

/// A host of the retest over the median of those beside it that are not suspected; nullopt where
/// one of them has no times of that kernel.
std::optional<double> over_partners(const Fleet& fleet, const FleetHost& mine,
                                    const SlowReport& report, std::size_t kernel) {
  const auto times = times_of(fleet, mine, kernel);
  std::vector<double> partners;
  for (const FleetHost& other : fleet.retest->hosts) {
    const bool suspect = std::ranges::any_of(report.hosts, [&](const SlowHost& one) {
      return fleet.hosts[one.host].name == other.name;
    });
    const auto its = times_of(fleet, other, kernel);
    if (!suspect && other.kind == mine.kind && its) partners.push_back(its->rate);
  }
  if (!times || partners.empty()) return std::nullopt;
  return times->rate / median_of(std::move(partners));
}

Verdict verdict_of(const Fleet& fleet, const SlowHost& slow, const SlowReport& report,
                   const SlowRule& rule) {
  if (!fleet.retest) return Verdict::suspected;
  const FleetHost* const mine = again(*fleet.retest, fleet.hosts[slow.host]);
  if (mine == nullptr) return Verdict::suspected;
  bool compared = false;
  for (const SlowKernel& kernel : slow.kernels) {
    const auto part = over_partners(fleet, *mine, report, kernel.kernel);
    if (part && *part < 1 - rule.drop) return Verdict::confirmed;
    compared = compared || part;
  }
  if (!slow.together) return compared ? Verdict::not_confirmed : Verdict::suspected;
  std::vector<double> parts;
  for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel)
    if (const auto part = over_partners(fleet, *mine, report, kernel)) parts.push_back(*part);
  if (parts.empty()) return Verdict::suspected;
  return median_of(std::move(parts)) < 1 - rule.drop_together ? Verdict::confirmed
                                                              : Verdict::not_confirmed;
}

std::string of_rounds_text(std::size_t slow, std::size_t all) {
  return slow == all ? "every round" : fmt::format("{} of {} rounds", slow, all);
}

std::string rounds_text(const SlowKernel& slow) {
  switch (slow.evidence) {
    case Evidence::none:
      return slow.rounds == 0 ? "by averages, which a single bad round can change"
                              : "in the only round";
    case Evidence::range:
      return fmt::format("in each of {} rounds, which are too few to be certain", slow.rounds);
    case Evidence::interval: break;
  }
  return of_rounds_text(slow.slow_rounds, slow.rounds);
}

}  // namespace

std::string percent_text(double part) {
  return part >= 0.0995 ? fmt::format("{:.0f} %", part * 100) : fmt::format("{:.1f} %", part * 100);
}

std::string names_text(const std::vector<std::string>& names) {
  // A list of all would bury what is said of them.
  constexpr std::size_t most_named = 3;
  const std::size_t named =
      names.size() == most_named + 1 ? names.size() : std::min(names.size(), most_named);
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (named < names.size()) text += fmt::format(" and {} more", names.size() - named);
  return text;
}

std::string to_text(const SlowRule& rule) {
  return fmt::format(
      "over {:g} % and {:g} MAD below the median of its kind, or over {:g} % in all kernels "
      "together",
      rule.drop * 100, rule.mads, rule.drop_together * 100);
}

Peers peers_of(std::vector<double> values, const SlowRule& rule) {
  Peers peers;
  peers.count = values.size();
  if (values.empty()) return peers;
  peers.median = median_of(values);
  for (double& value : values) value = std::abs(value - peers.median);
  peers.spread =
      std::max(mad_to_deviation * small_sample_factor(peers.count) * median_of(std::move(values)),
               rule.least_spread * peers.median);
  return peers;
}

std::vector<bool> standing(const std::vector<double>& chances, double false_share) {
  std::vector<std::size_t> order(chances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return chances[i]; });
  std::size_t named = order.size();
  const auto n = static_cast<double>(order.size());
  while (named > 0 && chances[order[named - 1]] > false_share * static_cast<double>(named) / n)
    --named;
  std::vector<bool> stand(chances.size(), false);
  for (std::size_t i = 0; i < named; ++i) stand[order[i]] = true;
  return stand;
}

double chance_of(double mads, const Peers& peers) {
  const boost::math::students_t distribution(static_cast<double>(peers.count - 1));
  return cdf(complement(distribution, mads));
}

std::optional<SlowKernel> compare(double rate, const Peers& peers, std::vector<double> relative,
                                  const SlowRule& rule) {
  if (!(peers.median > 0)) return std::nullopt;
  SlowKernel slow;
  slow.rate = rate;
  slow.median = peers.median;
  slow.drop = (peers.median - rate) / peers.median;
  // At 0 the floor is off: then any distance is infinitely many deviations.
  slow.mads = (peers.median - rate) / peers.spread;
  if (!(slow.drop > rule.drop) || !(slow.mads > rule.mads)) return std::nullopt;
  slow.rounds = relative.size();
  for (double one : relative) slow.slow_rounds += one < 1 - rule.drop ? 1 : 0;
  slow.evidence = Evidence::none;
  if (relative.size() < 2) return slow;
  const auto summary = summarize(relative);
  slow.evidence = summary->ci_high ? Evidence::interval : Evidence::range;
  if (summary->ci_high.value_or(summary->max) >= 1) return std::nullopt;
  // Half of it, as rounds vary more than their median.
  if (relative.size() >= enough_rounds && third_best(relative) >= 1 - rule.drop / 2)
    return std::nullopt;
  return slow;
}

SlowReport find_slow(const Fleet& fleet, const SlowRule& rule) {
  SlowReport report;
  report.rule = rule;
  std::map<std::size_t, SlowHost> found;
  auto kinds = hosts_by_kind(fleet);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    std::vector<std::size_t>& hosts = kinds[kind];
    drop_unfinished(fleet, hosts, report);
    drop_lonely(fleet, kind, rule, hosts, report);
    report.judged += hosts.size();
    std::vector<KindTimes> kernels;
    for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel)
      kernels.emplace_back(fleet, hosts, kernel);
    for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel)
      judge_kernel(kernels[kernel], kernel, rule, found);
    judge_together(fleet, kernels, hosts, rule, found);
  }
  std::ranges::sort(report.unjudged);
  for (auto& [index, host] : found) {
    std::ranges::stable_sort(host.kernels, std::greater<>(), &SlowKernel::drop);
    report.hosts.push_back(std::move(host));
  }
  std::ranges::stable_sort(report.hosts, std::greater<>(), worst_drop);
  for (SlowHost& host : report.hosts) host.verdict = verdict_of(fleet, host, report, rule);
  return report;
}

std::string to_text(const SlowKernel& slow, const std::string& median) {
  return fmt::format("{} below {}, {:.1f} MAD, {}", percent_text(slow.drop), median, slow.mads,
                     rounds_text(slow));
}

double worst_drop(const SlowHost& slow) {
  return std::max(slow.kernels.empty() ? 0 : slow.kernels.front().drop,
                  slow.together ? slow.together->drop : 0);
}

std::string also_text(const Fleet& fleet, const std::vector<SlowKernel>& kernels) {
  std::string text;
  for (std::size_t i = 1; i < kernels.size(); ++i)
    text += fmt::format("{} {} {}", i == 1 ? "; also" : ",",
                        full_name(fleet.kernels[kernels[i].kernel]), percent_text(kernels[i].drop));
  return text;
}

std::string to_text(const Fleet& fleet, const SlowHost& slow) {
  const std::string median = fmt::format("the median of {} nodes", slow.peers);
  std::string text = fleet.hosts[slow.host].name + ": ";
  if (slow.kernels.empty()) {
    text += fmt::format("all kernels together {} below {}, {:.1f} MAD, {}",
                        percent_text(slow.together->drop), median, slow.together->mads,
                        of_rounds_text(slow.together->slow_rounds, slow.together->rounds));
  } else {
    const SlowKernel& worst = slow.kernels.front();
    text += fmt::format("{} {}", full_name(fleet.kernels[worst.kernel]), to_text(worst, median));
  }
  text += also_text(fleet, slow.kernels);
  if (slow.verdict == Verdict::confirmed) text += "; confirmed by a second run";
  if (slow.verdict == Verdict::not_confirmed) text += "; not confirmed by a second run";
  return text;
}

std::vector<std::size_t> hosts_to_retest(const Fleet& fleet, const SlowReport& slow) {
  std::vector<std::size_t> chosen;
  const auto kinds = hosts_by_kind(fleet);
  for (const auto& hosts : kinds) {
    std::vector<std::size_t> suspects;
    for (const SlowHost& one : slow.hosts)
      if (std::ranges::find(hosts, one.host) != hosts.end()) suspects.push_back(one.host);
    if (suspects.empty()) continue;
    // The farthest that a host is from the median in any kernel.
    std::map<std::size_t, double> distance;
    for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
      const KindTimes times(fleet, hosts, kernel);
      if (times.hosts().empty()) continue;
      const double median = median_of(times.rates());
      for (std::size_t i = 0; i < times.hosts().size(); ++i) {
        double& its = distance[times.hosts()[i]];
        its = std::max(its, std::abs(times.rates()[i] / median - 1));
      }
    }
    std::vector<std::pair<double, std::size_t>> healthy;
    for (const auto& [host, far] : distance)
      if (std::ranges::find(suspects, host) == suspects.end()) healthy.emplace_back(far, host);
    std::ranges::sort(healthy);
    // One or two could themselves have a bad moment.
    constexpr std::size_t least_partners = 3;
    healthy.resize(std::min(healthy.size(), std::max(suspects.size(), least_partners)));
    chosen.insert(chosen.end(), suspects.begin(), suspects.end());
    for (const auto& [far, host] : healthy) chosen.push_back(host);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace numatlas
