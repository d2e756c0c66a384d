#include "analysis/peers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/judge.h"
#include "base/statistics.h"
#include "base/text.h"

namespace numatlas {
namespace {

/// From so many rounds on more than two good ones acquit a host: those that something disturbed now
/// and then are not slow.
constexpr std::size_t enough_rounds = 5;

/// Of three values or more.
double third_best(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + 2, values.end(), std::greater<>());
  return values[2];
}

/// A rate against its peers by distance alone: nullopt unless it is slow by drop and deviations.
std::optional<SlowKernel> far_below(double rate, const Uncertain& peers, const SlowRule& rule) {
  const double median = peers.value;
  if (!(median > 0)) return std::nullopt;
  SlowKernel slow;
  slow.rate = rate;
  slow.median = median;
  slow.drop = (median - rate) / median;
  // At 0 the floor is off: then any distance is infinitely many deviations.
  slow.mads = (median - rate) / peers.deviation();
  if (!(slow.drop > rule.drop) || !(slow.mads > rule.mads)) return std::nullopt;
  return slow;
}

/// Whether its own interval says so too. `relative`: its rounds over what is expected of each.
bool holds(SlowKernel& slow, const std::optional<double>& highest, std::vector<double> relative,
           const SlowRule& rule) {
  slow.rounds = relative.size();
  for (const double one : relative) slow.slow_rounds += one < 1 - rule.drop ? 1 : 0;
  slow.evidence = relative.empty() && highest ? Evidence::interval : Evidence::none;
  if (relative.size() < 2) return !highest || *highest < slow.median;
  const auto summary = summarize(relative);
  slow.evidence = summary->ci_high ? Evidence::interval : Evidence::range;
  if (summary->ci_high.value_or(summary->max) >= 1) return false;
  // Half of it, as rounds vary more than their median.
  return relative.size() < enough_rounds || third_best(relative) < 1 - rule.drop / 2;
}

/// One case on the hosts of one kind.
class KindCase {
 public:
  KindCase(const PeerInput& input, const std::vector<std::size_t>& hosts, std::size_t index)
      : rates_of_(input.rates[index]) {
    for (const std::size_t host : hosts) {
      const auto& its = rates_of_[host];
      if (!its || its->rate <= 0) continue;
      hosts_.push_back(host);
      rates_.push_back(its->rate);
      ++hosts_of_run_[its->run];
    }
    if (!rates_.empty()) median_ = median_of(rates_);
  }
  const std::vector<std::size_t>& hosts() const { return hosts_; }
  const std::vector<double>& rates() const { return rates_; }
  const PeerRate& of(std::size_t host) const { return *rates_of_[host]; }

