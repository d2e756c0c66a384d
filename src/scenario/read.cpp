#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/read_file.h"
#include "base/whole.h"
#include "memory/source.h"
#include "scenario/flow_keys.h"
#include "scenario/guard.h"
#include "scenario/table_reader.h"

namespace numatlas {
namespace {

// More than any machine runs, few enough to be held.
constexpr std::size_t most_flows = 1 << 20;
// Far over what a person or a program writes here; stops an endless pipe.
constexpr std::size_t most_bytes = 64 * mib;

template <class T>
Expected<T> one_of(const std::string& word, const std::vector<T>& values) {
  std::vector<std::string> names;
  for (T value : values) {
    if (word == name_of(value)) return value;
    names.emplace_back(name_of(value));
  }
  return fail(ErrorKind::usage, fmt::format("'{}' is not one of {}", word, fmt::join(names, ", ")),
              meant_text(word, names));
}

Expected<KernelSpec> parse_kernel(const std::string& word) {
  const std::vector<std::string> names = kernel_names();
  if (std::find(names.begin(), names.end(), word) != names.end()) return kernel_named(word);
  return fail(ErrorKind::usage, fmt::format("unknown kernel '{}'", word),
              meant_text(word, names, fmt::format("they are {}", fmt::join(names, ", "))));
}

Expected<Bytes> parse_size(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789.") == std::string::npos) {
    return fail(ErrorKind::usage, fmt::format("'{}' has no unit", text),
                fmt::format("write {}MiB or {}B", text, text));
  }
  return parse_bytes(text);
}

Expected<PageKind> parse_pages(const std::string& text) {
  const auto kinds = TRY(parse_page_kinds(text));
  if (kinds.size() > 1) {
    return fail(ErrorKind::usage, fmt::format("'{}' names several", text),
                "a flow has one kind of pages");
  }
  return kinds.front();
}

Expected<double> parse_rate(const std::string& text) {
  if (!text.ends_with("/s")) {
    return fail(ErrorKind::usage, fmt::format("'{}' is not a rate", text), "write it as 2GB/s");
  }
  const auto bytes = TRY(parse_bytes(text.substr(0, text.size() - 2)));
  return static_cast<double>(bytes.value);
}

Expected<std::vector<CpuId>> parse_cpus(const std::string& text) {
  const auto list = TRY(parse_ordered_list(text));
  if (list.empty()) return fail(ErrorKind::usage, "no CPU is named");
  std::vector<CpuId> cpus;
  for (int number : list) cpus.push_back(CpuId{number});
  std::vector<CpuId> sorted = cpus;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return fail(ErrorKind::usage, fmt::format("CPU {} is named twice in '{}'", twice->value, text),
                "each CPU has one flow");
  }
  return cpus;
}

/// A rate in bytes a second, with a unit or as a number.
std::optional<double> read_value(TableReader& reader, const std::string& key,
                                 const std::optional<double>&) {
  const toml::node* const node = reader.node(key);
  const auto text = node->is_number() ? std::nullopt : reader.read(key, parse_rate);
  if (!node->is_number() && !text) return std::nullopt;
  const double rate = text ? *text : node->value<double>().value_or(0);
  // Slower ones would take longer than anybody waits to fill a sample.
  constexpr double least = 1e6;
  if (std::isfinite(rate) && rate >= least) return rate;
  reader.wrong(key,
               fmt::format("{} is not a number of at least {:.0f} bytes a second", rate, least),
               "write it as 2GB/s");
  return std::nullopt;
}

std::optional<double> read_precision(TableReader& reader) {
  const toml::node* const node = reader.node("precision");
  if (node == nullptr || !node->is_number())
    return reader.read("precision", [](const std::string& text) { return parse_part(text); });
  const double part = node->value<double>().value_or(0);
  if (part > 0 && part <= 1) return part;
  reader.wrong("precision", fmt::format("{} is not a fraction between 0 and 1", part),
               "write \"1%\" or 0.01");
  return std::nullopt;
}

