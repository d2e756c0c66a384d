#include "analysis/peers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <unordered_map>

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

/// What a host gave of one row as a rate, of which more is better.
struct Rate {
  double rate = 0;
  std::optional<double> highest;  ///< the end of its interval that speaks for it
  std::vector<double> rounds;     ///< each; 0 for one that did not end; empty: none is known
  const Row* row = nullptr;
  const Rows* run = nullptr;
};

/// nullopt where the row says nothing.
std::optional<Rate> rate_of(const Row& row, const Rows* run = nullptr) {
  if (!row.estimate || !(row.estimate->value > 0)) return std::nullopt;
  const Estimate& its = *row.estimate;
  // Rounds say how sure it is.
  if (row.level == RowLevel::whole && row.host)
    return Rate{its.value, std::nullopt, row.rounds, &row, run};
  if (!row.problem.empty() || !its.low || row.unit.better() == Better::neither) return std::nullopt;
  if (row.unit.better() == Better::higher) return Rate{its.value, its.high, {}, &row, run};
  if (!(*its.low > 0)) return std::nullopt;
  return Rate{1 / its.value, 1 / *its.low, {}, &row, run};
}

/// How far a rate is below what it is expected to be.
struct Drop {
  const Row* row = nullptr;  ///< nullptr: of all together
  double rate = 0, median = 0;
  double drop = 0;  ///< relative, > 0
  std::optional<double> deviations;
  std::size_t rounds = 0, slow_rounds = 0;  ///< rounds in which it was more than `drop` below
  /// What says that it is below the median in more than a moment.
  enum { interval, range, none } evidence = interval;
};

/// A rate against its peers by distance alone: nullopt unless it is slow by drop and deviations.
std::optional<Drop> far_below(const Rate& mine, const Uncertain& peers, const SlowRule& rule) {
  const double median = peers.value;
  if (!(median > 0)) return std::nullopt;
  Drop slow;
  slow.row = mine.row;
  slow.rate = mine.rate;
  slow.median = median;
  slow.drop = (median - mine.rate) / median;
  // At 0 the floor is off: then any distance is infinitely many deviations.
  slow.deviations = (median - mine.rate) / peers.deviation();
  if (!(slow.drop > rule.drop) || !(slow.deviations > rule.mads)) return std::nullopt;
  return slow;
}

/// Whether its own interval says so too. `relative`: its rounds over what is expected of each.
bool holds(Drop& slow, const std::optional<double>& highest, const std::vector<double>& relative,
           const SlowRule& rule) {
  slow.rounds = relative.size();
  for (const double one : relative) slow.slow_rounds += one < 1 - rule.drop ? 1 : 0;
  slow.evidence = relative.empty() && highest ? Drop::interval : Drop::none;
  if (relative.size() < 2) return !highest || *highest < slow.median;
  const auto summary = summarize(relative);
  slow.evidence = summary->ci_high ? Drop::interval : Drop::range;
  if (summary->ci_high.value_or(summary->max) >= 1) return false;
  // Half of it, as rounds vary more than their median.
  return relative.size() < enough_rounds || third_best(relative) < 1 - rule.drop / 2;
}

/// "every round", "in each of 4 rounds, which are too few to be certain".
std::string rounds_text(const Drop& slow) {
  if (slow.row == nullptr) return fmt::format("{} of {} rounds", slow.slow_rounds, slow.rounds);
  if (slow.rounds == 0)
    return slow.evidence == Drop::none ? "by averages, which a single bad round can change" : "";
  if (slow.evidence == Drop::none) return "in the only round";
  if (slow.evidence == Drop::range)
    return fmt::format("in each of {} rounds, which are too few to be certain", slow.rounds);
  return slow.slow_rounds == slow.rounds
             ? "every round"
             : fmt::format("{} of {} rounds", slow.slow_rounds, slow.rounds);
}

