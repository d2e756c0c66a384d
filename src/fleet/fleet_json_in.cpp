// Reading a fleet back: every field is checked, and the errors name it.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "fleet/fleet_json.h"
#include "machine/snapshot_reader.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using nlohmann::json;
using Problem = std::optional<Error>;

constexpr int most_count = 1 << 30;  // of ranks, CPUs, rounds: above any machine
constexpr const char* hint = "is it a file that 'numatlas stream --json' wrote?";

void read_real(FieldReader& fields, const char* name, double& out) {
  std::optional<double> value;
  if (fields.field(name) == nullptr) return;
  fields.real(name, value);
  if (value) out = *value;
}

void read_optional_text(FieldReader& fields, const char* name, std::string& out) {
  if (fields.field(name, true) != nullptr) fields.text(name, out);
}

void read_flag(FieldReader& fields, const char* name, bool& out) {
  const json* found = fields.field(name);
  if (found == nullptr) return;
  if (!found->is_boolean()) return fields.reject(name, "must be true or false");
  out = found->get<bool>();
}

void read_texts(FieldReader& fields, const char* name, std::vector<std::string>& out) {
  fields.array(name, [&](const json& item, const std::string&) {
    if (!item.is_string()) return fields.reject(name, "must hold strings");
    out.push_back(item.get<std::string>());
  });
}

/// An array of `of`'s field that is plain numbers from 0.
std::vector<double> read_numbers(FieldReader& fields, const char* name) {
  std::vector<double> numbers;
  fields.array(name, [&](const json& item, const std::string&) {
    const double value = item.is_number() ? item.get<double>() : -1;
    if (!(value >= 0) || !std::isfinite(value))
      return fields.reject(name, "must hold numbers of 0 or more");
    numbers.push_back(value);
  });
  return numbers;
}

std::vector<int> read_ranks(FieldReader& fields, const char* name) {
  std::vector<int> ranks;
  fields.array(name, [&](const json& item, const std::string&) {
    if (!item.is_number_integer() || item.get<std::int64_t>() < -1 ||
        item.get<std::int64_t>() > most_count)
      return fields.reject(name, "must hold numbers of ranks");
    ranks.push_back(item.get<int>());
  });
  return ranks;
}

FleetKernel read_kernel(const json& value, const std::string& path, Problem& problem) {
  FleetKernel kernel;
  FieldReader fields(value, path, problem);
  fields.text("name", kernel.name);
  fields.text("mode", kernel.mode);
  read_optional_text(fields, "stores", kernel.stores);
  fields.count("bytes", kernel.bytes);
  fields.count("moved", kernel.moved);
  return kernel;
}

HostKind read_kind(const json& value, const std::string& path, Problem& problem) {
  HostKind kind;
  FieldReader fields(value, path, problem);
  fields.text("cpu_model", kind.cpu_model);
  fields.text("os", kind.os);
  fields.whole("cpus", kind.cpus, 0, most_count);
  fields.whole("nodes", kind.nodes, 0, most_count);
  fields.bytes("memory", kind.memory);
  fields.whole("processes", kind.processes, 1, most_count);
  fields.whole("workers", kind.workers, 1, most_count);
  return kind;
}

std::vector<PassTimes> read_rounds(const json& value, const std::string& path, Problem& problem) {
  FieldReader fields(value, path, problem);
  const auto node = read_numbers(fields, "node"), slowest = read_numbers(fields, "slowest"),
             fastest = read_numbers(fields, "fastest"), sum = read_numbers(fields, "process_sum"),
             overlap = read_numbers(fields, "overlap");
  const auto rank = read_ranks(fields, "slowest_rank");
  // Absent from the first files of this schema.
  const auto start = value.contains("start") ? read_numbers(fields, "start")
                                             : std::vector<double>(node.size(), -1);
  std::vector<PassTimes> rounds;
  for (const std::size_t size :
       {slowest.size(), start.size(), fastest.size(), sum.size(), overlap.size(), rank.size()}) {
    if (size != node.size()) fields.reject("node", "has another length than what stands beside it");
  }
  if (fields.failed()) return rounds;
  for (std::size_t i = 0; i < node.size(); ++i)
    rounds.push_back({node[i], start[i], slowest[i], fastest[i], sum[i], overlap[i], rank[i]});
  return rounds;
}

void read_summaries(FieldReader& fields, FleetHost& host, Problem& problem) {
  fields.array("summaries", [&](const json& item, const std::string& path) {
    auto& times = host.summaries.emplace_back();
    if (item.is_null()) return;
    FieldReader its(item, path, problem);
    times.emplace();
    read_real(its, "average", times->average);
    read_real(its, "minimum", times->minimum);
    read_real(its, "maximum", times->maximum);
  });
}