// What a key's word says, by the type of its value.
Expected<MemorySpec> parse(const std::string& word, const MemorySpec&) {
  auto memory = TRY(parse_memory_spec(word));
  if (gpu_of(memory.single) < 0) return memory;
  return fail(ErrorKind::usage, "CPUs cannot reach memory of a GPU",
              "numatlas transfer and --on gpu:0 measure it");
}
Expected<PageKind> parse(const std::string& word, PageKind) { return parse_pages(word); }
Expected<ChainOrder> parse(const std::string& word, ChainOrder) { return parse_chain_order(word); }
Expected<Bytes> parse(const std::string& word, Bytes) { return parse_size(word); }
Expected<Stores> parse(const std::string& word, Stores) {
  // "ordinary" in files for version 0.1.
  return one_of<Stores>(word == "ordinary" ? name_of(Stores::regular) : word,
                        {Stores::regular, Stores::non_temporal});
}
Expected<Role> parse(const std::string& word, Role) {
  return one_of<Role>(word, {Role::measured, Role::load});
}
Expected<bool> parse(const std::string& word, bool) {
  if (word == "full" || word == "proof") return word == "full";
  return fail(ErrorKind::usage, fmt::format("'{}' is not one of proof, full", word));
}
Expected<MixParameters> parse(const std::string& word, const MixParameters&) {
  return parse_mix(word);
}

// A key's value by its type, and by limits where the list has some.
template <class T>
auto read_value(TableReader& reader, const std::string& key, const T& value) {
  return reader.read(key, [&](const std::string& word) { return parse(word, value); });
}
template <class T>
std::optional<T> read_value(TableReader& reader, const std::string& key, const T&,
                            std::int64_t least, std::int64_t most) {
  return reader.whole<T>(key, least, most);
}
std::optional<CpuId> read_value(TableReader& reader, const std::string& key, CpuId,
                                std::int64_t least, std::int64_t most) {
  const auto cpu = reader.whole<int>(key, least, most);
  return cpu ? std::optional(CpuId{*cpu}) : std::nullopt;
}
/// Bytes with a unit, or a whole number of them.
std::optional<Bytes> read_value(TableReader& reader, const std::string& key, Bytes,
                                std::int64_t least) {
  if (!reader.node(key)->is_integer())
    return reader.read(key, [](const std::string& text) { return parse_bytes(text); });
  const auto bytes = reader.whole<std::uint64_t>(key, least, std::int64_t{1} << 62);
  return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
}
/// What is over the whole numbers of TOML stands as a text.
std::optional<std::uint64_t> read_value(TableReader& reader, const std::string& key, std::uint64_t,
                                        std::int64_t least, std::int64_t most) {
  if (most < INT64_MAX || !reader.node(key)->is_string())
    return reader.whole<std::uint64_t>(key, least, most);
  return reader.read(key, [&](const std::string& text) -> Expected<std::uint64_t> {
    if (const auto value = parse_whole<std::uint64_t>(text, 0, UINT64_MAX, key)) return *value;
    return fail(ErrorKind::usage, fmt::format("'{}' is not a whole number below 2^64", text));
  });
}

/// Reads the keys that a table has into `entry`.
struct KeyReader {
  TableReader& table;
  const std::string& file;
  FlowEntry& entry;

  void operator()(const std::string& key, auto&& value, bool /*applies*/, auto... limits) {
    const std::string name = key.substr(key.find('.') + 1);
    if (!table.has(name)) return;
    auto found = read_value(table, name, value, limits...);
    if (!found) return;
    value = *std::move(found);
    entry.keys.insert(key);
  }
  void operator()(const std::string& key, std::optional<Region>& source, bool /*applies*/) {
    const toml::table* const its = table.table(key);
    if (its == nullptr) return;
    source.emplace();
    entry.keys.insert(key);
    Places places;
    TableReader reader(*its, file, key, {"size", "memory", "pages"}, places);
    reader.need("size");
    KeyReader inner{reader, file, entry};
    list_source_keys(inner, entry);
    for (auto& [name, place] : places.of) entry.places.of[key + "." + name] = std::move(place);
    table.wrong_within(reader);
  }
};

std::vector<std::string> known_keys() {
  std::vector<std::string> keys{"cpu", "cpus", "kernel"};
  const auto add = [&](const char* key, auto&&...) { keys.emplace_back(key); };
  const FlowEntry any;
  list_keys(add, any);
  return keys;
}