Case finding_of(const char* verdict, const std::string& host, const Drop& slow, FoundWith with) {
  with.evidence = rounds_text(slow);
  with.deviations = slow.deviations;
  const bool is_time = slow.row->unit.better() == Better::lower;
  return finding_of(verdict, host, *slow.row, is_time ? 1 / slow.rate : slow.rate,
                    is_time ? 1 / slow.median : slow.median, std::move(with));
}

/// Hosts with their rates: by row, then host.
struct Table {
  const std::vector<HostRows>& hosts;
  std::vector<std::vector<std::size_t>> kinds;  ///< hosts of each
  std::vector<std::string> kind_texts;
  std::vector<std::vector<std::optional<Rate>>> rates;
  bool again = false;  ///< some of them ran once more
};

Table table_of(const std::vector<HostRows>& hosts) {
  Table table{hosts, {}, {}, {}};
  std::vector<HostKind> kinds;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const HostKind mine = hosts[host].kind();
    const auto known =
        std::ranges::find_if(kinds, [&](const HostKind& kind) { return alike(kind, mine); });
    const auto kind = static_cast<std::size_t>(known - kinds.begin());
    if (known == kinds.end()) {
      kinds.push_back(mine);
      table.kind_texts.push_back(to_text(mine));
      table.kinds.emplace_back();
    }
    table.kinds[kind].push_back(host);
    for (const auto& [row, run] : hosts[host].rows) {
      const auto [place, is_new] = index.try_emplace(key_of(*row), index.size());
      if (is_new) table.rates.emplace_back(hosts.size());
      table.rates[place->second][host] = rate_of(*row, run);
      table.again = table.again || row->again;
    }
  }
  return table;
}

/// One row on the hosts of one kind.
class KindCase {
 public:
  KindCase(const Table& table, const std::vector<std::size_t>& hosts, std::size_t index)
      : rates_of_(table.rates[index]) {
    for (const std::size_t host : hosts) {
      const auto& its = rates_of_[host];
      if (!its) continue;
      hosts_.push_back(host);
      rates_.push_back(its->rate);
      ++hosts_of_run_[its->run];
    }
    if (!rates_.empty()) median_ = median_of(rates_);
  }
  const std::vector<std::size_t>& hosts() const { return hosts_; }
  const std::vector<double>& rates() const { return rates_; }
  double median() const { return median_; }
  const Rate& of(std::size_t host) const { return *rates_of_[host]; }

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

 private:
  /// Over the hosts of that run; of fewer than three the median of all stands for it.
  double round_median(const Rows* run, std::size_t round) {
    if (hosts_of_run_[run] < 3) return median_;
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

  const std::vector<std::optional<Rate>>& rates_of_;
  std::vector<std::size_t> hosts_;
  std::vector<double> rates_;
  double median_ = 0;  ///< of the rates
  std::map<const Rows*, std::size_t> hosts_of_run_;
  std::map<const Rows*, std::vector<double>> round_medians_;  ///< made when asked for
};

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

std::vector<double> rates_of(const PastRow& one) {
  std::vector<double> rates;
  for (const auto& [row, started] : one.earlier) rates.push_back(rate_of(*row)->rate);
  return rates;
}

/// A host that is slow.
struct Suspect {
  std::size_t peers = 0;         ///< hosts of its kind that were compared, itself included
  std::vector<Drop> rows;        ///< empty where none shows it by itself
  std::optional<Drop> together;  ///< where all kernels together show it

  bool has(const Row* row) const { return std::ranges::find(rows, row, &Drop::row) != rows.end(); }
  double worst() const {
    double most = together ? together->drop : 0;
    for (const Drop& one : rows) most = std::max(most, one.drop);
    return most;
  }
};

/// The judge of hosts, of one kind after the other.
class PeerJudge {
 public:
  PeerJudge(const Table& table, const SlowRule& rule) : table_(table), rule_(rule) {
    for (std::size_t kind = 0; kind < table.kinds.size(); ++kind) {
      std::vector<KindCase> cases;  // that enough hosts of the kind have
      for (std::size_t i = 0; i < table.rates.size(); ++i) {
        KindCase one(table, table.kinds[kind], i);
        if (one.hosts().size() >= rule.least_hosts) cases.push_back(std::move(one));
      }
      judge_each(cases);
      for (const KindCase& one : cases) judge_groups(one);
      if (!cases.empty()) judge_together(cases, table.kinds[kind]);
      say_unjudged(cases, kind);
    }
  }

