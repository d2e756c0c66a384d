#include "processors/processor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <regex>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "scenario/table_reader.h"

namespace numatlas {
namespace {

constexpr double giga = 1e9, mega = 1e6;
// No memory of a host is outside these: what is has a wrong unit.
constexpr double least_gbs = 5, most_gbs = 20000;
constexpr int least_mts = 800, most_mts = 20000, most_channels = 32, most_cores = 1024;

class Row {
 public:
  Row(const toml::table& table, const std::string& file, const std::string& what,
      const std::vector<std::string>& known)
      : reader_(table, file, what, known, places_) {}

  TableReader& reader() { return reader_; }
  bool has(const std::string& key) const { return reader_.has(key); }
  std::string text(const std::string& key, bool required = true) {
    if (required) reader_.need(key);
    const auto text = reader_.text(key);
    if (text && text->empty()) reader_.wrong(key, "is empty");
    return text.value_or("");
  }
  std::optional<int> whole(const std::string& key, int low, int high) {
    return reader_.whole<int>(key, low, high);
  }
  std::optional<double> number(const std::string& key, double low, double high) {
    const toml::node* const node = reader_.node(key);
    return node == nullptr ? std::nullopt : number_of(key, *node, low, high);
  }
  std::vector<int> wholes(const std::string& key, int low, int high) {
    const toml::node* const node = reader_.node(key);
    if (node == nullptr) return {};
    std::vector<int> values;
    if (const toml::array* const list = node->as_array()) {
      for (const toml::node& one : *list)
        values.push_back(static_cast<int>(one.value<std::int64_t>().value_or(low - 1)));
    }
    if (values.empty() ||
        std::any_of(values.begin(), values.end(), [&](int one) { return one < low || one > high; }))
      reader_.wrong(key, fmt::format("expected a list of whole numbers from {} to {}", low, high));
    return values;
  }
  /// Where it can be looked up.
  std::string source() {
    std::string source = text("source");
    if (!source.empty() && !source.starts_with("https://"))
      reader_.wrong("source", "is no address that starts with https://");
    return source;
  }
  Expected<void> end() const {
    return reader_.error() ? Expected<void>(fail(*reader_.error())) : Expected<void>();
  }

 private:
  std::optional<double> number_of(const std::string& key, const toml::node& node, double low,
                                  double high) {
    const auto value = node.is_number() ? node.value<double>() : std::nullopt;
    if (value && std::isfinite(*value) && *value >= low && *value <= high) return value;
    reader_.wrong(key, fmt::format("expected a number from {:g} to {:g}", low, high));
    return std::nullopt;
  }

