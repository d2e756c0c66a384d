#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/product.h"
#include "base/read_file.h"
#include "base/text.h"
#include "base/whole.h"
#include "memory/source.h"
#include "scenario/flow_keys.h"
#include "scenario/table_reader.h"

namespace numatlas {
namespace {

// More than any machine runs, few enough to be held.
constexpr std::size_t most_flows = 1 << 20;
constexpr std::size_t most_cases = 10'000;
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
    return fail(ErrorKind::usage, fmt::format("'{}' is not a rate", text),
                "write it as 2GB/s, or 50% of what its CPUs reach alone, idle or peak");
  }
  const auto bytes = TRY(parse_bytes(text.substr(0, text.size() - 2)));
  return static_cast<double>(bytes.value);
}

/// Error: the list names one twice.
Expected<CpuSpec> parse_cpus(const std::string& text) {
  auto spec = TRY(parse_cpu_spec(text));
  if (spec.lists.size() > 1)
    return fail(ErrorKind::usage, fmt::format("'{}' has several lists", text), "name one");
  if (spec.form != CpuSpec::Form::list) return spec;
  std::vector<int> sorted = spec.lists.front();
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return spec;
  return fail(ErrorKind::usage, fmt::format("CPU {} is named twice in '{}'", *twice, text),
              "each CPU has one flow");
}

CpuSpec spec_of(CpuId cpu) { return {CpuSpec::Form::list, {{cpu.value}}, false}; }

/// A rate in bytes a second, with a unit or as a number.
std::optional<double> read_rate(TableReader& reader, const std::string& key) {
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
  if (word == "nt") return Stores::non_temporal;
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

/// What the tables of a file are read with.
struct Source {
  std::string file;
  const Machine* machine = nullptr;
  AxisValues values = {};
};

/// Reads the keys that a table has into `entry`.
struct KeyReader {
  TableReader& table;
  const Source& from;
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
    TableReader reader(*its, from.file, key, {"size", "memory", "pages"}, places, from.values);
    KeyReader inner{reader, from, entry};
    list_source_keys(inner, entry);
    for (auto& [name, place] : places.of) entry.places.of[key + "." + name] = std::move(place);
    table.wrong_within(reader);
  }
  /// A rate, or a word for one.
  void operator()(const std::string& key, std::optional<double>& rate, bool /*applies*/) {
    if (!table.has(key)) return;
    const auto word = table.node(key)->is_string() ? table.text(key) : std::nullopt;
    if (word == "idle") entry.idle = true;
    if (word == "idle" || word == "peak") return;
    if (word && word->ends_with('%'))
      entry.rate_part = table.read(key, [](const std::string& text) { return parse_part(text); });
    else
      rate = read_rate(table, key);
    entry.keys.insert(key);
  }
};

std::vector<std::string> known_keys() {
  std::vector<std::string> keys{"cpu", "cpus", "kernel"};
  const auto add = [&](const char* key, auto&&...) { keys.emplace_back(key); };
  const FlowEntry any;
  list_keys(add, any);
  return keys;
}

