// Which candidate is best, by running all of them in turn: pure, but for the callback that runs
// one.
//
// Two stages. The screening runs every candidate once a round, in shuffled order, and drops those
// whose interval lies wholly behind the leader's. It saves time and proves nothing: of equal
// candidates it drops some. It chooses, so its figures are too good for whoever wins. The
// final runs the best few again beside "as it is", and every figure that is reported or claimed
// comes from its runs alone. Its number of rounds follows from the screening's spread (Stein's
// two-stage procedure), never from its own figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/estimate.h"

namespace numatlas {

/// A figure that a program prints itself, instead of its time.
class Metric {
 public:
  /// "time", or a regular expression (ECMAScript) with one group, around the number. `higher`: more
  /// of it is better. Errors (usage) name --metric.
  static Expected<Metric> parse(const std::string& text, bool higher);

  bool is_time() const { return is_time_; }
  bool higher() const { return higher_; }
  const std::string& text() const { return text_; }

  /// The number in an output, each of whose lines is searched. Error (usage) without the option's
  /// name: it is there never, or more than once, or is not positive.
  Expected<double> find_in(const std::string& output) const;
  /// What a race compares: less is better.
  double cost_of(double value) const { return higher_ ? 1 / value : value; }

 private:
  bool is_time_ = true, higher_ = false;
  std::string text_;
  std::regex pattern_;
};

struct RaceRule {
  std::size_t least_rounds = 4;  ///< of the screening, before a candidate is dropped
  std::size_t most_rounds = 10;
  double screening_part = 0.4;  ///< of the time, which the screening leaves when it has its least
  std::size_t least_final = 5;  ///< without which nothing is claimed
  std::size_t most_final = 40;
  std::size_t most_finalists = 2;  ///< beside "as it is"
  double precision = 0.01;         ///< half width of a gain that the final is to reach
  double risk = 0.05;              ///< of any false claim in the final
  double least_gain = 0;  ///< logarithm of the cost ratio below which a gain is none; not negative
};

/// What one run gave.
struct RunValue {
  std::optional<double> cost;  ///< positive; less is better
  std::string failure;         ///< why there is none: the candidate is out
  bool stopped = false;      ///< the user ended the race during this run, which counts for nothing
  bool out_of_time = false;  ///< the time ended it: it counts for nothing
};

/// The logarithm of the cost of one over other: its mean over the rounds in which both have one;
/// nullopt for fewer than two such rounds.
std::optional<Uncertain> log_ratio(std::span<const std::optional<double>> one,
                                   std::span<const std::optional<double>> other);

/// Rounds that an interval of this half width takes where rounds deviate so much.
std::size_t rounds_for(double precision, double deviation, double risk, std::size_t least,
                       std::size_t most);

/// One candidate's runs.
struct Lane {
  std::vector<std::optional<double>> screening, final;  ///< cost by round
  std::string failure;                                  ///< "" when all of its runs ended well
  std::optional<std::size_t> dropped_in;                ///< round of the screening, from 1
  bool finalist = false;
  /// The logarithm of its cost over that of "as it is", by rounds: of the final for finalists, else
  /// of the screening. The finalists' intervals hold together with 1 - risk.
  std::optional<Estimate> against_reference;
};

struct RaceResult {
  std::vector<Lane> lanes;  ///< by candidate; 0 is "as it is"
  std::size_t rounds = 0, final_rounds = 0;
  bool complete = false;            ///< false: stopped before the final had its rounds
  std::optional<std::size_t> best;  ///< surely better than "as it is"; nullopt: none is
  /// Where nothing is better: the lowest logarithm of a cost ratio that is left open, of all
  /// candidates that did not fail, together with 1 - risk. Those that were not finalists have it
  /// from the screening. nullopt where one of them, or every finalist, has too few runs.
  std::optional<double> open;
  std::optional<double> open_of_finalists;  ///< the same of the finalists alone
};

/// What goes on, before each run.
struct RaceProgress {
  bool final = false;
  std::size_t round = 0, rounds = 0;  ///< this one, from 1; how many are planned at most
  std::size_t candidate = 0, alive = 0;
};

struct RaceWork {
  std::function<RunValue(std::size_t candidate)> run;
  std::function<double()> seconds_left = {};  ///< none: no limit but the rule's rounds
  std::function<void(const RaceProgress&, const RaceResult&)> progress = {};
};

class Race {
 public:
  /// Candidate 0 is "as it is". The order of the runs follows from `seed`.
  Race(std::size_t candidates, const RaceRule& rule, std::uint64_t seed);
  RaceResult run(const RaceWork& work);

 private:
  enum class Go { on, stop };
  void screen();
  void run_final();
  Go run_round(std::vector<std::size_t> candidates, bool final, std::size_t planned);
  void drop_losers();
  void choose_finalists();
  void conclude();
  void bound();
  std::size_t final_rounds_wanted() const;
  std::vector<std::size_t> alive() const;
  bool time_for(const std::vector<std::size_t>& candidates, double reserve) const;
  double seconds_of(const std::vector<std::size_t>& candidates) const;
  double left() const;
  double final_risk() const;

  RaceRule rule_;
  std::mt19937_64 random_;
  const RaceWork* work_ = nullptr;
  RaceResult result_;
  std::vector<double> seconds_;  ///< of the last run of each
  bool stopped_ = false, out_of_time_ = false;
};

}  // namespace numatlas