Expected<FlowEntry> read_flow(const toml::table& table, const std::string& file) {
  FlowEntry entry;
  TableReader reader(table, file, "a flow", known_keys(), entry.places);
  if (reader.has("cpu") && reader.has("cpus")) reader.wrong("cpus", "'cpu' is given as well");
  if (!reader.has("cpus")) reader.need("cpu");
  reader.need("kernel");
  if (!reader.has("shares")) reader.need("size");
  KeyReader keys{reader, file, entry};
  if (const auto number = reader.whole<int>("cpu", 0, most_cpu)) entry.cpus = {CpuId{*number}};
  if (auto cpus = reader.read("cpus", parse_cpus)) entry.cpus = *std::move(cpus);
  if (auto kernel = reader.read("kernel", parse_kernel)) entry.flow.kernel = *std::move(kernel);
  list_keys(keys, entry);
  if (reader.error()) return fail(*reader.error());
  if (!entry.has("role")) entry.flow.role = default_role(entry.kernel());
  return entry;
}

Expected<FileScenario> read_scenario(const toml::table& table, const std::string& file,
                                     std::size_t& flows_left) {
  FileScenario scenario;
  // Files of earlier versions may say to_the_end: that is what all flows do.
  TableReader reader(table, file, "a scenario", {"name", "time", "precision", "flow", "to_the_end"},
                     scenario.places);
  reader.need("name");
  reader.need("flow");
  scenario.name = reader.text("name").value_or("");
  if (scenario.name.empty()) reader.wrong("name", "expected one line of text");
  scenario.time = reader.read("time", [](const auto& text) { return parse_duration(text); });
  scenario.precision = read_precision(reader);
  const auto tables = reader.tables("flow");
  if (reader.error()) return fail(*reader.error());
  for (const toml::table* flow_table : tables) {
    auto flow = TRY(read_flow(*flow_table, file));
    if (flow.cpus.size() > flows_left) {
      return fail(error_at(
          flow.places, "cpus",
          {ErrorKind::usage, fmt::format("the file has more than {} flows", most_flows), ""}));
    }
    flows_left -= flow.cpus.size();
    scenario.flows.push_back(std::move(flow));
  }
  TRY(check_scenario(scenario));
  return scenario;
}

}  // namespace

Error error_at(const Places& places, const std::string& key, Error error) {
  const auto place = places.of.find(key);
  error.subject = place == places.of.end()
                      ? (places.of.contains("") ? places.of.at("") : "scenario")
                      : place->second;
  if (!key.empty()) error.message = key.substr(key.find('.') + 1) + ": " + error.message;
  return error;
}

Expected<ScenarioFile> parse_scenarios(std::string_view text, const std::string& name) {
  constexpr const char* hint = "docs/scenarios.md explains scenario files";
  const auto safe = safe_text(text);
  if (!safe) {
    const UnsafePlace& place = safe.error();
    return fail_usage(fmt::format("{}:{}:{}", name, place.line, place.column), place.what, hint);
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    return fail_usage(
        name, "JSON, as results are, and no file of scenarios",
        fmt::format("`numatlas report {}` shows results; docs/scenarios.md says what a file of "
                    "scenarios holds",
                    name));
  const toml::parse_result parsed = toml::parse(*safe);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail_usage(place_text(name, error.source().begin), std::string(error.description()),
                      hint);
  }
  ScenarioFile file;
  TableReader reader(parsed.table(), name, "the file", {"cpus", "scenario"}, file.places);
  reader.need("scenario");
  if (auto cpus = reader.read("cpus", parse_cpus)) file.cpus = *std::move(cpus);
  const auto tables = reader.tables("scenario");
  if (reader.error()) return fail(*reader.error());
  std::size_t flows_left = most_flows;
  for (const toml::table* table : tables) {
    auto scenario = TRY(read_scenario(*table, name, flows_left));
    file.scenarios.push_back(std::move(scenario));
  }
  if (file.cpus.empty()) return file;
  const std::set<CpuId> listed(file.cpus.begin(), file.cpus.end());
  for (CpuId cpu : cpus_named(file)) {
    if (listed.contains(cpu)) continue;
    return fail(
        error_at(file.places, "cpus",
                 {ErrorKind::usage, fmt::format("CPU {} of a flow is not in the list", cpu.value),
                  "add it, or leave the list out"}));
  }
  return file;
}

Expected<ScenarioFile> read_scenarios(const std::string& path) {
  const auto text =
      TRY(path == "-" ? read_open_file(stdin, "run: standard input", most_bytes)
                      : read_file(path, "run: " + path, "- is standard input", most_bytes));
  return parse_scenarios(text, path == "-" ? "standard input" : path);
}

}  // namespace numatlas