/// What is wrong about a key of a flow.
/// The CPUs of a flow as the machine has them; an error where it lacks one, or memory.
Expected<void> find_on_machine(FlowEntry& entry, const CpuSpec& cpus, const Machine& machine) {
  const auto find = [&](const CpuSpec& spec, const std::string& key,
                        std::vector<CpuId>& found) -> Expected<void> {
    auto resolved = resolve_cpus(spec, machine, {});
    if (resolved) return fill(found, std::move(resolved));
    if (spec.form == CpuSpec::Form::list)
      resolved.error().hint =
          "name other CPUs, or request this one from the launcher or batch system";
    return fail(error_at(entry.places, key, resolved.error()));
  };
  const char* const key = entry.places.of.contains("cpus") ? "cpus" : "cpu";
  TRY(find(cpus, key, entry.cpus));
  std::vector<CpuId> touching;
  if (entry.has("first_touch")) TRY(find(spec_of(entry.first_touch), "first_touch", touching));
  if (entry.has("threads")) {
    const auto threads = static_cast<std::size_t>(entry.threads);
    if (threads > entry.cpus.size())
      return fail(error_at(entry.places, "threads",
                           {ErrorKind::unavailable,
                            fmt::format("{} asked for; '{}' has {}", threads, entry.cpus_asked,
                                        count_text(entry.cpus.size(), "CPU")),
                            "name more CPUs"}));
    entry.cpus.resize(threads);
  }
  for (const auto& [name, memory, placed] :
       {std::tuple("memory", &entry.memory, &entry.placed),
        std::tuple("source.memory", &entry.source_memory, &entry.source_placed)}) {
    for (std::size_t i = 0; entry.has(name) && i < entry.cpus.size(); ++i) {
      auto one = resolve_memory(*memory, machine, static_cast<int>(i), CpuSet{entry.cpus[i]});
      if (!one) return fail(error_at(entry.places, name, one.error()));
      placed->push_back(*std::move(one));
    }
  }
  return {};
}

Expected<FlowEntry> read_flow(const toml::table& table, const Source& from) {
  FlowEntry entry;
  TableReader reader(table, from.file, "a flow", known_keys(), entry.places, from.values);
  if (reader.has("cpu") && reader.has("cpus")) reader.wrong("cpus", "'cpu' is given as well");
  if (!reader.has("cpus")) reader.need("cpu");
  reader.need("kernel");
  KeyReader keys{reader, from, entry};
  CpuSpec cpus;
  if (const auto number = reader.whole<int>("cpu", 0, most_cpu)) {
    cpus = spec_of(CpuId{*number});
    entry.cpus_asked = std::to_string(*number);
  }
  if (auto named = reader.read("cpus", parse_cpus)) {
    cpus = *std::move(named);
    entry.cpus_asked = reader.text("cpus").value_or("");
  }
  if (auto kernel = reader.read("kernel", parse_kernel)) entry.flow.kernel = *std::move(kernel);
  list_keys(keys, entry);
  if (reader.error()) return fail(*reader.error());
  if (!entry.has("role")) entry.flow.role = default_role(entry.kernel());
  entry.idle = entry.idle || (entry.has("threads") && entry.threads == 0);
  if (entry.idle) return entry;
  if (from.machine != nullptr) {
    TRY(find_on_machine(entry, cpus, *from.machine));
  } else if (cpus.form == CpuSpec::Form::list) {
    for (const int cpu : cpus.lists.front()) entry.cpus.push_back(CpuId{cpu});
  }
  return entry;
}

/// Reads what is not known yet: its name, title and values are.
Expected<void> read_scenario(const toml::table& table, const Source& from, std::size_t& flows_left,
                             FileScenario& scenario) {
  // Files of earlier versions may say to_the_end: that is what all flows do.
  TableReader reader(table, from.file, "a scenario",
                     {"name", "time", "precision", "flow", "flows", "to_the_end"}, scenario.places,
                     from.values);
  reader.need("name");
  if (!reader.has("flows")) reader.need("flow");
  const std::string name = reader.text("name").value_or("");
  if (name.empty()) reader.wrong("name", "expected one line of text");
  scenario.time = reader.read("time", [](const auto& text) { return parse_duration(text); });
  scenario.precision = read_precision(reader);
  const auto tables = reader.tables("flow");
  const auto lines = reader.has("flows") ? reader.words("flows") : std::vector<std::string>{};
  if (reader.error()) return fail(*reader.error());
  bool idle = false;
  const auto add = [&](const toml::table& flow_table, const Source& its) -> Expected<void> {
    auto flow = TRY(read_flow(flow_table, its));
    idle = idle || flow.idle;
    if (flow.idle) return {};
    if (flow.cpus.size() > flows_left) {
      return fail(error_at(
          flow.places, "cpus",
          {ErrorKind::usage, fmt::format("the file has more than {} flows", most_flows), ""}));
    }
    flows_left -= flow.cpus.size();
    scenario.flows.push_back(std::move(flow));
    return {};
  };
  for (const toml::table* const flow_table : tables) TRY(add(*flow_table, from));
  for (const std::string& line : lines) {
    Source its = from;
    const std::string& place = scenario.places.of["flows"];
    its.file = fmt::format("{}{}'{}'", place, place.empty() ? "" : ": ", line);
    const auto flow_table = table_of_flow(line);
    if (!flow_table) return fail(about(its.file, flow_table.error()));
    TRY(add(*flow_table, its));
  }
  if (idle && std::ranges::none_of(scenario.flows, [](const FlowEntry& flow) {
        return flow.flow.role == Role::measured;
      }))
    return fail(error_at(scenario.places, "",
                         {ErrorKind::unavailable, "all flows that are measured are idle", ""}));
  return check_scenario(scenario);
}