  const std::map<std::size_t, Suspect>& suspects() const { return found_; }
  Judged judged() const;

 private:
  Suspect& entry(std::size_t host, std::size_t peers) {
    Suspect& suspect = found_[host];
    suspect.peers = std::max(suspect.peers, peers);
    return suspect;
  }

  /// Each row by itself; of all that are unlikely those stand that so many may show.
  void judge_each(std::vector<KindCase>& cases) {
    std::vector<double> chances;
    struct Unlikely {
      std::size_t at, host, peers;  // at: of its chance
      Drop slow;
    };
    std::vector<Unlikely> found;
    for (KindCase& one : cases) {
      const Uncertain peers = reference_of_peers(one.rates(), rule_.least_spread);
      for (const std::size_t host : one.hosts()) {
        chances.push_back(chance_below(difference({one.of(host).rate}, peers)));
        auto slow = far_below(one.of(host), peers, rule_);
        if (!slow) continue;
        std::vector<double> relative = one.rounds_over_median(host);
        std::erase(relative, 0.0);
        if (holds(*slow, one.of(host).highest, relative, rule_))
          found.push_back({chances.size() - 1, host, one.hosts().size(), *slow});
      }
    }
    const auto stand = standing(chances, Procedure::benjamini_hochberg, rule_.false_share);
    for (const Unlikely& one : found)
      if (stand[one.at]) entry(one.host, one.peers).rows.push_back(one.slow);
  }

  /// Where hosts fall into two groups, the slower ones are slow against the median of the others.
  void judge_groups(const KindCase& one) {
    std::vector<double> sorted = one.rates();
    std::ranges::sort(sorted);
    const std::size_t slower = slower_group(sorted, rule_);
    if (slower == 0) return;
    const auto split = sorted.begin() + static_cast<std::ptrdiff_t>(slower);
    const Uncertain fast = reference_of_peers({split, sorted.end()}, rule_.least_spread);
    const TwoGroups two{1 - median_of(std::vector<double>(sorted.begin(), split)) / fast.value,
                        sorted.size() - slower, slower};
    bool any = false;
    for (const std::size_t host : one.hosts()) {
      const Rate& mine = one.of(host);
      if (mine.rate >= *split) continue;
      const auto slow = far_below(mine, fast, rule_);
      if (!slow || (mine.highest && *mine.highest >= fast.value)) continue;
      Suspect& suspect = entry(host, one.hosts().size());
      if (suspect.has(mine.row)) continue;  // it is far from all
      suspect.rows.push_back(*slow);
      any = true;
    }
    if (any && (!groups_ || two.apart > groups_->apart)) groups_ = two;
  }

  void judge_together(std::vector<KindCase>& cases, const std::vector<std::size_t>& hosts);
  void judge_run(std::vector<KindCase>& cases, const std::vector<std::size_t>& hosts);
  void say_unjudged(const std::vector<KindCase>& cases, std::size_t kind);
  std::optional<double> over_partners(std::size_t host, std::size_t index) const;
  std::optional<bool> confirmed(std::size_t host, const Suspect& suspect) const;

