// What tells cases and flows apart, by name: the labels that a benchmark gave its cases, and those
// that every case and flow has. Views, tables and pages name them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// Whether cases of the report have a label of this name, or all cases and flows have it:
/// of a case `name`, `kernel`, `stores`, `size`, `pages`, `order`, `stride`, `status`, `reason`,
/// `workers` (their number), `level` (cache level that the working sets fit), `cache` (the same,
/// where it is not memory), `copied_between` (nodes of what is read and written,
/// as observed), `nodes` ("0 -> 2":
/// CPUs' and, as observed, memory's); of a flow also `worker`, `rank`, `thread`, `host`, `cpu`,
/// `cpu_node`, `memory` (asked for), `memory_node` (observed), `page_size` (observed), `role`,
/// `first_touch` (worker), `overlap`, `stop`.
bool has_label(const RunReport& report, const std::string& name);

/// A case's label as people read it; "-" where it has none.
std::string label_text(const RunReport& report, const ScenarioResult& one, const std::string& name);
/// A flow's, or its case's.
std::string label_text(const RunReport& report, const ScenarioResult& one, const FlowResult& flow,
                       const std::string& name);

/// The figure of a case over all its flows; where it has none of that key, the median over its
/// measured flows. Absent where nothing was measured.
std::optional<Estimate> estimate_of(const ScenarioResult& one, const std::string& key);

/// Cases that are alike in those of these labels that the report has, in the order of the first of
/// each.
struct CaseGroup {
  std::vector<std::pair<std::string, std::string>> labels;  ///< their values, as View::where has it
  std::vector<const ScenarioResult*> cases;
};
std::vector<CaseGroup> groups_of(const RunReport& report, const std::vector<std::string>& labels);

}  // namespace numatlas
