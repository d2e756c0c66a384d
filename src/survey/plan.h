// Which benchmarks a survey runs, how, and for how long; before anything is measured.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/parse.h"
#include "comm/comm.h"
#include "run/thinned.h"

namespace numatlas {

struct SurveyOptions {
  std::string folder = "report";
  Nanoseconds time{std::chrono::seconds(60)};  ///< of the whole survey
  std::vector<std::string> only, without;      ///< benchmarks; `only` empty: all
  /// Of benchmarks, instead of their own.
  std::map<std::string, std::vector<std::string>> words = {};
  std::string machine;       ///< recorded machine; "" for the live one
  std::string machine_type;  ///< the cloud's name of it; "": as the firmware says
  bool null_engine = false, quiet = false, dry_run = false, html = true;
  bool strict = false;  ///< unreliable figures are exit code 1
  bool force = false;   ///< replaces a survey of more benchmarks in the folder
  std::vector<std::string> arguments;
};

/// The command with the options that all ranks must have in common: "survey --time 60 s".
/// `only`: what --only says of that command.
std::string task_text(const std::string& command, const SurveyOptions& options,
                      const std::vector<std::string>& only);

/// One benchmark of a survey.
struct SurveyItem {
  std::string name;  ///< name_in_survey of its report
  std::string benchmark;
  std::vector<std::string> words;  ///< as `numatlas BENCHMARK WORDS...` takes them
  std::vector<std::string> full;   ///< these, where there is time for them
  /// Else these, with memory past the CPUs' own caches only, where there are others beside it.
  std::vector<std::string> sooner;
  std::vector<ThinnedAxis> thins;  ///< in this order, where there is no time for all
  KeptValues kept;                 ///< what is left of them
  double worth = 0;
  double planned_share = 0, share = 0;  ///< seconds: before anything ran, and when it began
  double slower = 1;      ///< how many times as long as estimated earlier benchmarks' memory took
  double least_time = 0;  ///< estimated, with little time for each point
  std::string left_out;   ///< what there is no time for
  std::string skip;       ///< why it does not run; "" when it does
  std::string plan;       ///< for people
};

/// What a survey runs, or says why it does not.
std::vector<std::string> names_of_survey();

/// The words with the survey's own options, read; --time is for all its points together.
Expected<ParsedRun> parse_item(const SurveyItem& item, const SurveyOptions& options, double share);

/// Whether an error of a benchmark says only that it is not for this machine, its memory, what is
/// allowed here, or so many ranks.
bool is_not_for_here(const Error& error);

/// Why it does not run, without its own name before it.
std::string reason_of(const SurveyItem& item, const Error& error);

/// Leaves out of it what its share is too short for; `skip` says why where it cannot be carried out
/// here. Collective; an error is the same on every rank.
Expected<void> thin(SurveyItem& item, const SurveyOptions& options, const Machine& machine,
                    Comm& comm);

/// What is worth most first, as the machine of rank 0 has it: the same on every rank. `machine`:
/// the own host's. Collective; an error is the same on every rank. Errors (usage): names that are
/// no benchmarks, too little time.
Expected<std::vector<SurveyItem>> plan_survey(const SurveyOptions& options, const Machine& machine,
                                              Comm& comm);

/// What each gets of `seconds`, by worth; nothing for those of no worth.
std::vector<double> shares_of(double seconds, const std::vector<double>& worths);

/// What the first of those that are left gets of the seconds that are left: what others did not
/// use comes to those after them, and what they took too long is taken from all of these. Never
/// less than a small part of a second: each measures something.
double next_share(double seconds_left, const std::vector<double>& worths_left);

/// What a benchmark gets whose way takes `least_time`, when `left` is its part of what is left:
/// where others took too long, still its least time, up to the share that was planned for it. So a
/// benchmark is not skipped because an earlier one was slow; the survey takes longer instead.
double kept_share(double left, double planned, double least_time);

/// Whether so little of the least time is left that the benchmark is skipped.
bool is_too_little(double share, double least_time);

/// The least --time for so many benchmarks.
double least_survey_time(std::size_t benchmarks);

}  // namespace numatlas
