// Passes of hosts as JSON: a column for each quantity.
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/report_fields.h"

namespace numatlas {
namespace {

using nlohmann::json;

/// Name, member, least value.
struct PassColumn {
  const char* name;
  double PassTimes::*member;
  double least;
};
constexpr PassColumn pass_columns[] = {
    {"node", &PassTimes::node, 0},       {"start", &PassTimes::start, -1},
    {"slowest", &PassTimes::slowest, 0}, {"fastest", &PassTimes::fastest, 0},
    {"process_sum", &PassTimes::sum, 0}, {"overlap", &PassTimes::overlap, 0}};

}  // namespace

std::string problem_of(const HostRow& row) {
  if (row.first_rank < 0) return "has a first_rank below 0";
  return row.processes < 1 || row.workers < 1 ? "has no processes or no workers" : "";
}

json to_json(const std::vector<PassTimes>& passes) {
  json value = json::object();
  for (const PassColumn& column : pass_columns) {
    json& numbers = value[column.name] = json::array();
    for (const PassTimes& pass : passes) numbers.push_back(fields::to_json(pass.*column.member));
  }
  json& ranks = value["slowest_rank"] = json::array();
  for (const PassTimes& pass : passes) ranks.push_back(pass.slowest_rank);
  return value;
}

void from_json(const json& value, const fields::Place& place, std::vector<PassTimes>& out) {
  out.clear();
  std::vector<int> ranks;
  fields::Reader reader(value, place);
  if (!value.is_object()) return place.reject("must be an object");
  reader("slowest_rank", ranks, "");
  out.resize(ranks.size());
  for (const PassColumn& column : pass_columns) {
    std::vector<double> numbers;
    reader(column.name, numbers, "");
    if (place.failed()) return;
    if (numbers.size() != ranks.size())
      return place.at(column.name).reject("has another length than what stands beside it");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!(numbers[i] >= column.least))
        return place.at(column.name).reject("must hold numbers of 0 or more");
      out[i].*column.member = numbers[i];
    }
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) out[i].slowest_rank = ranks[i];
}

json schema_of(fields::Tag<std::vector<PassTimes>>) {
  const json numbers{{"type", "array"}, {"items", {{"type", "number"}}}};
  json properties{{"slowest_rank", {{"type", "array"}, {"items", {{"type", "integer"}}}}}};
  json required{"slowest_rank"};
  for (const PassColumn& column : pass_columns) {
    properties[column.name] = numbers;
    required.push_back(column.name);
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

}  // namespace numatlas
