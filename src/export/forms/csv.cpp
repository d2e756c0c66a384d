// For spreadsheets and data frames: one row per fact.
#include "report/csv.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "export/export.h"

namespace numatlas {
namespace {

constexpr std::string_view first_columns = "fact,unit,value,low,high,n";
constexpr std::string_view last_columns = "description,command,host,started,version,engine";

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// The labels of all facts, in the order of the first of each.
std::vector<std::string> labels_of(const std::vector<ExportedFact>& facts) {
  std::vector<std::string> names;
  for (const ExportedFact& one : facts) {
    for (const auto& [name, value] : one.fact->where) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

Expected<Exported> export_csv(const ExportInput& input) {
  const auto facts = facts_of(input);
  const auto labels = labels_of(facts);
  std::string text(first_columns);
  const std::string taken = fmt::format(",{},{},", first_columns, last_columns);
  for (const std::string& name : labels) {
    const bool is_taken = taken.find("," + name + ",") != std::string::npos;
    text += "," + csv_field((is_taken ? "label_" : "") + name);
  }
  text += fmt::format(",{}\n", last_columns);
  for (const auto& [fact, run] : facts) {
    text += fmt::format("{},{},{},{},{},{}", csv_field(fact->key), fact->unit.symbol(),
                        number(fact->estimate.value), number(fact->estimate.low),
                        number(fact->estimate.high), fact->estimate.n);
    for (const std::string& name : labels) text += "," + csv_field(where_of(*fact, name));
    for (const std::string& field :
         {fact->words, run->command, fmt::format("{}", fmt::join(run->hosts, " ")), run->started,
          run->version, run->engine})
      text += "," + csv_field(field);
    text += "\n";
  }
  return Exported{text, {}};
}

}  // namespace

ExportForm csv_form() {
  return {"csv", "one row per figure, for spreadsheets and data frames", false, true, export_csv};
}

}  // namespace numatlas
