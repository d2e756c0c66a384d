#include "fleet/fleet_json.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fleet/slow_nodes.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using nlohmann::json;

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json kernel_json(const FleetKernel& kernel) {
  return {{"name", kernel.name},
          {"mode", kernel.mode},
          {"stores", text_or_null(kernel.stores)},
          {"bytes", kernel.bytes},
          {"moved", kernel.moved}};
}

/// By quantity, then round: short to write, and what plots want.
json rounds_json(const std::vector<PassTimes>& rounds) {
  json node = json::array(), slowest = json::array(), start = json::array(),
       fastest = json::array(), sum = json::array(), overlap = json::array(), rank = json::array();
  for (const PassTimes& pass : rounds) {
    node.push_back(pass.node);
    slowest.push_back(pass.slowest);
    start.push_back(pass.start);
    fastest.push_back(pass.fastest);
    sum.push_back(pass.sum);
    overlap.push_back(pass.overlap);
    rank.push_back(pass.slowest_rank);
  }
  return {{"node", node},       {"slowest", slowest}, {"start", start},      {"fastest", fastest},
          {"process_sum", sum}, {"overlap", overlap}, {"slowest_rank", rank}};
}

json host_json(const FleetHost& host) {
  json rounds = json::array(), processes = json::array();
  for (const auto& its : host.rounds) rounds.push_back(rounds_json(its));
  for (const ProcessRounds& process : host.processes)
    processes.push_back(
        {{"rank", process.rank}, {"starts", process.starts}, {"seconds", process.seconds}});
  json value = {
      {"name", host.name},           {"kind", host.kind},           {"first_rank", host.first_rank},
      {"rounds", std::move(rounds)}, {"placement", host.placement}, {"warnings", host.warnings}};
  if (host.cpu_use) value["cpu_use"] = to_json(*host.cpu_use);
  if (!host.processes.empty()) value["processes"] = std::move(processes);
  if (host.summaries.empty()) return value;
  json& summaries = value["summaries"] = json::array();
  for (const auto& times : host.summaries) {
    summaries.push_back(times ? json{{"average", times->average},
                                     {"minimum", times->minimum},
                                     {"maximum", times->maximum}}
                              : json(nullptr));
  }
  return value;
}

template <class T, class Write>
json array_of(const std::vector<T>& items, Write write) {
  json array = json::array();
  for (const T& item : items) array.push_back(write(item));
  return array;
}

std::string dumped(const json& value, int indent = -1) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

/// An array with a line an element.
template <class T, class Write>
void add_lines(std::string& text, const char* indent, const std::vector<T>& items, Write write) {
  text += '[';
  for (std::size_t i = 0; i < items.size(); ++i)
    text += fmt::format("{}\n{}{}", i == 0 ? "" : ",", indent, dumped(write(items[i])));
  text += items.empty() ? "]" : "\n ]";
}

json head_json(const Fleet& fleet) {
  return {{"schema_version", fleet_schema_version},
          {"program", "numatlas"},
          {"version", fleet.version},
          {"command", fleet.command},
          {"arguments", fleet.arguments},
          {"started", fleet.started},
          {"seconds", fleet.seconds},
          {"complete", fleet.complete},
          {"incomplete_reason", text_or_null(fleet.incomplete_reason)},
          {"comm", fleet.comm},
          {"engine", fleet.engine},
          {"isa", fleet.isa},
          {"ranks", fleet.ranks},
          {"elements", fleet.elements},
          {"elements_source", fleet.elements_source},
          {"repeats", fleet.repeats},
          {"memory", fleet.memory},
          {"kernels", array_of(fleet.kernels, kernel_json)},
          {"kinds", array_of(fleet.kinds, [](const HostKind& kind) { return to_json(kind); })},
          {"warnings", fleet.warnings}};
}

}  // namespace

json to_json(const HostKind& kind) {
  return {{"cpu_model", kind.cpu_model}, {"os", kind.os},
          {"cpus", kind.cpus},           {"nodes", kind.nodes},
          {"memory", kind.memory.value}, {"processes", kind.processes},
          {"workers", kind.workers}};
}

HostKind host_kind_from_json(const json& value) {
  HostKind kind;
  kind.cpu_model = value["cpu_model"];
  kind.os = value["os"];
  kind.cpus = value["cpus"];
  kind.nodes = value["nodes"];
  kind.memory = Bytes{value["memory"].get<std::uint64_t>()};
  kind.processes = value["processes"];
  kind.workers = value["workers"];
  return kind;
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
    hosts.push_back({{"host", fleet.hosts[host.host].name},
                     {"peers", host.peers},
                     {"verdict", name_of(host.verdict)},
                     {"text", to_text(fleet, host)},
                     {"kernels", std::move(kernels)}});
  }
  return hosts;
}

std::string json_text(const Fleet& fleet, const SlowReport* slow) {
  std::string text = dumped(head_json(fleet), 1);
  text.resize(text.rfind('\n'));  // its last brace comes at the very end
  text += ",\n \"machines\": ";
  add_lines(text, "  ", fleet.machines, [](const Machine& machine) { return to_json(machine); });
  text += ",\n \"hosts\": ";
  add_lines(text, "  ", fleet.hosts, host_json);
  text += ",\n \"retest\": ";
  if (fleet.retest) {
    text += "{\"hosts\": ";
    add_lines(text, "  ", fleet.retest->hosts, host_json);
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

}  // namespace numatlas
