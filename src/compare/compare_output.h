// What was compared, as table, JSON and CSV.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "compare/differences.h"
#include "compare/hosts.h"
#include "compare/match.h"
#include "compare/runs.h"

namespace numatlas {

/// What is shown of it.
struct CompareView {
  CompareRule rule;
  std::set<CaseVerdict> only;  ///< empty: all; the table leaves out many that are the same
};

/// Two files, or launches, against each other.
struct ComparedFiles {
  StoredFile base, now;
  std::size_t base_launches = 1, now_launches = 1;
  Comparison comparison;
  std::vector<Difference> differences;
  std::string launches_from = {};  ///< folder of earlier launches; "": their spread is assumed
};

/// Many files.
struct ComparedRuns {
  std::string folder;           ///< "" where all were named
  std::vector<StoredRun> runs;  ///< without copies; groups name them by index
  std::vector<RunSeries> groups;
  std::vector<std::string> notes;
};

/// "4.00 ns", "94.19 GB/s", "0.88".
std::string quantity_text(double value, const std::string& unit);

std::string compare_table(const ComparedFiles& files, const CompareView& view);
std::string compare_json(const ComparedFiles& files, const CompareView& view);
std::string compare_csv(const ComparedFiles& files, const CompareView& view);

std::string runs_table(const ComparedRuns& runs, const CompareView& view);
std::string runs_json(const ComparedRuns& runs, const CompareView& view);
std::string runs_csv(const ComparedRuns& runs, const CompareView& view);
/// Of each command and host: whether it was judged, whether it is slow, when its newest run ended.
std::string runs_openmetrics(const ComparedRuns& runs);

}  // namespace numatlas
