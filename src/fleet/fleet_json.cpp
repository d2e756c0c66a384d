#include "fleet/fleet_json.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "fleet/fleet_fields.h"
#include "fleet/slow_nodes.h"
#include "fleet/summary.h"
#include "machine/source.h"
#include "record/estimate.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

using nlohmann::json;
using record::Place;

constexpr const char* hint = "is it a file that 'numatlas stream --json' wrote?";

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

std::string dumped(const json& value, int indent = -1) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

/// An array with a line an element.
template <class T, class Write>
void add_lines(std::string& text, const std::vector<T>& items, Write write) {
  text += '[';
  for (std::size_t i = 0; i < items.size(); ++i)
    text += fmt::format("{}\n  {}", i == 0 ? "" : ",", dumped(write(items[i])));
  text += items.empty() ? "]" : "\n ]";
}

/// What readers of a host's rounds would compute.
Figure figure_of(const HostTimes& times) {
  Figure figure{"bandwidth", "B/s", std::nullopt, times.rates};
  if (times.rates)
    figure.estimate = estimate_of_median(*times.rates, std::nullopt);
  else if (times.rate > 0)
    figure.estimate = times.rate;
  return figure;
}

json host_json(const Fleet& fleet, const FleetHost& host) {
  json value = record::to_json(host);
  json& figures = value["figures"] = json::array();
  for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
    const auto times = times_of(fleet, host, kernel);
    figures.push_back(times ? record::to_json(figure_of(*times)) : json(nullptr));
  }
  return value;
}

/// Of this program, this command and a schema that this program reads? nullopt: yes.
std::optional<Error> not_a_fleet(const json& value) {
  const auto is = [&](const char* name, const char* wanted) {
    return value.contains(name) && value[name] == wanted;
  };
  if (!value.is_object() || !value.contains("command") || !is("program", "numatlas"))
    return Error{ErrorKind::usage, "no results of numatlas", hint};
  if (!is("command", "stream")) {
    const json& command = value["command"];
    return Error{ErrorKind::usage,
                 fmt::format("results of 'numatlas {}', not of 'numatlas stream'",
                             command.is_string() ? command.get<std::string>() : "?"),
                 "name files that 'numatlas stream --json' wrote"};
  }
  const auto version = value.find("schema_version");
  if (version == value.end() || !version->is_number_integer())
    return Error{ErrorKind::usage, "field 'schema_version' is missing", hint};
  if (*version != 1 && *version != schema_version) {
    return Error{ErrorKind::usage,
                 fmt::format("schema_version is {}; this program reads 1 and {}", version->dump(),
                             schema_version),
                 "read it with the version of numatlas that wrote it"};
  }
  return std::nullopt;
}

std::string problem_of_host(const FleetHost& host, const Fleet& fleet) {
  const std::size_t kernels = fleet.kernels.size();
  const bool told = !host.summaries.empty();
  if (host.kind >= fleet.kinds.size()) return "kind' names no kind";
  if (host.first_rank < 0) return "first_rank' is below 0";
  if (host.rounds.size() != kernels && !(told && host.rounds.empty()))
    return fmt::format("rounds' must have an entry for each of {} kernels", kernels);
  if (told && host.summaries.size() != kernels)
    return fmt::format("summaries' must have an entry for each of {} kernels", kernels);
  return "";
}

/// What fields have to have in common; "" where they have.
std::string problem_of(const Fleet& fleet, const std::vector<FleetHost>& hosts) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string problem = problem_of_host(hosts[i], fleet);
    if (!problem.empty()) return fmt::format("field 'hosts[{}].{}", i, problem);
  }
  return "";
}

}  // namespace

