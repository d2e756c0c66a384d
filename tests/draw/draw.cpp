// Reads a result or a survey, and writes it with its tables as this version draws them, and a
// survey with what is normal of it: for tests whose results are made up, and for examples/results.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "record/headline.h"
#include "record/report_fields.h"
#include "record/report_json.h"
#include "survey/summary.h"

namespace numatlas {
namespace {

/// Draws the views and words the facts of one report.
Expected<RunReport> draw(nlohmann::json& value) {
  RunReport report = TRY(report_from_json(value));
  const auto written = nlohmann::json::parse(json_text(report));
  for (const char* name : {"views", "facts", "headlines"})
    if (written.contains(name)) value[name] = written[name];
  return report;
}

/// Draws a result or a survey, and says what is normal of a survey that does not. "" or what is
/// wrong.
std::string draw_all(nlohmann::json& value) {
  if (value.contains("cases")) {
    const auto report = draw(value);
    return report ? "" : report.error().message;
  }
  if (!value.contains("results")) return "";
  std::vector<RunReport> reports;
  for (nlohmann::json& one : value["results"]) {
    auto report = draw(one);
    if (!report) return report.error().message;
    reports.push_back(*std::move(report));
  }
  if (value["command"] == "survey")
    value["headlines"] =
        fields::to_json(headlines_of(reports, value.value("trust", "") == "unreliable"));
  if (value["command"] == "survey" && !value.contains("normal")) {
    const nlohmann::json words = value.value("arguments", nlohmann::json::array());
    value["normal"] = normal_in_json(reports, option_of(words, "--machine-type"));
  }
  return "";
}

}  // namespace
}  // namespace numatlas

int main() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  auto value = numatlas::parse_json(text);
  const std::string wrong = value ? numatlas::draw_all(*value) : value.error().message;
  if (!wrong.empty()) {
    std::fprintf(stderr, "draw: %s\n", wrong.c_str());
    return 2;
  }
  std::cout << numatlas::pretty(*value);
  return 0;
}