  const Table& table_;
  const SlowRule& rule_;
  std::map<std::size_t, Suspect> found_;
  std::map<std::size_t, std::string> unjudged_;
  std::optional<TwoGroups> groups_;
};

/// A host's rounds over all rows.
struct RoundsTogether {
  std::size_t host = 0;
  std::vector<double> rounds;  ///< each the median over rows of rates over their medians
  double score = 0;            ///< their median
};

/// Of the hosts that have enough rounds of every row.
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

/// Hosts whose rates are all of one run, by that run.
void PeerJudge::judge_together(std::vector<KindCase>& cases,
                               const std::vector<std::size_t>& hosts) {
  std::map<const Rows*, std::vector<std::size_t>> runs;
  for (const std::size_t host : hosts) {
    std::set<const Rows*> mine;
    for (const auto& rates : table_.rates)
      if (rates[host]) mine.insert(rates[host]->run);
    if (mine.size() == 1) runs[*mine.begin()].push_back(host);
  }
  for (const auto& [run, members] : runs) judge_run(cases, members);
}

void PeerJudge::judge_run(std::vector<KindCase>& cases, const std::vector<std::size_t>& hosts) {
  const std::vector<RoundsTogether> all = rounds_together(cases, hosts);
  if (all.size() < rule_.least_hosts) return;
  std::vector<double> scores, chances;
  for (const RoundsTogether& one : all) scores.push_back(one.score);
  // Medians of medians vary less.
  const Uncertain peers = reference_of_peers(scores, rule_.least_spread / 2);
  if (!(peers.variance > 0)) return;
  for (const RoundsTogether& one : all)
    chances.push_back(chance_below(difference({one.score}, peers)));
  const auto stand = standing(chances, Procedure::benjamini_hochberg, rule_.false_share);
  const double least = peers.value * (1 - rule_.drop_together);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RoundsTogether& one = all[i];
    if (!stand[i] || one.score >= least || third_best(one.rounds) >= least) continue;
    Drop& slow = entry(one.host, all.size()).together.emplace();
    slow.drop = 1 - one.score / peers.value;
    slow.deviations = (peers.value - one.score) / peers.deviation();
    slow.rounds = one.rounds.size();
    for (const double round : one.rounds) slow.slow_rounds += round < least ? 1 : 0;
  }
}

void PeerJudge::say_unjudged(const std::vector<KindCase>& cases, std::size_t kind) {
  std::set<std::size_t> compared;
  for (const KindCase& one : cases) compared.insert(one.hosts().begin(), one.hosts().end());
  std::vector<std::size_t> lonely;
  std::size_t measured = 0;
  for (const std::size_t host : table_.kinds[kind]) {
    const bool has_any = std::ranges::any_of(
        table_.rates, [&](const auto& rates) { return rates[host].has_value(); });
    measured += has_any ? 1 : 0;
    if (!has_any)
      unjudged_[host] = "it has no figure that can be compared";
    else if (!compared.contains(host))
      lonely.push_back(host);
  }
  for (const std::size_t host : lonely)
    unjudged_[host] = measured < rule_.least_hosts
                          ? fmt::format("only {} of this kind ({}); at least {} are required",
                                        measured, table_.kind_texts[kind], rule_.least_hosts)
                          : fmt::format("fewer than {} of this kind ({}) measured the same cases",
                                        rule_.least_hosts, table_.kind_texts[kind]);
}

/// A host that ran again over the median of those of its kind that are not suspected; nullopt where
/// one of them has no rate.
std::optional<double> PeerJudge::over_partners(std::size_t host, std::size_t index) const {
  const auto& rates = table_.rates[index];
  const auto again = [&](std::size_t one) {
    return rates[one] ? rates[one]->row->again : std::nullopt;
  };
  const auto kind = std::ranges::find_if(table_.kinds, [&](const auto& hosts) {
    return std::ranges::find(hosts, host) != hosts.end();
  });
  std::vector<double> partners;
  for (const std::size_t other : *kind)
    if (!found_.contains(other) && again(other)) partners.push_back(*again(other));
  if (!again(host) || partners.empty()) return std::nullopt;
  return *again(host) / median_of(std::move(partners));
}

