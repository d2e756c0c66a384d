// Rounds of hosts as JSON: what the list of fields does not say by itself.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "record/report_fields.h"

namespace numatlas {
namespace {

using nlohmann::json;
using record::Place;

/// The columns of rounds: name, member, least value.
struct RoundColumn {
  const char* name;
  double PassTimes::*member;
  double least;
};
constexpr RoundColumn round_columns[] = {
    {"node", &PassTimes::node, 0},       {"start", &PassTimes::start, -1},
    {"slowest", &PassTimes::slowest, 0}, {"fastest", &PassTimes::fastest, 0},
    {"process_sum", &PassTimes::sum, 0}, {"overlap", &PassTimes::overlap, 0}};

/// What fields of a host have to have in common with the others; "" where they have.
std::string problem_of_host(const FleetHost& host, const Fleet& fleet) {
  const std::size_t kernels = fleet.kernels.size();
  const bool told = !host.summaries.empty();
  if (host.kind >= fleet.kinds.size()) return "its kind names no kind";
  if (host.first_rank < 0) return "its first_rank is below 0";
  if (host.rounds.size() != kernels && !(told && host.rounds.empty()))
    return fmt::format("its rounds must have an entry for each of {} kernels", kernels);
  if (told && host.summaries.size() != kernels)
    return fmt::format("its summaries must have an entry for each of {} kernels", kernels);
  return "";
}

std::string problem_of_hosts(const std::vector<FleetHost>& hosts, const Fleet& fleet) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string problem = problem_of_host(hosts[i], fleet);
    if (!problem.empty())
      return fmt::format("has a host (hosts[{}]) that is wrong: {}", i, problem);
  }
  return "";
}

std::string problem_of_slow(const SlowReport& slow, const Fleet& fleet) {
  const auto known = [&](std::size_t host) { return host < fleet.hosts.size(); };
  bool right = std::ranges::all_of(slow.unjudged, known);
  for (const SlowHost& host : slow.hosts) {
    right = right && known(host.host);
    for (const SlowKernel& kernel : host.kernels)
      right = right && kernel.kernel < fleet.kernels.size();
  }
  return right ? "" : "calls a host slow, in 'slow', that is not among its hosts and kernels";
}

}  // namespace

std::string inconsistency_of(const Fleet& fleet) {
  std::string problem = problem_of_hosts(fleet.hosts, fleet);
  if (problem.empty() && fleet.retest) problem = problem_of_hosts(fleet.retest->hosts, fleet);
  if (problem.empty() && fleet.slow) problem = problem_of_slow(*fleet.slow, fleet);
  return problem.empty() ? "" : "field 'fleet' " + problem;
}

std::string problem_of(const HostKind& kind) {
  return kind.processes < 1 || kind.workers < 1 ? "has no processes or no workers" : "";
}

json to_json(const Fleet& fleet) {
  const record::ExactNumbers exact;
  record::Writer writer;
  list_fields(writer, fleet);
  return writer.take();
}

json to_json(const std::vector<PassTimes>& rounds) {
  json value = json::object();
  for (const RoundColumn& column : round_columns) {
    json& numbers = value[column.name] = json::array();
    for (const PassTimes& pass : rounds) numbers.push_back(record::to_json(pass.*column.member));
  }
  json& ranks = value["slowest_rank"] = json::array();
  for (const PassTimes& pass : rounds) ranks.push_back(pass.slowest_rank);
  return value;
}

void from_json(const json& value, const Place& place, std::vector<PassTimes>& out) {
  out.clear();
  std::vector<int> ranks;
  record::Reader reader(value, place);
  if (!value.is_object()) return place.reject("must be an object");
  reader("slowest_rank", ranks, "");
  out.resize(ranks.size());
  for (const RoundColumn& column : round_columns) {
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

json schema_of(record::Tag<std::vector<PassTimes>>) {
  const json numbers{{"type", "array"}, {"items", {{"type", "number"}}}};
  json properties{{"slowest_rank", {{"type", "array"}, {"items", {{"type", "integer"}}}}}};
  json required{"slowest_rank"};
  for (const RoundColumn& column : round_columns) {
    properties[column.name] = numbers;
    required.push_back(column.name);
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

}  // namespace numatlas
