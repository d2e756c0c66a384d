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
#include "kernels/traits.h"
#include "memory/source.h"
#include "scenario/guard.h"
#include "scenario/table_reader.h"

namespace numatlas {
namespace {

// Of a file, lists of CPUs written out: more than any machine runs, few enough to be held.
constexpr std::size_t most_flows = 1 << 20;
constexpr int most_cpu = 1 << 20;
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

Expected<std::string> parse_kernel_name(const std::string& word) {
  const std::vector<std::string> names = kernel_names();
  if (std::find(names.begin(), names.end(), word) != names.end()) return word;
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

/// In the grammar's own words, so that a file that is written again is the same.
Expected<std::string> parse_memory(const std::string& text) {
  const auto spec = TRY(parse_memory_spec(text));
  switch (spec.form) {
    case MemorySpec::Form::single: return spec.single.text();
    case MemorySpec::Form::round_robin: return std::string("auto");
    case MemorySpec::Form::each: break;
  }
  if (spec.single.all_nodes) return std::string("each:all");
  std::vector<int> nodes;
  for (NodeId node : spec.each) nodes.push_back(node.value);
  return fmt::format("each:{}", fmt::join(nodes, ","));
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

/// Bytes with a unit, or a whole number of them.
std::optional<Bytes> read_bytes(TableReader& reader, const std::string& key, std::int64_t least) {
  const toml::node* const node = reader.node(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_integer())
    return reader.read(key, [](const std::string& text) { return parse_bytes(text); });
  const auto bytes = reader.whole<std::uint64_t>(key, least, std::int64_t{1} << 62);
  return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
}

std::optional<double> read_rate(TableReader& reader) {
  const toml::node* const node = reader.node("rate");
  if (node == nullptr) return std::nullopt;
  const auto text = node->is_number() ? std::nullopt : reader.read("rate", parse_rate);
  if (!node->is_number() && !text) return std::nullopt;
  const double rate = text ? *text : node->value<double>().value_or(0);
  // Slower ones would take longer than anybody waits to fill a sample.
  constexpr double least = 1e6;
  if (std::isfinite(rate) && rate >= least) return rate;
  reader.wrong("rate",
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

/// What is over the whole numbers of TOML stands as a text.
std::optional<std::uint64_t> read_seed(TableReader& reader) {
  const toml::node* const node = reader.node("seed");
  if (node == nullptr) return std::nullopt;
  if (!node->is_string()) return reader.whole<std::uint64_t>("seed", 0, INT64_MAX);
  return reader.read("seed", [](const std::string& text) -> Expected<std::uint64_t> {
    if (const auto value = parse_whole<std::uint64_t>(text, 0, UINT64_MAX, "seed")) return *value;
    return fail(ErrorKind::usage, fmt::format("'{}' is not a whole number below 2^64", text));
  });
}

std::optional<CpuId> read_cpu(TableReader& reader, const std::string& key) {
  const auto cpu = reader.whole<int>(key, 0, most_cpu);
  return cpu ? std::optional(CpuId{*cpu}) : std::nullopt;
}

void read_source(TableReader& flow_reader, const std::string& file, FileFlow& flow,
                 std::optional<Error>& error) {
  const toml::table* const table = flow_reader.table("source");
  if (table == nullptr) return;
  FileSource source;
  TableReader reader(*table, file, "source", {"size", "memory", "pages"}, source.places);
  if (!traits_of(flow.kernel).copies_on_gpu()) reader.need("size");
  source.size = reader.read("size", parse_size);
  source.memory = reader.read("memory", parse_memory);
  source.pages = reader.read("pages", parse_pages);
  error = reader.error();
  flow.source = std::move(source);
}

/// What a GPU's kernels heed.
void read_device(TableReader& reader, FileFlow& flow) {
  constexpr int most_gpu = 1 << 16, most_depth = 4096;
  // More than any queue or launch has room for.
  constexpr int most_count = 1 << 20;
  flow.gpu = reader.whole<int>("gpu", 0, most_gpu);
  flow.depth = reader.whole<int>("depth", 1, most_depth);
  flow.copies = reader.whole<std::uint64_t>("copies", 1, most_count);
  flow.loads = reader.whole<std::uint64_t>("loads", 1, most_count);
  flow.pin = reader.read("pin", [](const std::string& word) {
    return one_of<Pinning>(word, {all_pinnings.begin(), all_pinnings.end()});
  });
  flow.caches = reader.read("caches", [](const std::string& word) {
    return one_of<HostCaches>(word, {HostCaches::cold, HostCaches::warm});
  });
}

Expected<FileFlow> read_flow(const toml::table& table, const std::string& file) {
  FileFlow flow;
  TableReader reader(table, file, "a flow",
                     {"cpu",    "cpus",   "kernel", "size",    "memory", "pages",  "source",
                      "order",  "stride", "window", "seed",    "verify", "stores", "mix",
                      "gpu",    "pin",    "depth",  "copies",  "loads",  "caches", "first_touch",
                      "shares", "role",   "rate",   "warm_up", "chains", "lines"},
                     flow.places);
  if (reader.has("cpu") && reader.has("cpus")) reader.wrong("cpus", "'cpu' is given as well");
  if (!reader.has("cpus")) reader.need("cpu");
  reader.need("kernel");
  if (!reader.has("shares")) reader.need("size");
  if (const auto cpu = read_cpu(reader, "cpu")) flow.cpus = {*cpu};
  if (auto cpus = reader.read("cpus", parse_cpus)) flow.cpus = *std::move(cpus);
  flow.kernel = reader.read("kernel", parse_kernel_name).value_or("");
  flow.size = reader.read("size", parse_size);
  flow.memory = reader.read("memory", parse_memory);
  flow.pages = reader.read("pages", parse_pages);
  std::optional<Error> source_error;
  read_source(reader, file, flow, source_error);
  flow.order = reader.read("order", [](const auto& text) { return parse_chain_order(text); });
  flow.stride = read_bytes(reader, "stride", 1);
  flow.window = read_bytes(reader, "window", 1);
  flow.seed = read_seed(reader);
  flow.verify_full = reader.read("verify", [](const std::string& word) -> Expected<bool> {
    if (word == "full" || word == "proof") return word == "full";
    return fail(ErrorKind::usage, fmt::format("'{}' is not one of proof, full", word));
  });
  flow.chains = reader.whole<unsigned>("chains", 1, most_chains);
  flow.lines = reader.whole<unsigned>("lines", 1, most_ping_pong_lines);
  flow.stores = reader.read("stores", [](const std::string& word) {
    // "ordinary" in files for version 0.1.
    return one_of<Stores>(word == "ordinary" ? name_of(Stores::regular) : word,
                          {Stores::regular, Stores::non_temporal});
  });
  flow.mix = reader.read("mix", [](const auto& text) { return parse_mix(text); });
  read_device(reader, flow);
  flow.first_touch = read_cpu(reader, "first_touch");
  flow.shares = read_cpu(reader, "shares");
  flow.role = reader.read("role", [](const std::string& word) {
    return one_of<Role>(word, {Role::measured, Role::load});
  });
  flow.rate = read_rate(reader);
  flow.warm_up = read_bytes(reader, "warm_up", 0);
  if (reader.error()) return fail(*reader.error());
  if (source_error) return fail(*source_error);
  return flow;
}

Expected<FileScenario> read_scenario(const toml::table& table, const std::string& file,
                                     std::size_t& flows_left) {
  FileScenario scenario;
  TableReader reader(table, file, "a scenario", {"name", "time", "precision", "to_the_end", "flow"},
                     scenario.places);
  reader.need("name");
  reader.need("flow");
  scenario.name = reader.text("name").value_or("");
  if (scenario.name.empty()) reader.wrong("name", "expected one line of text");
  scenario.time = reader.read("time", [](const auto& text) { return parse_duration(text); });
  scenario.precision = read_precision(reader);
  scenario.to_the_end = reader.flag("to_the_end");
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
  if (!key.empty()) error.message = key + ": " + error.message;
  return error;
}

Expected<ScenarioFile> parse_scenarios(std::string_view text, const std::string& name) {
  constexpr const char* hint = "docs/scenarios.md explains scenario files";
  const auto safe = safe_text(text);
  if (!safe) {
    const UnsafePlace& place = safe.error();
    return fail_usage(fmt::format("{}:{}:{}", name, place.line, place.column), place.what, hint);
  }
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