/// By a second run; nullopt where there was none.
std::optional<bool> PeerJudge::confirmed(std::size_t host, const Suspect& suspect) const {
  std::vector<double> parts;
  for (std::size_t i = 0; table_.again && i < table_.rates.size(); ++i) {
    const auto part = over_partners(host, i);
    if (!part) continue;
    parts.push_back(*part);
    if (suspect.has(table_.rates[i][host]->row) && *part < 1 - rule_.drop) return true;
  }
  if (parts.empty()) return std::nullopt;
  return suspect.together && median_of(std::move(parts)) < 1 - rule_.drop_together;
}

Judged PeerJudge::judged() const {
  Judged all{{}, unjudged_, groups_};
  std::vector<std::pair<std::size_t, Suspect>> suspects(found_.begin(), found_.end());
  std::ranges::stable_sort(suspects, std::greater<>(),
                           [](const auto& one) { return one.second.worst(); });
  for (auto& [host, suspect] : suspects) {
    const auto sure = confirmed(host, suspect);
    const char* const verdict = sure.value_or(true) ? finding::slow : finding::cleared;
    const std::string& name = table_.hosts[host].name();
    FoundWith with{count_text(suspect.peers, "host")};
    if (sure) with.more = *sure ? "confirmed by a second run" : "not confirmed by a second run";
    std::ranges::stable_sort(suspect.rows, std::greater<>(), &Drop::drop);
    for (const Drop& slow : suspect.rows)
      all.findings.emplace_back(host, finding_of(verdict, name, slow, with));
    if (!suspect.rows.empty()) continue;
    Row together;
    together.command = table_.hosts[host].run->command;
    together.name = "all kernels together";
    together.unit = "B/s";
    Drop slow = *suspect.together;
    slow.row = nullptr;
    with.evidence = rounds_text(slow);
    with.deviations = slow.deviations;
    Case one = finding_of(verdict, name, together, 1 - slow.drop, 1, std::move(with));
    one.figures[0].estimate.reset();
    one.figures[1].estimate.reset();
    one.figures[2].estimate = -slow.drop;
    all.findings.emplace_back(host, std::move(one));
  }
  return all;
}

}  // namespace

std::vector<HostRows> hosts_of(const Rows& run, const std::string& metric) {
  std::vector<HostRows> hosts;
  for (std::size_t host = 0; host < run.hosts.size(); ++host) hosts.push_back({&run, host, {}});
  const auto is_time = [](const Row& row) { return row.unit.better() == Better::lower; };
  // What its flows tell stands in these: not the latency of a chase in the sum of rates beside it.
  std::set<std::pair<std::string, bool>> with_totals;
  for (const Row& row : run.rows)
    if (row.level == RowLevel::whole && !row.host) with_totals.emplace(row.case_key, is_time(row));
  for (const Row& row : run.rows) {
    const std::size_t host = row.host.value_or(0);
    if (host >= hosts.size() || row.is_empty() || (!metric.empty() && row.figure != metric))
      continue;
    if (!row.host && hosts.size() != 1) continue;
    if (row.level == RowLevel::flow || (row.level == RowLevel::derived && metric.empty())) continue;
    const bool told =
        row.level == RowLevel::lone_flow && with_totals.contains({row.case_key, is_time(row)});
    if (!told && rate_of(row)) hosts[host].rows.emplace_back(&row, &run);
  }
  return hosts;
}

Judged judge_peers(const std::vector<HostRows>& hosts, const SlowRule& rule) {
  const Table table = table_of(hosts);
  return PeerJudge(table, rule).judged();
}

