// Reads a result or a survey, and writes it with its tables as this version draws them: for tests
// whose results are made up.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

/// Draws the views of one report. "" or what is wrong with it.
std::string draw(nlohmann::json& value) {
  const auto report = report_from_json(value);
  if (!report) return report.error().message;
  value["views"] = nlohmann::json::parse(json_text(*report)).at("views");
  return "";
}

}  // namespace
}  // namespace numatlas

int main() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  auto value = numatlas::parse_json(text);
  std::string wrong = value ? "" : value.error().message;
  if (value && value->contains("cases")) wrong = numatlas::draw(*value);
  if (value && value->contains("results"))
    for (nlohmann::json& one : value->at("results"))
      if (wrong.empty()) wrong = numatlas::draw(one);
  if (!wrong.empty()) {
    std::fprintf(stderr, "draw: %s\n", wrong.c_str());
    return 2;
  }
  std::cout << numatlas::pretty(*value);
  return 0;
}
