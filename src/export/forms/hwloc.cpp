// hwloc's XML with measured memory attributes: facts from CPUs of one node to memory of one node.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/tree.h"
#include "export/export.h"
#include "export/hwloc_xml.h"
#include "record/estimate.h"

namespace numatlas {
namespace {

std::optional<NodeId> node_in(const Fact& fact, const char* label) {
  const auto number = number_after(where_of(fact, label), "");
  return number ? std::optional(NodeId{*number}) : std::nullopt;
}

/// "loaded_latency_peak" -> "LoadedLatencyPeak"
std::string camel(std::string_view text) {
  std::string name;
  bool starts = true;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) == 0) {
      starts = true;
      continue;
    }
    name += starts ? static_cast<char>(std::toupper(letter)) : c;
    starts = false;
  }
  return name;
}

/// MeasuredLatency, MeasuredReadBandwidth, MeasuredLoadedLatencyPeak: the fact's key, without the
/// word for the matrix itself, and what its flows did.
std::string attribute_of(const Fact& fact) {
  constexpr std::string_view matrix = "matrix_";
  std::string_view key = fact.key;
  if (key.starts_with(matrix)) key.remove_prefix(matrix.size());
  return "Measured" + camel(where_of(fact, "kernel")) + camel(key);
}

/// hwloc's units, whole numbers: ns, MiB/s.
std::optional<std::uint64_t> value_of(const Fact& fact) {
  constexpr double nanoseconds = 1e9;
  const double value = fact.unit == "s"     ? fact.estimate.value * nanoseconds
                       : fact.unit == "B/s" ? fact.estimate.value / mib
                                            : -1;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value));
}

/// "94.5 ns, 95 % interval 94.1 to 94.9"
std::string exact_text(const Fact& fact) {
  const bool time = fact.unit == "s";
  const double scale = time ? 1e9 : 1 / static_cast<double>(mib);
  std::string text = fmt::format("{:.6g} {}", fact.estimate.value * scale, time ? "ns" : "MiB/s");
  if (fact.estimate.low && fact.estimate.high)
    text += fmt::format(", 95 % interval {:.6g} to {:.6g}", *fact.estimate.low * scale,
                        *fact.estimate.high * scale);
  return text;
}

struct Attributes {
  std::vector<MemoryValue> values;
  std::vector<HwlocInfo> infos;
  std::vector<std::string> notes;

  bool has(const MemoryValue& value) const {
    return std::any_of(values.begin(), values.end(), [&](const MemoryValue& other) {
      return other.attribute == value.attribute && other.initiator == value.initiator &&
             other.target == value.target;
    });
  }
};

/// The standard attribute that a fact is a measurement of; "" for none.
std::string standard_of(const Fact& fact) {
  const std::string kernel = where_of(fact, "kernel");
  if (fact.key == "matrix_latency") return "Latency";
  return fact.key == "matrix_bandwidth" && kernel == "read" ? "Bandwidth" : "";
}

void add_fact(const Fact& fact, const Machine& machine, bool standard, Attributes& attributes) {
  const auto cpus = node_in(fact, "cpu_node"), memory = node_in(fact, "memory_node");
  const auto value = value_of(fact);
  if (!cpus || !memory || !value) return;
  if (is_wide(fact.estimate)) {  // hwloc has no intervals
    attributes.notes.push_back(fmt::format("{} from node {} to node {} is left out: {}", fact.key,
                                           cpus->value, memory->value,
                                           estimate_text(fact.estimate, fact.unit)));
    return;
  }
  const NumaNode* from = machine.find_node(*cpus);
  if (from == nullptr || from->cpus.empty()) {
    attributes.notes.push_back(
        fmt::format("{}: node {} has no CPUs in this machine", fact.key, cpus->value));
    return;
  }
  const MemoryValue stored{attribute_of(fact), fact.unit == "s", from->cpus, *memory, *value};
  if (attributes.has(stored)) return;  // with other options, such as pages: the first one counts
  attributes.values.push_back(stored);
  attributes.infos.push_back(
      {*memory, fmt::format("{} from node {}", stored.attribute, cpus->value), exact_text(fact)});
  const std::string known = standard ? standard_of(fact) : "";
  if (known.empty()) return;
  attributes.values.push_back(stored);
  attributes.values.back().attribute = known;
}

/// Where the figures come from, and under which conditions they hold.
void add_provenance(const ExportInput& input, const Machine& machine,
                    std::vector<HwlocInfo>& infos) {
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) infos.push_back({NodeId{}, name, value});
  };
  add("MeasuredBy", provenance_of(input));
  add("MeasuredUnits", "latency in ns, bandwidth in MiB/s");
  for (const Rows& run : input.stored.runs) {
    const bool has_attributes =
        std::any_of(run.facts.begin(), run.facts.end(), [](const Fact& fact) {
          return node_in(fact, "cpu_node") && node_in(fact, "memory_node") && value_of(fact);
        });
    if (!has_attributes) continue;
    add("MeasuredWith", fmt::format("numatlas {} {} ({}, engine {})", run.command,
                                    fmt::join(run.arguments, " "), run.started, run.engine));
  }
  std::string conditions;
  for (const Setting& setting : machine.settings)
    conditions +=
        fmt::format("{}{}={}", conditions.empty() ? "" : "; ", setting.name, setting.value);
  add("MeasuredConditions", conditions);
  for (const std::string& caveat : caveats_of(input)) add("MeasuredNote", caveat);
}

Expected<Exported> export_hwloc(const ExportInput& input) {
  const std::string& file = input.stored.file;
  const Machine* const machine = machine_of(input);
  if (machine == nullptr || machine->cpus.empty())
    return fail_about(ErrorKind::unavailable, file, "holds no machine", "name one with --machine");
  Attributes attributes;
  for (const ExportedFact& one : facts_of(input))
    add_fact(*one.fact, *machine, input.standard, attributes);
  if (attributes.values.empty())
    return fail_about(ErrorKind::unavailable, file,
                      attributes.notes.empty()
                          ? "has no latency or bandwidth from CPUs of a node to memory of a node"
                          : attributes.notes.front(),
                      "measure them with `numatlas survey`, or with `numatlas matrix --json FILE`");
  add_provenance(input, *machine, attributes.infos);
  if (input.topology.empty())
    return fail_about(ErrorKind::unavailable, file, "has no topology.xml of hwloc beside it",
                      "name one with --machine: `lstopo FILE.xml` writes it on that machine");
  auto xml = with_memory_values(input.topology, attributes.values, attributes.infos);
  if (!xml)
    return fail(
        about(input.machine_spec.empty() ? file : "--machine " + input.machine_spec, xml.error()));
  return Exported{*std::move(xml), std::move(attributes.notes)};
}

}  // namespace

ExportForm hwloc_form() {
  return {"hwloc", "XML of hwloc with measured memory attributes", true, true, export_hwloc};
}

}  // namespace numatlas