// Axes --------------------------------------------------------------------------------------------

struct FileAxis {
  std::string name;
  std::vector<std::string> values;
};

/// "nodes" and "threads" as this machine has them, "sizes", or numbers and sizes as --threads and
/// --size take them.
Expected<std::vector<std::string>> values_of_word(const std::string& word, const Machine* machine) {
  std::vector<std::string> values;
  if (word == "nodes") {
    if (machine == nullptr) return std::vector<std::string>{"0"};
    for (const NodeId node : machine->ordinary_memory_nodes())
      values.push_back(std::to_string(node.value));
    if (values.empty()) return fail(ErrorKind::unavailable, "no node has memory to use");
    return values;
  }
  if (word == "threads") {
    const std::size_t all = machine == nullptr ? 1 : machine->usable_cpus().size();
    for (std::size_t number = 1; number < all; number *= 2)
      values.push_back(std::to_string(number));
    values.push_back(std::to_string(all));
    return values;
  }
  if (const auto numbers = parse_ordered_list(word); numbers && !numbers->empty()) {
    for (const int number : *numbers) values.push_back(std::to_string(number));
    return values;
  }
  const auto sizes = parse_sizes(word == "sizes" ? "16KiB-1GiB" : word);
  if (!sizes)
    return fail(ErrorKind::usage, fmt::format("'{}' is no values", word),
                "write a list, \"nodes\", \"threads\", \"sizes\", sizes such as "
                "\"1MiB-64MiB\" or numbers such as \"1,2,4\"");
  for (const Bytes size : *sizes) values.push_back(compact_text(size));
  return values;
}

/// Labels and columns of all results.
constexpr const char* taken_names[] = {
    "name",  "scenario", "status", "reason", "rate",   "role",  "level",       "cache",
    "n",     "workers",  "worker", "rank",   "thread", "host",  "cpu",         "cpu_node",
    "nodes", "memory",   "gpu",    "case",   "flow",   "point", "memory_node", "first_touch",
    "unit",  "metric",   "figure", "value",  "low",    "high",  "page_size",   "mean",
    "min",   "max",      "median", "p95",    "p99",    "stop",  "overlap",     "command",
    "best",  "loaders",  "group"};