  /// Each round of a host over the median of all hosts in that round; 0 where it has none.
  std::vector<double> rounds_over_median(std::size_t host) {
    if (!rates_of_[host]) return {};
    std::vector<double> relative = rates_of_[host]->rounds;
    for (std::size_t round = 0; round < relative.size(); ++round) {
      const double median = round_median(rates_of_[host]->run, round);
      relative[round] = median > 0 ? relative[round] / median : 0;
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
  /// Over the hosts of that run; of fewer than three the median of all stands for it.
  double round_median(std::size_t run, std::size_t round) {
    if (run == 0 || hosts_of_run_[run] < 3) return *median_;
    std::vector<double>& medians = round_medians_[run];
    while (medians.size() <= round) {
      std::vector<double> values;
      const std::size_t at = medians.size();
      for (const std::size_t host : hosts_) {
        const auto& rounds = rates_of_[host]->rounds;
        if (rates_of_[host]->run == run && at < rounds.size() && rounds[at] > 0)
          values.push_back(rounds[at]);
      }
      medians.push_back(values.empty() ? 0 : median_of(std::move(values)));
    }
    return medians[round];
  }

  const std::vector<std::optional<PeerRate>>& rates_of_;
  std::vector<std::size_t> hosts_;
  std::vector<double> rates_;
  std::optional<double> median_;  ///< of the rates
  std::map<std::size_t, std::size_t> hosts_of_run_;
  std::map<std::size_t, std::vector<double>> round_medians_;  ///< by run; made when asked for
};

std::vector<std::vector<std::size_t>> hosts_by_kind(const PeerInput& input) {
  std::vector<std::vector<std::size_t>> kinds(input.kind_texts.size());
  for (std::size_t host = 0; host < input.hosts.size(); ++host)
    kinds[input.kinds[host]].push_back(host);
  return kinds;
}

/// The cases that enough hosts of a kind have.
std::vector<KindCase> comparable_cases(const PeerInput& input,
                                       const std::vector<std::size_t>& hosts, const SlowRule& rule,
                                       std::vector<std::size_t>& indices) {
  std::vector<KindCase> found;
  for (std::size_t i = 0; i < input.cases.size(); ++i) {
    KindCase one(input, hosts, i);
    if (one.hosts().size() < rule.least_hosts) continue;
    found.push_back(std::move(one));
    indices.push_back(i);
  }
  return found;
}

using Found = std::map<std::size_t, SlowHost>;

SlowHost& entry_of(Found& found, std::size_t host, std::size_t peers) {
  SlowHost& entry = found[host];
  entry.host = host;
  entry.peers = std::max(entry.peers, peers);
  return entry;
}

void judge_each(std::vector<KindCase>& cases, const std::vector<std::size_t>& indices,
                const SlowRule& rule, Found& found) {
  struct Suspect {
    std::size_t at, host, peers;  // at: of its chance
    SlowKernel slow;
  };
  std::vector<double> chances;
  std::vector<Suspect> suspects;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    KindCase& one = cases[i];
    const Uncertain peers = reference_of_peers(one.rates(), rule.least_spread);
    for (std::size_t k = 0; k < one.hosts().size(); ++k) {
      const std::size_t host = one.hosts()[k];
      chances.push_back(chance_below(difference({one.rates()[k]}, peers)));
      auto slow = far_below(one.rates()[k], peers, rule);
      if (!slow || !holds(*slow, one.of(host).highest, one.relative_rounds(host), rule)) continue;
      slow->kernel = indices[i];
      suspects.push_back({chances.size() - 1, host, one.hosts().size(), *slow});
    }
  }
  const auto stand = standing(chances, Procedure::benjamini_hochberg, rule.false_share);
  for (const Suspect& suspect : suspects)
    if (stand[suspect.at])
      entry_of(found, suspect.host, suspect.peers).kernels.push_back(suspect.slow);
}

/// Number of the slower hosts, by the split that leaves the least variance within the groups; 0
/// where there are no two groups, or one is the exception. `sorted`: rates, the least first.
std::size_t slower_group(const std::vector<double>& sorted, const SlowRule& rule) {
  const std::size_t n = sorted.size(), least = std::max<std::size_t>(2, (n + 2) / 3);
  if (n < 4) return 0;
  // Sums of the first rates and of their squares, from the middle, so that each split is known at
  // once.
  const double middle = sorted[n / 2];
  std::vector<double> sums{0}, squares{0};
  for (const double rate : sorted) {
    sums.push_back(sums.back() + (rate - middle));
    squares.push_back(squares.back() + (rate - middle) * (rate - middle));
  }
  const auto mean = [&](std::size_t from, std::size_t to) {
    return (sums[to] - sums[from]) / static_cast<double>(to - from);
  };
  const auto around_mean = [&](std::size_t from, std::size_t to) {
    return squares[to] - squares[from] - (sums[to] - sums[from]) * mean(from, to);
  };
  std::size_t best = 0;
  double within = std::numeric_limits<double>::infinity(), apart = 0;
  for (std::size_t low = 2; low + least <= n; ++low) {
    const double sum = around_mean(0, low) + around_mean(low, n);
    if (sum >= within) continue;
    within = sum;
    best = low;
    apart = mean(low, n) - mean(0, low);
  }
  within = std::max(within, 0.0);
  const auto freedom = static_cast<double>(n) - 2;
  const double deviation = std::max(std::sqrt(within / freedom), rule.least_spread * middle);
  // Also the best split of normal values parts them by some deviations: of 6 by less than 23, of 10
  // by less than 10, of 20 by less than 6.1 in 99.99 % (simulated, 400,000 times each).
  const double far = std::min(30.0, 5.5 + 290 / (freedom * freedom));
  const bool are_two =
      best >= least && apart > far * deviation && apart > rule.drop * sorted.back();
  return are_two ? best : 0;
}

/// Where hosts fall into two groups, the slower ones are slow against the median of the others.
void judge_groups(const std::vector<KindCase>& cases, const std::vector<std::size_t>& indices,
                  const SlowRule& rule, Found& found, std::optional<TwoGroups>& groups) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const KindCase& one = cases[i];
    std::vector<double> sorted = one.rates();
    std::ranges::sort(sorted);
    const std::size_t slower = slower_group(sorted, rule);
    if (slower == 0) continue;
    const auto split = sorted.begin() + static_cast<std::ptrdiff_t>(slower);
    const Uncertain fast = reference_of_peers({split, sorted.end()}, rule.least_spread);
    const TwoGroups two{1 - median_of(std::vector<double>(sorted.begin(), split)) / fast.value,
                        sorted.size() - slower, slower};
    bool any = false;
    for (std::size_t k = 0; k < one.hosts().size(); ++k) {
      if (one.rates()[k] >= *split) continue;
      auto slow = far_below(one.rates()[k], fast, rule);
      const auto& highest = one.of(one.hosts()[k]).highest;
      if (!slow || (highest && *highest >= fast.value)) continue;
      slow->kernel = indices[i];
      SlowHost& host = entry_of(found, one.hosts()[k], one.hosts().size());
      if (std::ranges::find(host.kernels, slow->kernel, &SlowKernel::kernel) != host.kernels.end())
        continue;  // it is far from all
      host.kernels.push_back(*slow);
      any = true;
    }
    if (any && (!groups || two.apart > groups->apart)) groups = two;
  }
}