std::vector<std::size_t> hosts_to_retest(const std::vector<HostRows>& hosts, const SlowRule& rule) {
  const Table table = table_of(hosts);
  const PeerJudge judge(table, rule);
  std::vector<std::size_t> chosen;
  for (const auto& of_kind : table.kinds) {
    const auto is_suspect = [&](std::size_t host) { return judge.suspects().contains(host); };
    const auto suspects = static_cast<std::size_t>(std::ranges::count_if(of_kind, is_suspect));
    if (suspects == 0) continue;
    // The farthest that a host is from the median in any row.
    std::map<std::size_t, double> distance;
    for (std::size_t i = 0; i < table.rates.size(); ++i) {
      const KindCase one(table, of_kind, i);
      for (const std::size_t host : one.hosts()) {
        double& its = distance[host];
        its = std::max(its, std::abs(one.of(host).rate / one.median() - 1));
      }
    }
    std::vector<std::pair<double, std::size_t>> healthy;
    for (const auto& [host, far] : distance)
      if (!is_suspect(host)) healthy.emplace_back(far, host);
    std::ranges::sort(healthy);
    // One or two could themselves have a bad moment.
    constexpr std::size_t least_partners = 3;
    healthy.resize(std::min(healthy.size(), std::max(suspects, least_partners)));
    std::ranges::copy_if(of_kind, std::back_inserter(chosen), is_suspect);
    for (const auto& [far, host] : healthy) chosen.push_back(host);
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<Case> judge_past(const std::vector<PastRow>& rows, const std::string& changed,
                             const SlowRule& rule) {
  std::vector<double> chances;
  std::vector<std::pair<std::size_t, Case>> suspects;
  for (const PastRow& one : rows) {
    if (one.earlier.size() < rule.least_hosts) continue;
    const std::vector<double> earlier = rates_of(one);
    const Rate newest = *rate_of(*one.newest);
    const std::size_t since = step_of(earlier, newest.rate, rule);
    const auto fell = earlier.begin() + static_cast<std::ptrdiff_t>(since);
    const Uncertain own = reference_of_peers({earlier.begin(), fell}, rule.least_spread);
    chances.push_back(chance_below(difference({newest.rate}, own)));
    auto slow = far_below(newest, own, rule);
    std::vector<double> relative = newest.rounds;
    std::erase(relative, 0.0);
    for (double& round : relative) round /= own.value;
    if (!slow || !holds(*slow, newest.highest, relative, rule)) continue;
    FoundWith with{count_text(since, "earlier run")};
    with.since = since < earlier.size() ? one.earlier[since].second : one.started;
    with.more = changed;
    suspects.emplace_back(chances.size() - 1, finding_of(finding::fell, one.host, *slow, with));
  }
  const auto stand = standing(chances, Procedure::benjamini_hochberg, rule.false_share);
  std::vector<Case> falls;
  for (auto& [at, fall] : suspects)
    if (stand[at]) falls.push_back(std::move(fall));
  return falls;
}

std::vector<Case> judge_fleet(const std::map<std::string, std::vector<PastRow>>& rows,
                              const SlowRule& rule) {
  std::vector<double> chances;
  std::vector<std::vector<Case>> suspects;
  for (const auto& [key, pasts] : rows) {
    if (pasts.size() < rule.least_hosts) continue;
    std::vector<double> changes;
    std::vector<Case> fallen;
    std::size_t fell = 0;
    for (const PastRow& one : pasts) {
      Drop slow;
      slow.row = one.newest;
      slow.rate = rate_of(*one.newest)->rate;
      slow.median = median_of(rates_of(one));
      slow.drop = 1 - slow.rate / slow.median;
      changes.push_back(std::log(slow.rate / slow.median));
      fell += slow.rate < slow.median * (1 - rule.drop) ? 1 : 0;
      FoundWith with{fmt::format("its last run, as {} hosts", pasts.size())};
      with.since = one.started;
      if (slow.drop > rule.drop)
        fallen.push_back(finding_of(finding::fell, one.host, slow, std::move(with)));
    }
    if (!is_most(fell, pasts.size())) continue;
    Uncertain change = mean_of(changes);
    change.variance = std::max(change.variance, rule.least_spread * rule.least_spread);
    chances.push_back(chance_below(change));
    suspects.push_back(std::move(fallen));
  }
  const auto stand = standing(chances, Procedure::benjamini_hochberg, rule.false_share);
  std::vector<Case> falls;
  for (std::size_t i = 0; i < suspects.size(); ++i)
    if (stand[i]) std::ranges::move(suspects[i], std::back_inserter(falls));
  return falls;
}

}  // namespace numatlas