void read_processes(FieldReader& fields, FleetHost& host, Problem& problem) {
  fields.array("processes", [&](const json& item, const std::string& path) {
    FieldReader its(item, path, problem);
    ProcessRounds process;
    its.whole("rank", process.rank, 0, most_count);
    for (const auto& [name, rounds] :
         {std::pair("starts", &process.starts), std::pair("seconds", &process.seconds)}) {
      its.array(name, [&, n = name, r = rounds](const json& numbers, const std::string& where) {
        const json wrapped = {{n, numbers}};
        FieldReader list(wrapped, where, problem);
        r->push_back(read_numbers(list, n));
      });
    }
    host.processes.push_back(std::move(process));
  });
}

FleetHost read_host(const json& value, const std::string& path, const Fleet& fleet,
                    Problem& problem) {
  FleetHost host;
  FieldReader fields(value, path, problem);
  fields.text("name", host.name);
  int kind = 0;
  fields.whole("kind", kind, 0, static_cast<int>(fleet.kinds.size()) - 1);
  host.kind = static_cast<std::size_t>(kind);
  fields.whole("first_rank", host.first_rank, 0, most_count);
  fields.array("rounds", [&](const json& item, const std::string& where) {
    host.rounds.push_back(read_rounds(item, where, problem));
  });
  if (value.is_object() && value.contains("summaries")) read_summaries(fields, host, problem);
  if (value.is_object() && value.contains("processes")) read_processes(fields, host, problem);
  const std::size_t kernels = fleet.kernels.size();
  const bool told = !host.summaries.empty();
  if (host.rounds.size() != kernels && !(told && host.rounds.empty()))
    fields.reject("rounds", fmt::format("must have an entry for each of {} kernels", kernels));
  if (told && host.summaries.size() != kernels)
    fields.reject("summaries", fmt::format("must have an entry for each of {} kernels", kernels));
  fields.text("placement", host.placement);
  read_texts(fields, "warnings", host.warnings);
  if (value.is_object() && value.contains("cpu_use"))
    host.cpu_use = cpu_use_from_json(value["cpu_use"]);
  return host;
}

void read_hosts(FieldReader& fields, std::vector<FleetHost>& hosts, const Fleet& fleet,
                Problem& problem) {
  fields.array("hosts", [&](const json& item, const std::string& path) {
    hosts.push_back(read_host(item, path, fleet, problem));
  });
}

void read_head(FieldReader& fields, Fleet& fleet, Problem& problem) {
  fields.text("version", fleet.version);
  read_texts(fields, "arguments", fleet.arguments);
  fields.text("started", fleet.started);
  read_real(fields, "seconds", fleet.seconds);
  read_flag(fields, "complete", fleet.complete);
  read_optional_text(fields, "incomplete_reason", fleet.incomplete_reason);
  fields.text("comm", fleet.comm);
  fields.text("engine", fleet.engine);
  fields.text("isa", fleet.isa);
  fields.whole("ranks", fleet.ranks, 0, most_count);
  fields.count("elements", fleet.elements);
  fields.text("elements_source", fleet.elements_source);
  fields.whole("repeats", fleet.repeats, 0, most_count);
  fields.text("memory", fleet.memory);
  read_texts(fields, "warnings", fleet.warnings);
  fields.array("kernels", [&](const json& item, const std::string& path) {
    fleet.kernels.push_back(read_kernel(item, path, problem));
  });
  fields.array("kinds", [&](const json& item, const std::string& path) {
    fleet.kinds.push_back(read_kind(item, path, problem));
  });
}

/// Of this program, this command and this schema? nullopt: yes.
Problem not_a_fleet(const json& value) {
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
  if (*version != fleet_schema_version) {
    return Error{ErrorKind::usage,
                 fmt::format("schema_version is {}; this program reads {}", version->dump(),
                             fleet_schema_version),
                 "read it with the version of numatlas that wrote it"};
  }
  return std::nullopt;
}

}  // namespace

Expected<Fleet> fleet_from_json(const json& value) {
  if (auto problem = not_a_fleet(value)) return fail(*problem);
  Problem problem;
  FieldReader fields(value, "", problem);
  Fleet fleet;
  fields.text("command", fleet.command);
  read_head(fields, fleet, problem);
  read_hosts(fields, fleet.hosts, fleet, problem);
  if (const json* retest = fields.field("retest", true)) {
    FieldReader its(*retest, "retest", problem);
    read_hosts(its, fleet.retest.emplace().hosts, fleet, problem);
  }
  fields.array("machines", [&](const json& item, const std::string& path) {
    auto machine = machine_from_json(item);
    if (machine) return fleet.machines.push_back(*std::move(machine));
    if (!problem) problem = Error{ErrorKind::usage, path + ": " + machine.error().message, hint};
  });
  if (problem) return fail(problem->kind, problem->message, hint);
  return fleet;
}

Expected<Fleet> fleet_from_json_text(const std::string& text) {
  const auto document = parse_json(text);
  if (!document) return fail(document.error());
  return fleet_from_json(**document);
}

}  // namespace numatlas
