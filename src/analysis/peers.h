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

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

enum class Verdict { suspected, confirmed, not_confirmed };
const char* name_of(Verdict verdict);

/// What says that a host is below the median in more than a moment.
enum class Evidence { interval, range, none };
const char* name_of(Evidence evidence);

/// One kernel in which a host is slow.
struct SlowKernel {
  std::size_t kernel = 0;
  double rate = 0;    ///< bytes/s, the host's median
  double median = 0;  ///< of the hosts of its kind
  double drop = 0;    ///< relative, > 0
  double mads = 0;
  std::size_t rounds = 0, slow_rounds = 0;  ///< rounds in which it was more than `drop` below
  Evidence evidence = Evidence::interval;
  friend bool operator==(const SlowKernel&, const SlowKernel&) = default;
};

/// All kernels together.
struct SlowTogether {
  double drop = 0;  ///< relative, > 0: of the median over kernels, over the rounds
  double mads = 0;
  std::size_t rounds = 0, slow_rounds = 0;
  friend bool operator==(const SlowTogether&, const SlowTogether&) = default;
};

struct SlowHost {
  std::size_t host = 0;             ///< index into PeerInput::hosts
  std::size_t peers = 0;            ///< hosts of its kind that were compared, itself included
  std::vector<SlowKernel> kernels;  ///< the largest drop first; empty where none shows it by itself
  std::optional<SlowTogether> together = {};  ///< where all kernels together show it
  Verdict verdict = Verdict::suspected;       ///< from the retest, where there was one
  friend bool operator==(const SlowHost&, const SlowHost&) = default;
};

/// Hosts of a kind in two groups, where neither is so small that it is the exception: the median of
/// all lies between them, so that no host is far from it.
struct TwoGroups {
  double apart = 0;                ///< of their medians, as a part of the faster one's
  std::size_t fast = 0, slow = 0;  ///< hosts
  friend bool operator==(const TwoGroups&, const TwoGroups&) = default;
};
/// "two groups, 12 % apart: 10 and 10 hosts".
std::string to_text(const TwoGroups& groups);

/// Who is slow, by which rule.
struct SlowReport {
  SlowRule rule;
  std::vector<SlowHost> hosts;          ///< the largest drop first
  std::vector<std::string> not_judged;  ///< why hosts could not be judged, in words
  std::vector<std::size_t> unjudged;    ///< those hosts, ascending; the others were
  std::size_t judged = 0;               ///< hosts that were compared with others
  std::optional<TwoGroups> groups{};    ///< those farthest apart; the slower hosts are in `hosts`

  /// Number of them without those that a retest did not confirm.
  std::size_t slow() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        hosts, [](const SlowHost& host) { return host.verdict != Verdict::not_confirmed; }));
  }
  friend bool operator==(const SlowReport&, const SlowReport&) = default;
};

/// What a host gave of one case: rates, of which more is better.
struct PeerRate {
  double rate = 0;
  std::optional<double> highest{};  ///< the end of its interval that speaks for it
  std::vector<double> rounds{};     ///< each; 0 for one that did not end; empty: none is known
  /// Of which run it is: round i of hosts of one run was measured at once. 0: of none with others.
  std::size_t run = 0;
};

/// Hosts that measured the same cases.
struct PeerInput {
  std::vector<std::string> hosts;
  std::vector<std::size_t> kinds;                           ///< of each host: index into kind_texts
  std::vector<std::string> kind_texts;                      ///< "AMD EPYC 7742, 256 CPUs"
  std::vector<std::string> cases;                           ///< "triad"
  std::vector<std::vector<std::optional<PeerRate>>> rates;  ///< by case, then host
  /// Rates of suspects and healthy hosts that ran again; by case, then host. Empty: nobody did.
  std::vector<std::vector<std::optional<double>>> again{};
};

/// Indices in the report are those of `input`. At least `rule.least_hosts` of a kind have to have a
/// case; a host that has no such case is named in `not_judged`, with the reason.
SlowReport judge_peers(const PeerInput& input, const SlowRule& rule);

/// Hosts that were compared in no case, and why.
std::map<std::size_t, std::string> unjudged_hosts(const PeerInput& input, const SlowRule& rule);

/// The cases of a host against its own earlier runs (at least `rule.least_hosts`, else it is not
/// compared), the largest drop first; SlowKernel::kernel is the index of the case. Where all runs
/// from one on lie below all runs before it, those before are what is expected, and it fell then.
struct PastCase {
  PeerRate newest;
  std::vector<double> earlier;  ///< rates, in the order of their starts
};
struct Fall {
  SlowKernel drop;
  std::size_t runs = 0;   ///< earlier runs that it was compared with
  std::size_t since = 0;  ///< index of the first slow run; earlier.size(): the newest
};
std::vector<Fall> judge_past(const std::vector<PastCase>& cases, const SlowRule& rule);

/// For a retest: the slow hosts, and as many of their kinds, at least three, that are nearest
/// to the median.
std::vector<std::size_t> hosts_to_retest(const PeerInput& input, const SlowReport& slow);

/// "over 5 % and 6 MAD below the median of its kind, or over 1.5 % in all kernels together".
std::string to_text(const SlowRule& rule);
/// "SLOW 2 of 7: cn2 (triad -20 %, copy -20 %), cn5 (copy -12 %); 1 not judged"; "OK: none of 6
/// hosts is slow; 0 not judged"; "NOT JUDGED: 1 host; none of 6 hosts is slow".
std::string answer_of(const PeerInput& input, const SlowReport& slow);
/// The same; `found`: "SLOW 2 of 7: ...", "" for none; `open`: what was not judged, "2 hosts (n1,
/// n2)". OK only where nothing leaves it open: neither that nor a host that is UNRELIABLE or
/// INCOMPLETE.
std::string hosts_answer(const std::string& found, std::size_t judged,
                         const std::vector<std::string>& open, std::size_t unreliable = 0,
                         std::size_t incomplete = 0);
/// "every round", "in each of 4 rounds, which are too few to be certain".
std::string rounds_text(const SlowKernel& slow);
/// The largest of its drops.
double worst_drop(const SlowHost& slow);

}  // namespace numatlas
