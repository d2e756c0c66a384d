// What tells cases and flows apart, by name: the labels that a benchmark gave its cases, and those
// that every case and flow has. Views, tables and pages name them.
//
// Beside them whether a case shows the memory or a cache, and whose memory: the same for every
// table, warning and summary.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// The text of a label or figure of which nothing is known.
inline const std::string unknown_text = "-";

/// Whether cases of the report have a label of this name, or all cases and flows have it:
/// of a case `name`, `flows_text`, `kernel`, `stores`, `size`, `pages`, `order`, `stride`,
/// `status`, `reason`, `workers` (their number), `loaders` (of flows that load), `level` (cache
/// level that the working sets fit), `cache` (the same, where it is not memory), `copied_between`
/// (nodes of what is read and written, as observed), `nodes` ("0 -> 2": CPUs' and, as observed,
/// memory's), `slowest_host` and `slowest_process` (of the passes of hosts); of a flow also
/// `worker`, `rank`, `thread`, `host`, `cpu`, `cpu_node`, `memory` (asked for), `memory_node`
/// (observed), both "1 from 0" where it reads from memory apart, `page_size` (observed), `role`,
/// `first_touch` (worker), `rate` (held to), `overlap`, `stop`; of a GPU's flow `gpu`, `gpu_name`,
/// `gpu_address`, `gpu_node`, `gpu_how` (pinning, caches or route), `grid` (blocks x threads of a
/// launch), `memory_bandwidth` (of its bus), `link` and `link_limit`. A case's own label comes
/// first: `memory_node` of a matrix is the node asked for.
bool has_label(const RunReport& report, const std::string& name);

/// What a view shows one row or cell of: a case, or in it a group of flows or a flow.
struct ViewItem {
  const Case* one = nullptr;
  const FlowGroup* group = nullptr;
  const FlowResult* flow = nullptr;
};
/// A figure of a case, and whose it is: a flow's, else over the flows of a host, else over all.
struct FigureItem {
  const Case* one = nullptr;
  const FlowResult* flow = nullptr;
  const HostTotals* host = nullptr;
  const Figure* figure = nullptr;
};
/// Those of a case: over all flows, then of its hosts, then of its flows.
std::vector<FigureItem> figures_of(const Case& one);

/// What a view shows, in the order of the cases.
std::vector<ViewItem> items_of(const RunReport& report, const View& view);

/// Its label as people read it, else that of its case; "-" where it has none. A case has those of
/// its flows as well: "a/b" where they differ.
std::string label_text(const RunReport& report, const ViewItem& item, const std::string& name);
std::string label_text(const RunReport& report, const Case& one, const std::string& name);

/// Labels are written as the options take them, "64MiB" and "50%"; people read "64 MiB" and "50 %".
std::string spaced(std::string label);

/// The figure of that key; nullptr where nothing was measured. Of a case its own, else the median
/// over its measured flows.
const Figure* figure_of(const ViewItem& item, const std::string& key);
std::optional<Estimate> estimate_of(const Case& one, const std::string& key);
/// Its value in each visit; empty where it has none.
std::span<const double> visits_of(const Case& one, const std::string& key);

/// Over all flows of a host, of several hosts the median of theirs. Absent where the case was not
/// measured to its end.
std::optional<Estimate> host_estimate_of(const Case& one, const std::string& key);

/// Cases that are alike in those of these labels that the report has, in the order of the first of
/// each. A case without one of them belongs to all groups, as it does for a View, and makes none.
struct CaseGroup {
  std::vector<std::pair<std::string, std::string>> labels;  ///< their values, as View::where has it
  std::vector<const Case*> cases;
};
std::vector<CaseGroup> groups_of(const RunReport& report, const std::vector<std::string>& labels);

/// What memory is called that lies in the cache in front of its node.
inline constexpr const char* side_cache_level = "memory-side cache";

/// What memory of a node is that is no DRAM: "CXL", "HBM"; "" of DRAM and of what is unknown.
std::string kind_words(const NumaNode& node);
/// A node of memory with this kind: "2 (CXL)". `machine`: nullptr where nothing is known of it.
std::string node_with_kind(const Machine* machine, const std::string& node);

/// What memory of a node is to CPUs of one, by their numbers: "local", "remote" or, of memory
/// without CPUs, its kind ("CXL", "HBM", "without CPUs"). `machine`: nullptr where nothing is known
/// of it.
std::string memory_class(const Machine* machine, const std::string& cpu_node,
                         const std::string& memory_node);

/// What all that a case's flows touch fits: "L2", "memory", "-" where the caches are unknown;
/// "L2/memory" where that differs.
std::string level_text(const Case& one);

/// The caches that some of its flows fit: "L2", "L2/L3"; "" where all go to memory, or where the
/// caches are unknown. Writes past the caches of the CPUs go to memory at any size.
std::string cache_text(const Case& one);

/// "a figure of L3, not of memory: ...", of these figures and what cache_text says.
std::string cache_warning_text(const std::string& figures, const std::string& caches);

/// Of the cases whose memory fits a cache, for runs whose figures are meant to be those of memory.
std::vector<Warning> cache_warnings(const RunReport& report);

}  // namespace numatlas