/// A host's rounds over all cases.
struct RoundsTogether {
  std::size_t host = 0;
  std::vector<double> rounds;  ///< each the median over cases of rates over their medians
  double score = 0;            ///< their median
};

/// Of the hosts that have enough rounds of every case.
std::vector<RoundsTogether> rounds_together(std::vector<KindCase>& cases,
                                            const std::vector<std::size_t>& hosts) {
  std::vector<RoundsTogether> all;
  for (const std::size_t host : hosts) {
    std::vector<std::vector<double>> relative;
    for (KindCase& one : cases) relative.push_back(one.rounds_over_median(host));
    RoundsTogether one{host, {}, 0};
    for (std::size_t round = 0; round < relative.front().size(); ++round) {
      std::vector<double> of_round;
      for (const auto& rounds : relative)
        if (round < rounds.size() && rounds[round] > 0) of_round.push_back(rounds[round]);
      if (of_round.size() == cases.size()) one.rounds.push_back(median_of(std::move(of_round)));
    }
    if (one.rounds.size() < enough_rounds) continue;
    one.score = median_of(one.rounds);
    all.push_back(std::move(one));
  }
  return all;
}

void judge_together(std::vector<KindCase>& cases, const std::vector<std::size_t>& hosts,
                    const SlowRule& rule, Found& found) {
  if (cases.empty()) return;
  const std::vector<RoundsTogether> all = rounds_together(cases, hosts);
  if (all.size() < rule.least_hosts) return;
  std::vector<double> scores;
  for (const RoundsTogether& one : all) scores.push_back(one.score);
  // Medians of medians vary less.
  const Uncertain peers = reference_of_peers(scores, rule.least_spread / 2);
  if (!(peers.variance > 0)) return;
  std::vector<double> chances;
  for (const RoundsTogether& one : all)
    chances.push_back(chance_below(difference({one.score}, peers)));
  const auto stand = standing(chances, Procedure::benjamini_hochberg, rule.false_share);
  const double least = peers.value * (1 - rule.drop_together);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RoundsTogether& one = all[i];
    if (!stand[i] || one.score >= least || third_best(one.rounds) >= least) continue;
    SlowTogether& slow = entry_of(found, one.host, all.size()).together.emplace();
    slow.drop = 1 - one.score / peers.value;
    slow.mads = (peers.value - one.score) / peers.deviation();
    slow.rounds = one.rounds.size();
    for (const double round : one.rounds) slow.slow_rounds += round < least ? 1 : 0;
  }
}