std::string problem_of(const HostKind& kind) {
  return kind.processes < 1 || kind.workers < 1 ? "has no processes or no workers" : "";
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

json slow_json(const Fleet& fleet, const SlowReport& slow) {
  json hosts = json::array();
  for (const SlowHost& host : slow.hosts) {
    json kernels = json::array();
    for (const SlowKernel& kernel : host.kernels) {
      kernels.push_back({{"kernel", kernel.kernel},
                         {"name", full_name(fleet.kernels[kernel.kernel])},
                         {"rate", kernel.rate},
                         {"median", kernel.median},
                         {"drop", kernel.drop},
                         {"mads", kernel.mads},
                         {"rounds", kernel.rounds},
                         {"slow_rounds", kernel.slow_rounds},
                         {"evidence", name_of(kernel.evidence)}});
    }
    json together = nullptr;
    if (host.together)
      together = {{"drop", host.together->drop},
                  {"mads", host.together->mads},
                  {"rounds", host.together->rounds},
                  {"slow_rounds", host.together->slow_rounds}};
    hosts.push_back({{"host", fleet.hosts[host.host].name},
                     {"peers", host.peers},
                     {"verdict", name_of(host.verdict)},
                     {"text", to_text(fleet, host)},
                     {"together", std::move(together)},
                     {"kernels", std::move(kernels)}});
  }
  return hosts;
}

std::string json_text(const Fleet& fleet, const SlowReport* slow) {
  const record::ExactNumbers exact;  // what is computed from a file is what was computed here
  record::Writer writer;
  list_head(writer, fleet);
  json head = writer.take();
  head["schema_version"] = schema_version;
  head["program"] = "numatlas";
  const auto of_host = [&](const FleetHost& host) { return host_json(fleet, host); };
  std::string text = dumped(head, 1);
  text.resize(text.rfind('\n'));  // its last brace comes at the very end
  text += ",\n \"machines\": ";
  add_lines(text, fleet.machines, [](const Machine& machine) { return to_json(machine); });
  text += ",\n \"hosts\": ";
  add_lines(text, fleet.hosts, of_host);
  text += ",\n \"retest\": ";
  if (fleet.retest) {
    text += "{\"hosts\": ";
    add_lines(text, fleet.retest->hosts, of_host);
    text += '}';
  } else {
    text += "null";
  }
  if (slow != nullptr) {
    text += ",\n \"slow\": " + dumped(slow_json(fleet, *slow));
    text += ",\n \"not_judged\": " + dumped(slow->not_judged);
  }
  return text + "\n}\n";
}

Expected<Fleet> fleet_from_json(const json& value) {
  if (auto problem = not_a_fleet(value)) return fail(*problem);
  json converted;
  const json* current = &value;
  if (value["schema_version"] == 1) {
    auto from_1 = from_version_1(value);
    if (!from_1) return fail(from_1.error());
    converted = *std::move(from_1);
    current = &converted;
  }
  Fleet fleet;
  std::optional<record::Problem> problem;
  record::from_json(*current, Place("", problem), fleet);
  if (problem)
    return fail(ErrorKind::usage, fmt::format("field '{}' {}", problem->path, problem->why), hint);
  std::string wrong = problem_of(fleet, fleet.hosts);
  if (wrong.empty() && fleet.retest) wrong = problem_of(fleet, fleet.retest->hosts);
  if (!wrong.empty()) return fail(ErrorKind::usage, wrong, hint);
  return fleet;
}

Expected<Fleet> fleet_from_json_text(const std::string& text) {
  const auto document = parse_json(text);
  if (!document) return fail(document.error());
  return fleet_from_json(**document);
}

json fleet_schema() {
  json schema = record::schema_of(record::Tag<Fleet>{});
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Result of numatlas stream";
  schema["properties"]["schema_version"] = {{"const", schema_version}};
  schema["properties"]["program"] = {{"const", "numatlas"}};
  schema["properties"]["command"] = {{"const", "stream"}};
  schema["required"].push_back("schema_version");
  schema["required"].push_back("program");
  json& host = schema["properties"]["hosts"]["items"];
  host["properties"]["figures"] = {
      {"type", "array"},
      {"description", "by kernel: bandwidth of the rounds that count; null without one"},
      {"items", record::nullable(record::schema_of(record::Tag<Figure>{}))}};
  host["required"].push_back("figures");
  return schema;
}

}  // namespace numatlas
