// Two sides of stored results against each other: their rows, what else differs, and the report.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/sides.h"
#include "compare/results.h"

namespace numatlas {

/// A case of both sides.
struct ComparedCase {
  Row base, now;
  Change change;
};

struct Comparison {
  std::vector<ComparedCase> cases;    ///< in the order of the base
  std::vector<ComparedCase> machine;  ///< pilots of both sides: judged apart, and not counted
  std::vector<Row> only_base, only_now;

  std::size_t count(CaseVerdict verdict) const;
};

/// All rows of a file, in the order of its runs.
std::vector<Row> rows_of(const Results& file);

/// Cases that `rule` wants, matched by key and judged together. A case that one side skipped is
/// "not comparable" with the other's cases of that case.
Comparison match_cases(const std::vector<Row>& base, const std::vector<Row>& now,
                       const CompareRule& rule);

/// Whether a rule asks for a case.
bool wants(const CompareRule& rule, const Row& one);

/// Whether each host is to be compared with itself: there are several, and one is on both sides.
/// Hosts of which none is, are launches of their side.
bool are_paired_by_host(const std::vector<Results>& base, const std::vector<Results>& now);

/// The files of several launches of the same commands as one, whose figures are those over the
/// launches; cases that not every file has get a note. `by_host`: of each host apart, whose name
/// its cases have. Undefined for none.
Results merged(const std::vector<Results>& launches, bool by_host = false);

/// Errors (kind usage) where both sides have nothing in common. Commands that are measured in turn
/// may ask for different things by design: without a common case they are matched by the order of
/// their cases; metrics and units must agree, and another place is no reason not to compare.
Expected<Comparison> compare_files(const Results& base, const Results& now,
                                   const CompareRule& rule);

struct Difference {
  std::string what;                      ///< "kernel", "microcode", "options of latency"
  std::string hosts;                     ///< whose; "" of all
  std::optional<std::string> base, now;  ///< absent: that file does not tell
  std::string warning;  ///< why the verdicts may say something else than one thinks
  friend bool operator==(const Difference&, const Difference&) = default;
};

/// Runs of the same command are compared, hosts in their order; several hosts that are compared
/// with themselves by their names.
std::vector<Difference> differences_of(const Results& base, const Results& now);

/// What is shown of it.
struct CompareView {
  CompareRule rule;
  std::set<CaseVerdict> only;  ///< empty: all; the table leaves out many that are the same
};

/// Two files, or launches, against each other.
struct ComparedFiles {
  Results base, now;
  std::size_t base_launches = 1, now_launches = 1;
  Comparison comparison;
  std::vector<Difference> differences;
};

/// "SLOWER 2 of 40 (triad 1MiB base -10.1 %, ...); 1 faster, 37 same"; of several hosts "SLOWER 1
/// of 10: n04 (triad -7.0 %); 9 same"; "UNDECIDED: 1 case, -20 to -6.0 %: within what launches
/// differ on a virtual machine".
std::string answer_of(const Comparison& found);
/// Whether nothing is known of any case, or of one of several hosts.
bool leaves_open(const Comparison& found);
/// Why the figures of a side are not to be relied on: "UNRELIABLE: NEW: other programs used 1.0 of
/// 2 CPUs", "INCOMPLETE: BASE: interrupted"; "" where those of both are.
std::string reserve_of(const ComparedFiles& files);
/// A case for each compared one (label `row`: "case", of pilots "machine"), each difference of the
/// machines ("difference") and each case that only one side has ("only").
RunReport report_of(const ComparedFiles& files, const CompareView& view);

}  // namespace numatlas