/// Hosts whose rates are all of one run, by that run.
std::vector<std::vector<std::size_t>> hosts_by_run(const PeerInput& input,
                                                   const std::vector<KindCase>& cases,
                                                   const std::vector<std::size_t>& hosts) {
  std::map<std::size_t, std::vector<std::size_t>> runs;
  for (const std::size_t host : hosts) {
    std::set<std::size_t> mine;
    for (const auto& rates : input.rates)
      if (rates[host]) mine.insert(rates[host]->run);
    if (!cases.empty() && mine.size() == 1 && *mine.begin() != 0)
      runs[*mine.begin()].push_back(host);
  }
  std::vector<std::vector<std::size_t>> all;
  for (auto& [run, members] : runs) all.push_back(std::move(members));
  return all;
}

/// A host that ran again over the median of those beside it that are not suspected; nullopt where
/// one of them has no rate.
std::optional<double> over_partners(const PeerInput& input, std::size_t host,
                                    const SlowReport& report, std::size_t index) {
  const auto& again = input.again[index];
  std::vector<double> partners;
  for (std::size_t other = 0; other < input.hosts.size(); ++other) {
    const bool suspect =
        std::ranges::find(report.hosts, other, &SlowHost::host) != report.hosts.end();
    if (!suspect && again[other] && input.kinds[other] == input.kinds[host])
      partners.push_back(*again[other]);
  }
  if (!again[host] || partners.empty()) return std::nullopt;
  return *again[host] / median_of(std::move(partners));
}

Verdict verdict_of(const PeerInput& input, const SlowHost& slow, const SlowReport& report,
                   const SlowRule& rule) {
  if (input.again.empty()) return Verdict::suspected;
  std::vector<double> parts;
  for (std::size_t i = 0; i < input.cases.size(); ++i) {
    const auto part = over_partners(input, slow.host, report, i);
    if (!part) continue;
    parts.push_back(*part);
    const bool named =
        std::ranges::find(slow.kernels, i, &SlowKernel::kernel) != slow.kernels.end();
    if (named && *part < 1 - rule.drop) return Verdict::confirmed;
  }
  if (parts.empty()) return Verdict::suspected;
  return slow.together && median_of(std::move(parts)) < 1 - rule.drop_together
             ? Verdict::confirmed
             : Verdict::not_confirmed;
}

/// The run from which on all lie below all before, by the widest gap, which is half of `drop` at
/// least; the number of earlier runs where there is none.
std::size_t step_of(const std::vector<double>& earlier, double newest, const SlowRule& rule) {
  std::vector<double> all = earlier;
  all.push_back(newest);
  std::size_t step = earlier.size();
  double widest = rule.drop / 2;
  for (std::size_t i = rule.least_hosts; i < earlier.size(); ++i) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
    const double before = *std::min_element(all.begin(), at);
    const double gap = 1 - *std::max_element(at, all.end()) / before;
    if (!(gap > widest)) continue;
    widest = gap;
    step = i;
  }
  return step;
}

}  // namespace

std::map<std::size_t, std::string> unjudged_hosts(const PeerInput& input, const SlowRule& rule) {
  std::map<std::size_t, std::string> reasons;
  const auto kinds = hosts_by_kind(input);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    std::vector<std::size_t> indices, lonely;
    std::set<std::size_t> compared;
    for (const KindCase& one : comparable_cases(input, kinds[kind], rule, indices))
      compared.insert(one.hosts().begin(), one.hosts().end());
    std::size_t measured = 0;
    for (const std::size_t host : kinds[kind]) {
      const bool has_any = std::ranges::any_of(
          input.rates, [&](const auto& rates) { return rates[host].has_value(); });
      measured += has_any ? 1 : 0;
      if (!has_any)
        reasons[host] = "it has no figure that can be compared";
      else if (!compared.contains(host))
        lonely.push_back(host);
    }
    for (const std::size_t host : lonely)
      reasons[host] = measured < rule.least_hosts
                          ? fmt::format("only {} of this kind ({}); at least {} are required",
                                        measured, input.kind_texts[kind], rule.least_hosts)
                          : fmt::format("fewer than {} of this kind ({}) measured the same cases",
                                        rule.least_hosts, input.kind_texts[kind]);
  }
  return reasons;
}