/// In the order of the file.
Expected<std::vector<FileAxis>> read_axes(const toml::table* table, const Source& from) {
  std::vector<FileAxis> axes;
  if (table == nullptr) return axes;
  std::vector<const toml::key*> keys;
  std::vector<std::string> names;
  for (const auto& [key, node] : *table) {
    keys.push_back(&key);
    names.emplace_back(key.str());
  }
  std::sort(keys.begin(), keys.end(),
            [](auto* one, auto* other) { return one->source().begin < other->source().begin; });
  Places places;
  TableReader reader(*table, from.file, "axes", names, places);
  for (const toml::key* const key : keys) {
    FileAxis axis{std::string(key->str()), {}};
    constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz_0123456789";
    if (axis.name.empty() || axis.name.find_first_not_of(letters) != axis.name.npos)
      reader.wrong(axis.name, "an axis has a name of small letters, digits and _");
    if (std::ranges::find(taken_names, axis.name) != std::end(taken_names))
      reader.wrong(axis.name, "results have something else of this name",
                   fmt::format("name it otherwise: of_{}", axis.name));
    if (table->at(key->str()).is_string()) {
      auto values = reader.read(
          axis.name, [&](const std::string& word) { return values_of_word(word, from.machine); });
      if (values) axis.values = *std::move(values);
    } else {
      axis.values = reader.words(axis.name);
    }
    for (auto one = axis.values.begin(); one != axis.values.end(); ++one)
      if (std::find(axis.values.begin(), one, *one) != one)
        reader.wrong(axis.name, fmt::format("'{}' is there twice", *one), "leave it out once");
    axes.push_back(std::move(axis));
  }
  if (reader.error()) return fail(*reader.error());
  return axes;
}

/// Whether a text in it has this in it.
bool mentions(const toml::node& node, const std::string& word) {
  if (const auto* const text = node.as_string()) return text->get().find(word) != std::string::npos;
  bool found = false;
  if (const auto* const table = node.as_table())
    for (const auto& [key, value] : *table) found = found || mentions(value, word);
  if (const auto* const array = node.as_array())
    for (const auto& value : *array) found = found || mentions(value, word);
  return found;
}

/// The product of the axes that a scenario names, the last varying fastest: one without values
/// where it names none.
std::vector<AxisValues> product_for(const toml::table& scenario,
                                    const std::vector<FileAxis>& axes) {
  std::vector<AxisValues> all{AxisValues{}};
  for (const FileAxis& axis : axes) {
    if (!mentions(scenario, "{" + axis.name + "}")) continue;
    if (all.size() * axis.values.size() > most_cases)
      return std::vector<AxisValues>(most_cases + 1);  // too many, as the caller says
    std::vector<AxisValues> longer;
    for_each_of(
        [&](const AxisValues& before, const std::string& value) {
          longer.emplace_back(before).emplace_back(axis.name, value);
        },
        all, axis.values);
    all = std::move(longer);
  }
  return all;
}

/// "chase beside node 1, load 2GB/s": its name, and the values that it does not have.
FileScenario named_scenario(const toml::table& table, const AxisValues& values) {
  FileScenario scenario;
  scenario.values = values;
  const std::string name = table["name"].value_or(std::string());
  AxisValues none = values;
  for (auto& [axis, value] : none) value.clear();
  scenario.title = trim(with_values(name, none));
  if (scenario.title.empty() && !values.empty()) {
    for (const auto& [axis, value] : values)
      scenario.title += (scenario.title.empty() ? "by " : ", ") + axis;
  }
  scenario.name = with_values(name, values);
  for (const auto& [axis, value] : values)
    if (name.find("{" + axis + "}") == name.npos)
      scenario.name += fmt::format(", {} {}", axis, value);
  return scenario;
}

/// The scenario of a table for each of these values.
Expected<void> add_scenarios(const toml::table& table, const std::vector<AxisValues>& product,
                             Source from, std::size_t& flows_left, ScenarioFile& file) {
  for (const AxisValues& values : product) {
    from.values = values;
    FileScenario scenario = named_scenario(table, values);
    const auto read = read_scenario(table, from, flows_left, scenario);
    if (!read) {
      Error error = read.error();
      std::vector<std::string> words;
      for (const auto& [axis, value] : values) words.push_back(fmt::format("{} = {}", axis, value));
      if (!words.empty()) error.message += fmt::format(" ({})", fmt::join(words, ", "));
      const bool lacks =
          error.kind == ErrorKind::unavailable || error.kind == ErrorKind::permission;
      if (values.empty() || !lacks) return fail(std::move(error));
      scenario.flows.clear();
      scenario.skip = std::move(error);
    }
    if (std::ranges::find(file.scenarios, scenario.name, &FileScenario::name) !=
        file.scenarios.end())
      return fail(error_at(scenario.places, "name",
                           {ErrorKind::usage, fmt::format("two cases are '{}'", scenario.name),
                            "name one of them otherwise"}));
    file.scenarios.push_back(std::move(scenario));
  }
  return {};
}

