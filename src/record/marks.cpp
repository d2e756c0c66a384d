#include "record/marks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/ids.h"
#include "base/units.h"
#include "machine/memory_slots.h"
#include "record/estimate.h"
#include "record/labels.h"
#include "record/unit.h"

namespace numatlas {
namespace {

constexpr const char* at_80_words = "at 80 % of the peak, measured or between two loads";
constexpr const char* knee_words = "knee: where two straight lines meet that fit better than one";

std::string mark_text(const std::string& what, double value, const std::string& unit) {
  return fmt::format("{} {} {}", what, three_digits(value), unit);
}

// ---- Curves under load

/// The latency at 80 % of the peak is that of the row that asked for this load, or between two.
void add_special(Drawn& drawn, const RunReport& report, const View& view, double scale) {
  std::map<std::string, double> most;
  for (const DrawnRow& row : drawn.rows)
    most[row.line] = std::max(most[row.line], row.cells[*drawn.axis].value.value_or(0));
  for (const DrawnRow& row : drawn.rows) {
    const DrawnCell &place = row.cells[*drawn.axis], &shown = row.cells[*drawn.main];
    const auto add = [&](double x, double y, const std::string& text, const char* what) {
      const auto is_it = [&](const DrawnSpecial& one) {
        return one.line == row.line && one.what == what;
      };
      if (std::ranges::none_of(drawn.special, is_it))
        drawn.special.push_back({row.line, x, y, text, what});
    };
    const Case& one = report.cases[*row.of_case];
    if (const auto at_80 = estimate_of(one, "latency_at_80_percent");
        at_80 && !is_unknown(*at_80)) {
      constexpr double well_used = 0.8, equal = 1e-6;
      const double y = at_80->value * scale;
      const bool own = std::abs(y - shown.value.value_or(0)) <= equal * y;
      const auto load = estimate_of(one, view.cells[*drawn.axis].figure);
      if (!own || (place.value && load && !is_unknown(*load)))
        add(own ? *place.value : well_used * most[row.line], y,
            estimate_text(*at_80, "s") + " at 80 %", at_80_words);
    }
    const auto knee = estimate_of(one, "knee"), latency = estimate_of(one, "knee_latency"),
               load = estimate_of(one, "bandwidth_sum");
    if (knee && latency && load && load->value > 0 && place.value) {
      const double x = *place.value * knee->value / load->value;  // the axis may be the traffic
      add(x, latency->value * scale, mark_text("knee", x, drawn.over.unit), knee_words);
    }
  }
}

/// Of the only curve of a picture, as the facts of the same places have them.
void add_ends(Drawn& drawn, const RunReport& report, const View& view, double scale) {
  const auto is_here = [&](const std::pair<std::string, std::string>& label) {
    return std::ranges::none_of(view.where, [&](const auto& mine) {
      return mine.first == label.first && mine.second != label.second;
    });
  };
  const auto add = [&](const char* key, const char* what, const DrawnQuantity& of, double its_scale,
                       bool level) {
    const auto fact = std::ranges::find_if(report.facts, [&](const Fact& one) {
      return one.key == key && !is_unknown(one.estimate) && std::ranges::all_of(one.where, is_here);
    });
    if (fact == report.facts.end()) return;
    const double at = fact->estimate.value * its_scale;
    drawn.marks.push_back({at, mark_text(what, at, of.unit), level});
  };
  add("loaded_latency_idle", "idle", drawn.shown, scale, true);
  add("loaded_bandwidth_peak", "highest load", drawn.over, view.cells[*drawn.axis].scale, false);
}

// ---- What the machine has

/// What the memory of a node, or of all nodes with CPUs, can carry in theory, and who says so: the
/// modules of all of these, or the firmware, for reads. Not the modules of a virtual machine's
/// host, of which it gets a part.
void add_peak(Drawn& drawn, const Machine& machine, std::optional<NodeId> node, double scale,
              bool level) {
  NodeSet every;
  for (const NumaNode& one : machine.nodes)
    if (!one.cpus.empty()) every.insert(one.id);
  const NodeSet asked = node ? NodeSet{*node} : every;
  if (asked.empty()) return;
  std::string ignored;
  const auto modules = peak_of(machine.memory_slots, ignored);
  const bool of_modules = modules && machine.hypervisor == "" && asked == every;
  double peak = of_modules ? *modules : 0;
  if (!of_modules)
    for (const NodeId id : asked) {
      const NumaNode* const one = machine.find_node(id);
      if (one == nullptr || !one->hmat || !one->hmat->read_bandwidth) return;
      peak += *one->hmat->read_bandwidth;
    }
  const char* const who = of_modules ? "theoretical peak" : "firmware's claim";
  drawn.marks.push_back({peak * scale, mark_text(who, peak * scale, "GB/s"), level, true});
}

/// The caches of a CPU, by their sizes.
void add_caches(Drawn& drawn, const Machine& machine) {
  std::map<int, Bytes> sizes;
  for (const Cache& cache : machine.caches)
    if (cache.type != "instruction" && cache.size.value > 0)
      sizes[cache.level] = std::max(sizes[cache.level], cache.size);
  for (const auto& [level, size] : sizes)
    drawn.marks.push_back(
        {static_cast<double>(size.value), fmt::format("L{} {}", level, to_rounded_text(size))});
}

}  // namespace

void add_marks(Drawn& drawn, const RunReport& report, const View& view,
               const std::vector<const View*>& alike) {
  if (!drawn.axis || !drawn.main) return;
  const Machine* const machine = report.machines.empty() ? nullptr : &report.machines.front();
  const double scale = std::ranges::find(view.cells, drawn.figure, &ViewColumn::figure)->scale;
  if (view.columns.empty() && drawn.over.unit == "GB/s" && report.command != "advise") {
    add_special(drawn, report, view, scale);
    const auto is_of_first = [&](const DrawnRow& row) {
      return row.line == drawn.rows.front().line;
    };
    if (alike.size() == 1 && std::ranges::all_of(drawn.rows, is_of_first))
      add_ends(drawn, report, view, scale);
    std::set<std::string> nodes;
    for (const View* one : alike)
      for (const auto& [name, text] : one->where)
        if (name == "memory_node") nodes.insert(text);
    if (machine == nullptr || nodes.size() != 1) return;
    const auto node = parse_list<NodeId>(*nodes.begin());
    if (node && node->size() == 1)
      add_peak(drawn, *machine, *node->begin(), view.cells[*drawn.axis].scale, false);
    return;
  }
  const bool of_size = view.kind != ViewKind::curve || view.rows == "size";
  if (machine == nullptr) return;
  if (drawn.over.unit == "bytes" && of_size && view.columns != "gpus") add_caches(drawn, *machine);
  if (report.command == "bandwidth" && drawn.shown.unit == "GB/s")
    add_peak(drawn, *machine, std::nullopt, scale, true);
}

}  // namespace numatlas
