#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/pretty_json.h"
#include "base/version.h"
#include "compare/compare_output.h"
#include "report/csv.h"

namespace numatlas {
namespace {

using nlohmann::json;

// Raised when a field changes its meaning or goes; new fields do not raise it.
constexpr int compare_schema_version = 2;

json number_json(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}
json text_json(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }
json text_json(const std::optional<std::string>& text) {
  return text ? json(*text) : json(nullptr);
}

json figure_json(const StoredFigure& figure) {
  return {{"value", number_json(figure.value)},
          {"low", figure.interval ? json(figure.interval->low) : json(nullptr)},
          {"high", figure.interval ? json(figure.interval->high) : json(nullptr)},
          {"launches", figure.launches},
          {"launch_spread",
           figure.launch_spread ? json(figure.launch_spread->deviation) : json(nullptr)}};
}

json change_json(const Change& change) {
  return {{"verdict", name_of(change.verdict)},
          {"change", number_json(change.part)},
          {"change_low", number_json(change.low)},
          {"change_high", number_json(change.high)},
          {"p", number_json(change.p)},
          {"change_relative", number_json(change.relative)},
          {"reason", text_json(change.reason)},
          {"doubt", text_json(change.doubt)}};
}

json case_json(const StoredCase& one) {
  return {{"command", one.command},
          {"case", one.point},
          {"of", text_json(one.part)},
          {"metric", text_json(one.metric)},
          {"unit", text_json(one.unit)}};
}

json file_json(const StoredFile& file, std::size_t launches) {
  json runs = json::array();
  for (const StoredRun& run : file.runs)
    runs.push_back({{"command", run.command},
                    {"version", run.version},
                    {"started", run.started},
                    {"complete", run.complete},
                    {"hosts", run.hosts}});
  return {{"file", file.file},
          {"command", file.command},
          {"launches", launches},
          {"runs", std::move(runs)},
          {"notes", file.notes}};
}

bool is_wanted(const CompareView& view, const Change& change) {
  return view.only.empty() || view.only.contains(change.verdict);
}

json head_json(const CompareView& view) {
  return {{"schema_version", compare_schema_version},
          {"program", "numatlas"},
          {"version", version},
          {"command", "compare"},
          {"min_effect", view.rule.min_effect}};
}

json counts_json(const Comparison& found) {
  return {{"faster", found.count(CaseVerdict::faster)},
          {"slower", found.count(CaseVerdict::slower)},
          {"same", found.count(CaseVerdict::same)},
          {"not_distinguishable", found.count(CaseVerdict::not_distinguishable)},
          {"not_comparable", found.count(CaseVerdict::not_comparable)},
          {"only_base", found.only_base.size()},
          {"only_new", found.only_now.size()}};
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string csv_figure(const StoredFigure& figure) {
  return fmt::format("{},{},{}", csv_number(figure.value),
                     figure.interval ? fmt::format("{}", figure.interval->low) : "",
                     figure.interval ? fmt::format("{}", figure.interval->high) : "");
}

std::string csv_case(const StoredCase& one) {
  return fmt::format("{},{},{},{},{}", csv_field(one.command), csv_field(one.point),
                     csv_field(one.part), csv_field(one.metric), csv_field(one.unit));
}

std::string csv_change(const Change& change) {
  return fmt::format("{},{},{},{},{}", csv_number(change.part), csv_number(change.low),
                     csv_number(change.high), csv_field(change.reason), csv_field(change.doubt));
}

}  // namespace

std::string compare_json(const ComparedFiles& files, const CompareView& view) {
  const Comparison& found = files.comparison;
  json value = head_json(view), differences = json::array();
  const auto list_of = [&](const std::vector<ComparedCase>& compared) {
    json cases = json::array();
    for (const ComparedCase& one : compared) {
      if (!is_wanted(view, one.change)) continue;
      const bool both = !one.now.is_empty_point() && !one.base.is_empty_point();
      json its = case_json(one.base.is_empty_point() ? one.now : one.base);
      if (one.now.point != one.base.point && both) its["new_case"] = one.now.point;
      its.update(change_json(one.change));
      its["base"] = figure_json(one.base.figure);
      its["new"] = figure_json(one.now.figure);
      cases.push_back(std::move(its));
    }
    return cases;
  };
  for (const Difference& one : files.differences)
    differences.push_back({{"what", one.what},
                           {"hosts", text_json(one.hosts)},
                           {"base", text_json(one.base)},
                           {"new", text_json(one.now)},
                           {"warning", text_json(one.warning)}});
  value["base"] = file_json(files.base, files.base_launches);
  value["new"] = file_json(files.now, files.now_launches);
  value["launch_spread"] = view.rule.launch_spread_taken();
  value["in_pairs"] = view.rule.in_pairs;
  value["counts"] = counts_json(found);
  value["differences"] = std::move(differences);
  value["cases"] = list_of(found.cases);
  value["machine"] = list_of(found.machine);
  for (const auto& [name, side] :
       {std::pair("only_base", &found.only_base), std::pair("only_new", &found.only_now)}) {
    json& list = value[name] = json::array();
    for (const StoredCase& one : *side) list.push_back(case_json(one));
  }
  return pretty(value);
}

std::string compare_csv(const ComparedFiles& files, const CompareView& view) {
  std::string text =
      "verdict,command,case,of,metric,unit,base,base_low,base_high,new,new_low,new_high,change,"
      "change_low,change_high,reason,doubt\n";
  const auto add_row = [&](const ComparedCase& one) {
    if (!is_wanted(view, one.change)) return;
    text += fmt::format("{},{},{},{},{}\n", name_of(one.change.verdict),
                        csv_case(one.base.is_empty_point() ? one.now : one.base),
                        csv_figure(one.base.figure), csv_figure(one.now.figure),
                        csv_change(one.change));
  };
  for (const ComparedCase& one : files.comparison.cases) add_row(one);
  for (const ComparedCase& one : files.comparison.machine) add_row(one);
  return text;
}

}  // namespace numatlas