Expected<ScenarioFile> read_file_table(const toml::table& table, const Source& from) {
  ScenarioFile file;
  TableReader reader(table, from.file, "the file", {"cpus", "axes", "scenario"}, file.places);
  reader.need("scenario");
  if (const auto cpus = reader.read("cpus", parse_cpus)) {
    if (cpus->form != CpuSpec::Form::list) reader.wrong("cpus", "expected a list of CPUs");
    for (const int cpu : cpus->lists.empty() ? std::vector<int>{} : cpus->lists.front())
      file.cpus.push_back(CpuId{cpu});
  }
  const auto tables = reader.tables("scenario");
  const toml::table* const axes_table = reader.table("axes");
  if (reader.error()) return fail(*reader.error());
  const auto axes = TRY(read_axes(axes_table, from));
  for (const FileAxis& axis : axes) {
    if (mentions(*table.get("scenario"), "{" + axis.name + "}")) continue;
    reader.wrong("axes", fmt::format("no scenario names {{{}}}", axis.name),
                 fmt::format("write {{{}}} in a text of a flow", axis.name));
    return fail(*reader.error());
  }
  std::size_t flows_left = most_flows;
  for (const toml::table* const one : tables) {
    const auto product = product_for(*one, axes);
    if (file.scenarios.size() + product.size() > most_cases) {
      reader.wrong("axes", fmt::format("the file has more than {} cases", most_cases),
                   "name fewer values");
      return fail(*reader.error());
    }
    const std::size_t before = file.scenarios.size();
    TRY(add_scenarios(*one, product, from, flows_left, file));
    for (std::size_t i = 0; before < file.scenarios.size() && i < before; ++i) {
      const FileScenario& added = file.scenarios[before];
      if (file.scenarios[i].title != added.title) continue;
      return fail(error_at(added.places, "name",
                           {ErrorKind::usage, fmt::format("two scenarios are '{}'", added.title),
                            "name one of them otherwise"}));
    }
  }
  if (std::ranges::all_of(file.scenarios, [](auto& one) { return one.skip.has_value(); }))
    return fail(*file.scenarios.front().skip);
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

}  // namespace

Error error_at(const Places& places, const std::string& key, Error error) {
  const auto place = places.of.find(key);
  error.subject = place == places.of.end()
                      ? (places.of.contains("") ? places.of.at("") : "scenario")
                      : place->second;
  if (!key.empty()) error.message = key.substr(key.find('.') + 1) + ": " + error.message;
  return error;
}

Expected<ScenarioFile> parse_scenarios(std::string_view text, const std::string& name,
                                       const Machine* machine) {
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
  return read_file_table(parsed.table(), {name, machine});
}

Expected<ScenarioFile> parse_flows(const std::string& text, const Machine* machine) {
  toml::array lines;
  for (const std::string& line : flows_of_text(text)) lines.push_back(line);
  const toml::table scenario{{"name", text}, {"flows", std::move(lines)}};
  return read_file_table(toml::table{{"scenario", toml::array{scenario}}}, {"", machine});
}

Expected<std::string> read_scenario_text(const std::string& path) {
  return path == "-" ? read_open_file(stdin, "run: standard input", most_bytes)
                     : read_file(path, "run: " + path, "- is standard input", most_bytes);
}

}  // namespace numatlas
