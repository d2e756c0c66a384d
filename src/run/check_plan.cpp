#include "run/check_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "record/labels.h"

namespace numatlas {
namespace {

template <class... Args>
tl::unexpected<Error> wrong(fmt::format_string<Args...> text, Args&&... args) {
  return fail(ErrorKind::internal, fmt::format(text, std::forward<Args>(args)...),
              "a defect of this benchmark; please report it");
}

Expected<void> check_labels(const RunReport& report, const View& view) {
  std::vector<std::string> labels;
  for (const auto& [label, value] : view.where) labels.push_back(label);
  for (const std::string& label : {view.kind == ViewKind::matrix ? view.rows : "", view.columns})
    if (!label.empty()) labels.push_back(label);
  for (const ViewColumn& cell : view.cells)
    if (!cell.label.empty()) labels.push_back(cell.label);
  for (const std::string& label : labels)
    if (!has_label(report, label))
      return wrong("{}: view '{}': no case has the label '{}'", report.command, view.title, label);
  return {};
}

/// A curve's axis is a label or a figure.
Expected<void> check_figures(const RunReport& report, const View& view,
                             const std::vector<ViewItem>& items) {
  const auto any_has = [&](const std::string& key) {
    return std::ranges::any_of(
        items, [&](const ViewItem& item) { return figure_of(item, key) != nullptr; });
  };
  if (view.kind == ViewKind::curve && !view.rows.empty() && !has_label(report, view.rows) &&
      !any_has(view.rows))
    return wrong("{}: view '{}': no case has the label or figure '{}'", report.command, view.title,
                 view.rows);
  std::string first;
  for (const ViewColumn& cell : view.cells) {
    if (cell.figure.empty()) continue;
    if (any_has(cell.figure)) return {};
    if (first.empty()) first = cell.figure;
  }
  if (first.empty()) return {};
  return wrong("{}: view '{}': no case has the figure '{}'", report.command, view.title, first);
}

Expected<void> check_cells(const RunReport& report, const View& view,
                           const std::vector<ViewItem>& items) {
  std::map<std::pair<std::string, std::string>, std::string> taken;
  for (const ViewItem& item : items) {
    // A case without such a label is one that others are compared with.
    const auto has = [&](const std::string& label) {
      return label_text(report, item, label) != "-";
    };
    if (!has(view.rows) || !has(view.columns)) continue;
    const std::pair cell{label_text(report, item, view.rows),
                         label_text(report, item, view.columns)};
    const auto [other, is_free] = taken.try_emplace(cell, item.one->name);
    if (!is_free)
      return wrong("{}: view '{}': cases '{}' and '{}' are one cell", report.command, view.title,
                   other->second, item.one->name);
  }
  return {};
}

}  // namespace

Expected<void> check_plan(const Plan& plan, const std::string& benchmark) {
  if (plan.empty()) return wrong("{}: its plan has no case", benchmark);
  std::map<std::string, int> cases;
  for (const PlannedCase& planned : plan) {
    const auto [other, is_new] = cases.try_emplace(planned.head.name, planned.number);
    if (!is_new && other->second != planned.number)
      return wrong("{}: two cases have the name '{}'", benchmark, planned.head.name);
    std::set<int> workers;
    for (const Flow& flow : planned.scenario.flows)
      if (!workers.insert(flow.worker).second)
        return wrong("{}: case '{}': worker {} has two flows", benchmark, planned.scenario.name,
                     flow.worker);
  }
  return {};
}

Expected<void> check_views(const RunReport& report) {
  // What compares cases has nothing to show where some of them were skipped.
  const bool all =
      std::ranges::all_of(report.cases, [](const auto& one) { return one.status == Status::ok; });
  for (const View& view : report.views) {
    TRY(check_labels(report, view));
    const std::vector<ViewItem> items = items_of(report, view);
    const bool measured =
        std::ranges::any_of(items, [](const ViewItem& item) { return !item.one->flows.empty(); });
    if (!measured || !all) continue;
    // A table shows those of its columns that the cases have.
    if (view.kind == ViewKind::table) continue;
    TRY(check_figures(report, view, items));
    if (view.kind == ViewKind::matrix && view.level == ViewLevel::cases && !view.by_host) {
      TRY(check_cells(report, view, items));
    }
  }
  return {};
}

}  // namespace numatlas
