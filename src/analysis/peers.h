// The judge of hosts: which of them are slower than their peers, or than they were. Peers are the
// other hosts of a kind; a host's own earlier runs are its peers in time.
//
// A figure is slow where it lies more than `drop` below the median of its peers (as a rate: times
// count by their reciprocals), AND more than `mads` scaled median absolute deviations below it, AND
// its interval excludes that median (Hampel identifier; Hoefler & Belli SC'15 for the interval),
// AND it is too unlikely among all figures that were compared: their chances, by Student's t, are
// taken by the procedure of Benjamini and Hochberg, JRSS B 57 (1995), so that of those named about
// `false_share` is healthy. Hosts that are unusually fast are nobody's trouble.
//
// Where rounds are known, the interval is that of the host's rounds, each over the median of its
// kind in the same round: so what moves all hosts together (heat, a shared power limit) does not
// widen it. Rounds of hosts that were not measured at once are taken over the median of the kind.
// Below 6 rounds the interval does not exist; the range of the rounds stands for it (all of them
// below: 94 % sure of 5 rounds, 50 % of 2), and the words say so. One round has no interval: the
// other conditions decide alone. Of five rounds and more, the third-best must lie below by half of
// `drop` as well: a host that is disturbed now and then has good rounds.
//
// Where the hosts fall into two groups, of which the slower one has up to two thirds of them, its
// hosts are slow against the median of the faster one.
//
// Beside it stands a test of all figures together, which finds what no figure shows by itself: each
// rate over the median of its kind, round and figure; the median over the figures; the host's score
// is the median of its rounds. It takes rounds that all hosts made at once, five of them at least.
// Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/rows.h"

namespace numatlas {

/// From when on a host is slow.
struct SlowRule {
  double mads = 6;     ///< scaled by 1.4826, so that it is a standard deviation of normal noise
  double drop = 0.05;  ///< relative, in one kernel
  /// In all kernels together, which vary less.
  double drop_together = 0.015;
  /// The scaled MAD is at least this part of the median: among very even hosts any difference would
  /// be many deviations.
  double least_spread = 0.005;
  std::size_t least_hosts = 3;  ///< of a kind: below it nobody can say who is slow
  double false_share = 0.01;    ///< of those named for all kernels together
  friend bool operator==(const SlowRule&, const SlowRule&) = default;
};

/// Hosts of a kind in two groups, where neither is so small that it is the exception: the median of
/// all lies between them, so that no host is far from it.
struct TwoGroups {
  double apart = 0;                ///< of their medians, as a part of the faster one's
  std::size_t fast = 0, slow = 0;  ///< hosts
  friend bool operator==(const TwoGroups&, const TwoGroups&) = default;
};

/// A host of a run with its rows that can be judged, each with the run that it is of: round i of
/// hosts of one run was measured at once.
struct HostRows {
  const Rows* run = nullptr;
  std::size_t host = 0;
  std::vector<std::pair<const Row*, const Rows*>> rows;

  const std::string& name() const { return run->hosts[host]; }
  HostKind kind() const { return host < run->kinds.size() ? run->kinds[host] : HostKind{}; }
};
/// The hosts of a run. `metric`: only rows of this figure; "": all but those that follow from
/// others.
std::vector<HostRows> hosts_of(const Rows& run, const std::string& metric = "");
/// Of a row that hosts have in common.
inline const std::string& key_of(const Row& row) { return row.host ? row.host_key : row.key; }

/// Values of the label `finding`.
namespace finding {
inline constexpr const char *slow = "slow",  ///< than others
    *fell = "fell",                          ///< against its own past
        *low = "low",                        ///< what others published of such machines
            *below = "below",                ///< a limit of --expect
                *cleared = "cleared",        ///< slow at first, and not when run again
                    *normal = "normal",      ///< of figures beside what others published
                        *none = "none";      ///< of cases that tell of hosts as a whole
}  // namespace finding

/// What a figure was found with to be worse than it should be.
struct FoundWith {
  std::string against;                 ///< "8 hosts", "6 earlier runs", "--expect"
  std::string since{};                 ///< start of the first run of its own that is as slow
  std::string evidence{}, more{};      ///< "every round", "confirmed by a second run"
  std::optional<double> deviations{};  ///< scaled MADs
};
/// A case of the record: labels `finding`, `host`, `of_command`, `case`, `metric`, `against`,
/// `since`, `evidence`; figures `value` and `reference` (in the unit of the row), `change` (value
/// over reference, less 1) and `deviations`.
Case finding_of(const char* verdict, const std::string& host, const Row& row, double value,
                double reference, FoundWith with);
/// Whether it tells what was judged, and nothing that was measured.
bool is_finding(const Case& one);
/// How far it is from what it should be: its `change`.
double change_of(const Case& finding);

/// Who is slow.
struct Judged {
  /// `slow` and `cleared`, each with the index of its host; that with the largest drop first.
  std::vector<std::pair<std::size_t, Case>> findings;
  std::map<std::size_t, std::string> unjudged;  ///< hosts that were compared in no row, and why
  std::optional<TwoGroups> groups;              ///< those farthest apart