  Places places_;
  TableReader reader_;
};

std::optional<double> scaled_by(double factor, const std::optional<double>& value) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

Expected<ProcessorRow> read_cpu(const toml::table& table, const std::string& file) {
  Row row(table, file, "[[cpu]]",
          {"name", "models", "cores", "memory", "channels", "mts", "peak_gbs", "hbm_gbs", "l3_mib",
           "source", "verified"});
  ProcessorRow spec;
  spec.name = row.text("name");
  try {
    spec.models = std::regex(row.text("models"), std::regex::ECMAScript | std::regex::icase);
  } catch (const std::regex_error&) {
    row.reader().wrong("models", "is no regular expression");
  }
  spec.cores = row.wholes("cores", 1, most_cores);
  spec.memory = row.text("memory");
  spec.channels = row.whole("channels", 1, most_channels);
  if (const auto mts = row.whole("mts", least_mts, most_mts)) spec.rate = *mts * mega;
  const auto peak = scaled_by(giga, row.number("peak_gbs", least_gbs, most_gbs));
  if (peak.has_value() == row.has("channels"))
    row.reader().wrong(peak ? "peak_gbs" : "name", "expected either peak_gbs, or channels and mts");
  row.reader().need(row.has("channels") ? "mts" : "peak_gbs");
  constexpr double bytes_of_channel = 8;
  spec.peak = peak.value_or(spec.channels.value_or(0) * spec.rate.value_or(0) * bytes_of_channel);
  spec.hbm_peak = scaled_by(giga, row.number("hbm_gbs", least_gbs, most_gbs));
  row.reader().need("l3_mib");
  row.number("l3_mib", 1, 8192);
  spec.source = row.source();
  row.reader().flag("verified");
  TRY(row.end());
  return spec;
}

using Channels = std::set<std::pair<std::string, std::string>>;

Channels channels_of(const std::vector<MemorySlot>& slots) {
  Channels channels;
  for (const MemorySlot& slot : slots) channels.emplace(slot.socket, slot.channel);
  return channels;
}

std::set<std::string> filled_sockets(const std::vector<MemorySlot>& slots) {
  std::set<std::string> sockets;
  for (const MemorySlot& slot : slots)
    if (!slot.is_empty()) sockets.insert(slot.socket);
  return sockets;
}

/// Whether this is what processors of so many channels each have.
bool is_all_of(const Channels& channels, int sockets, int channels_each) {
  std::map<std::string, int> counts;
  for (const auto& [socket, channel] : channels) ++counts[socket];
  if (channels.size() != static_cast<std::size_t>(sockets * channels_each)) return false;
  return counts.size() != static_cast<std::size_t>(sockets) ||
         std::all_of(counts.begin(), counts.end(),
                     [&](const auto& one) { return one.second == channels_each; });
}

}  // namespace

Expected<std::vector<ProcessorRow>> parse_cpus(std::string_view text, const std::string& name) {
  const auto safe = safe_text(text);
  if (!safe)
    return fail_usage(fmt::format("{}:{}:{}", name, safe.error().line, safe.error().column),
                      safe.error().what);
  const toml::parse_result parsed = toml::parse(*safe);
  if (!parsed)
    return fail_usage(place_text(name, parsed.error().source().begin),
                      std::string(parsed.error().description()));
  Places places;
  TableReader reader(parsed.table(), name, "the file", {"cpu"}, places);
  reader.need("cpu");
  const auto tables = reader.tables("cpu");
  if (reader.error()) return fail(*reader.error());
  std::vector<ProcessorRow> rows;
  for (const toml::table* table : tables) {
    ProcessorRow row = TRY(read_cpu(*table, name));
    if (std::ranges::find(rows, row.name, &ProcessorRow::name) != rows.end())
      return fail_usage(place_text(name, table->source().begin), "stands there twice");
    rows.push_back(std::move(row));
  }
  return rows;
}

const std::vector<ProcessorRow>& shipped_cpus() {
  static const auto rows = parse_cpus(shipped_cpus_text(), "cpus.toml").value();
  return rows;
}

std::string bounded_model(const std::string& cpu_model) {
  constexpr std::size_t longest = 128;
  return cpu_model.substr(0, longest);
}

Sockets sockets_of(const Machine& machine) {
  std::map<int, std::set<std::optional<int>>> cores;
  for (const Cpu& cpu : machine.cpus)
    if (cpu.package) cores[*cpu.package].insert(cpu.core);
  if (cores.empty()) return {};
  Sockets sockets{static_cast<int>(cores.size()), static_cast<int>(cores.begin()->second.size())};
  for (const auto& [package, its] : cores)
    if (static_cast<int>(its.size()) != *sockets.cores) return {sockets.count, std::nullopt};
  return sockets;
}

const ProcessorRow* processor_of(const Machine& machine) {
  const Sockets sockets = sockets_of(machine);
  const std::string model = bounded_model(machine.cpu_model);
  for (const ProcessorRow& row : shipped_cpus()) {
    if (!std::regex_search(model, row.models)) continue;
    const bool fits =
        row.cores.empty() || (sockets.cores && std::find(row.cores.begin(), row.cores.end(),
                                                         *sockets.cores) != row.cores.end());
    if (fits) return &row;
  }
  return nullptr;
}

void check_channels(Machine& machine) {
  MemorySlots& slots = machine.memory_slots;
  if (slots.slots.empty() || !why_no_channels(slots).empty()) return;
  const int sockets = sockets_of(machine).count;
  const ProcessorRow* const row = processor_of(machine);
  const Channels channels = channels_of(slots.slots);
  const auto filled = filled_sockets(slots.slots);
  if (row != nullptr && row->channels && is_all_of(channels, sockets, *row->channels)) return;
  // A board with more sockets than processors has slots that nothing can use.
  std::vector<MemorySlot> used = slots.slots;
  std::erase_if(used, [&](const MemorySlot& slot) { return !filled.contains(slot.socket); });
  const bool agrees = row != nullptr && row->channels
                          ? is_all_of(channels_of(used), sockets, *row->channels)
                          : filled.size() == static_cast<std::size_t>(sockets);
  if (agrees) {
    slots.slots = std::move(used);
    return;
  }
  if (row == nullptr || !row->channels) {
    // "DIMM_A1" may be the first slot of the first processor, or of the first channel.
    forget_channels(
        slots, fmt::format("the names of the slots tell {}, and the machine has {}",
                           filled.contains("") ? "no sockets" : count_text(filled.size(), "socket"),
                           sockets));
    return;
  }
  forget_channels(slots, fmt::format("the names of the slots tell {}, and {} of this model {} {}",
                                     count_text(channels.size(), "channel"),
                                     count_text(static_cast<std::size_t>(sockets), "processor"),
                                     sockets == 1 ? "has" : "have", sockets * *row->channels));
}

}  // namespace numatlas
