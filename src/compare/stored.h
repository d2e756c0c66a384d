// Results that were written to files, as far as they are compared.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/host_kind.h"
#include "analysis/stored_figure.h"
#include "base/error.h"
#include "record/report.h"

namespace numatlas {

/// How much a case stands for.
enum class CaseLevel {
  point,      ///< a total, or the median over flows asked the same: what is shown at first
  lone_flow,  ///< the only one that was asked this: stands for its point
  flow,       ///< one flow (`--all`)
  derived,    ///< follows from another metric of the same point: only where it is named
  host,       ///< over the flows of one of several hosts: only to judge hosts
  machine     ///< a pilot: the machine as a whole, told beside the cases
};

/// One metric of what was asked for. Two cases are the same where their keys are: nothing in a key
/// was measured.
struct StoredCase {
  std::string key;
  /// The point alone: a point that was skipped has no flows, and its key says nothing of them.
  std::string point_key;
  std::string command, point, part, metric;  ///< for people; `part`: which flow, "" for totals
  Unit unit;
  std::string kernel{};
  Bytes memory{};  ///< of all measured workers; 0 where it has none
  /// Of a case of one host among several: its index, and the key that the same case of others has.
  std::optional<std::size_t> host{};
  std::string host_key{};
  std::string on{};  ///< whose it is, where hosts are compared with themselves: "n1"
  CaseLevel level = CaseLevel::point;
  bool is_median = false;  ///< over the flows of one place, which `part` names
  StoredFigure figure;

  /// A point without any flow: skipped, or failed before it began.
  bool is_empty_point() const { return metric.empty(); }
};

/// What is known of such a machine, beside its peers and its past (published/expected.h).
struct KnownReads {
  Estimate reads;       ///< of all CPUs together, bytes a second
  double limit = 0;     ///< that these have to reach
  std::string against;  ///< "published figures", "the memory's peak"
  std::string words;    ///< the reads beside all that is known
};

/// One run of one command.
struct StoredRun : RunHead {
  std::string file;
  std::vector<std::string> slowed_gpus;  ///< "the clocks of GPU 0 were held down (heat)", once each
  std::vector<std::string> worker_cpus;  ///< kernel lists, by worker
  std::vector<HostKind> kinds;           ///< by host
  std::vector<Identity> identities;      ///< by host; empty: nothing is known of them
  bool is_unreliable() const { return trust == "unreliable"; }
  std::string why_incomplete() const {
    return complete                    ? ""
           : incomplete_reason.empty() ? "it did not run to its end"
                                       : incomplete_reason;
  }
  std::vector<StoredCase> cases;
  std::optional<KnownReads> known{};  ///< filled by those who judge by it
};

/// A file: one run, or those of a survey.
struct StoredFile {
  std::string file;     ///< as it may be shown
  std::string command;  ///< "survey" for one
  std::vector<StoredRun> runs;
  std::vector<std::string> notes;  ///< incomplete, skipped in a survey
};

/// Reads JSON of any measuring command, or of a survey; of a folder its survey.json. Errors are one
/// line and name the file: kind io or permission for what cannot be read, resource for what is too
/// large, usage for what is not a result of numatlas that this version can read.
Expected<StoredFile> read_stored(const std::string& path);

/// Whether a file that read_stored refuses is whole, and something else than a result: JSON of
/// another program, or without figures. Of a folder of results it may be left out without harm.
bool is_other_document(const std::string& path);

/// The same of text that stands in the file at `path`.
Expected<StoredFile> stored_from_text(const std::string& text, const std::string& path);

/// A report of a benchmark.
StoredRun stored_run(const RunReport& report);
/// Adds the cases of a run that was reduced to its hosts: one for each host and case.
void add_cases_of_hosts(const RunReport& report, StoredRun& run);
/// What can be compared of a figure. `wrong`: why nothing can; "" for nothing. `counts`: what the
/// interval is made of, in words.
StoredFigure stored_figure(const Figure& figure, const std::string& wrong, const char* counts);

/// Gives cases with equal keys numbers, in their order.
void number_doubles(std::vector<StoredCase>& cases);

}  // namespace numatlas