  /// Hosts that are slow, in that order.
  std::vector<std::size_t> slow_hosts() const;
};

/// At least `rule.least_hosts` of a kind have to have a row.
Judged judge_peers(const std::vector<HostRows>& hosts, const SlowRule& rule);

/// For a retest: the slow hosts, and as many of their kinds, at least three, that are nearest
/// to the median.
std::vector<std::size_t> hosts_to_retest(const std::vector<HostRows>& hosts, const SlowRule& rule);

/// A row of a host and the same of its earlier runs, in the order of their starts.
struct PastRow {
  std::string host;
  const Row* newest = nullptr;
  std::string started;                                      ///< the run of that
  std::vector<std::pair<const Row*, std::string>> earlier;  ///< with the start of each
};
/// Findings `fell` of a host; rows with fewer than `rule.least_hosts` earlier runs are not
/// compared. Where all runs from one on lie below all runs before it, those before are what is
/// expected, and it fell then. `changed`: what else did since, for the evidence.
std::vector<Case> judge_past(const std::vector<PastRow>& rows, const std::string& changed,
                             const SlowRule& rule);

/// Hosts whose own pasts are too short to judge them have one together: a fleet that fell from one
/// night to the next. `rows`: by their keys.
std::vector<Case> judge_fleet(const std::map<std::string, std::vector<PastRow>>& rows,
                              const SlowRule& rule);

/// Whether so many of all are nearly all: what they have in common is no matter of each.
inline bool is_most(std::size_t some, std::size_t all) { return some >= 3 && 4 * some >= 3 * all; }

// Words.

/// "two groups, 12 % apart: 10 and 10 hosts".
std::string to_text(const TwoGroups& groups);
/// "over 5 % and 6 MAD below the median of its kind, or over 1.5 % in all kernels together".
std::string to_text(const SlowRule& rule);
/// Why hosts were not judged: "cn1, cn4: only 2 of this kind (...)".
std::vector<std::string> unjudged_texts(const std::vector<std::string>& hosts,
                                        const Judged& judged);
/// "SLOW 2 of 7: cn2 (triad -20 %, copy -20 %), cn5 (copy -12 %); 1 not judged"; "OK: none of 6
/// hosts is slow; 0 not judged"; "NOT JUDGED: 1 host; none of 6 hosts is slow".
std::string answer_of(const std::vector<std::string>& hosts, const Judged& judged);
/// The same; `found`: "SLOW 2 of 7: ...", "" for none; `open`: what was not judged, "2 hosts (n1,
/// n2)". OK only where nothing leaves it open: neither that nor a host that is UNRELIABLE or
/// INCOMPLETE.
std::string hosts_answer(const std::string& found, std::size_t judged,
                         const std::vector<std::string>& open, std::size_t unreliable = 0,
                         std::size_t incomplete = 0);

/// One for each verdict that cases have; `mads` and `drop` of the rule stand below the first.
std::vector<View> views_of_findings(const std::vector<Case>& cases, const SlowRule& rule);

/// A figure that counts, or 0 or 1.
Figure plain_figure(const char* key, Unit unit, const std::optional<double>& value);

}  // namespace numatlas