SlowReport judge_peers(const PeerInput& input, const SlowRule& rule) {
  SlowReport report;
  report.rule = rule;
  Found found;
  const auto kinds = hosts_by_kind(input);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    std::vector<std::size_t> indices;
    auto cases = comparable_cases(input, kinds[kind], rule, indices);
    judge_each(cases, indices, rule, found);
    judge_groups(cases, indices, rule, found, report.groups);
    for (const auto& hosts : hosts_by_run(input, cases, kinds[kind]))
      judge_together(cases, hosts, rule, found);
  }
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [host, reason] : unjudged_hosts(input, rule)) {
    report.unjudged.push_back(host);
    by_reason[reason].push_back(input.hosts[host]);
  }
  for (const auto& [reason, names] : by_reason)
    report.not_judged.push_back(names_text(names) + ": " + reason);
  report.judged = input.hosts.size() - report.unjudged.size();
  for (auto& [index, host] : found) {
    std::ranges::stable_sort(host.kernels, std::greater<>(), &SlowKernel::drop);
    report.hosts.push_back(std::move(host));
  }
  std::ranges::stable_sort(report.hosts, std::greater<>(), worst_drop);
  for (SlowHost& host : report.hosts) host.verdict = verdict_of(input, host, report, rule);
  return report;
}

std::vector<Fall> judge_past(const std::vector<PastCase>& cases, const SlowRule& rule) {
  std::vector<double> chances;
  std::vector<std::pair<std::size_t, Fall>> suspects;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [newest, earlier] = cases[i];
    if (earlier.size() < rule.least_hosts) continue;
    Fall fall;
    fall.since = step_of(earlier, newest.rate, rule);
    fall.runs = fall.since;
    const auto fell = earlier.begin() + static_cast<std::ptrdiff_t>(fall.since);
    const Uncertain own = reference_of_peers({earlier.begin(), fell}, rule.least_spread);
    chances.push_back(chance_below(difference({newest.rate}, own)));
    auto slow = far_below(newest.rate, own, rule);
    std::vector<double> relative = newest.rounds;
    std::erase(relative, 0.0);
    for (double& round : relative) round /= own.value;
    if (!slow || !holds(*slow, newest.highest, std::move(relative), rule)) continue;
    fall.drop = *slow;
    fall.drop.kernel = i;
    suspects.emplace_back(chances.size() - 1, fall);
  }
  const auto stand = standing(chances, Procedure::benjamini_hochberg, rule.false_share);
  std::vector<Fall> falls;
  for (const auto& [at, fall] : suspects)
    if (stand[at]) falls.push_back(fall);
  std::ranges::stable_sort(falls, std::greater<>(),
                           [](const Fall& fall) { return fall.drop.drop; });
  return falls;
}

double worst_drop(const SlowHost& slow) {
  return std::max(slow.kernels.empty() ? 0 : slow.kernels.front().drop,
                  slow.together ? slow.together->drop : 0);
}

std::vector<std::size_t> hosts_to_retest(const PeerInput& input, const SlowReport& slow) {
  std::vector<std::size_t> chosen;
  for (const auto& hosts : hosts_by_kind(input)) {
    std::vector<std::size_t> suspects;
    for (const SlowHost& one : slow.hosts)
      if (std::ranges::find(hosts, one.host) != hosts.end()) suspects.push_back(one.host);
    if (suspects.empty()) continue;
    // The farthest that a host is from the median in any case.
    std::map<std::size_t, double> distance;
    for (std::size_t i = 0; i < input.cases.size(); ++i) {
      const KindCase one(input, hosts, i);
      if (one.hosts().empty()) continue;
      const double median = median_of(one.rates());
      for (std::size_t k = 0; k < one.hosts().size(); ++k) {
        double& its = distance[one.hosts()[k]];
        its = std::max(its, std::abs(one.rates()[k] / median - 1));
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
