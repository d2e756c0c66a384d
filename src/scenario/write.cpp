#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.h"
#include "scenario/flow_keys.h"

namespace numatlas {
namespace {

/// The letter of UTF-8 that starts at `at`, which is then behind it.
std::uint32_t letter_at(const std::string& text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  // As many leading ones as the letter has bytes; the rest are its highest bits.
  const auto bytes = static_cast<std::size_t>(std::countl_one(lead));
  std::uint32_t letter = bytes == 0 ? lead : lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes && at < text.size(); ++i)
    letter = letter << 6 | (static_cast<unsigned char>(text[at++]) & 0x3fu);
  return letter;
}

/// A basic string of TOML, in ASCII.
std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t letter = letter_at(text, at);
    const auto c = static_cast<char>(letter);
    if (letter == '"' || letter == '\\') {
      quoted += {'\\', c};
    } else if (letter < ' ' || letter > '~') {
      quoted += fmt::format("\\U{:08x}", letter);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

/// In a comment all but plain letters is left out: it is to be read, not to be read back.
std::string comment(std::string line) {
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "# " + line + "\n";
}

/// "1-3,7,5": in their order.
std::string list_text(const std::vector<CpuId>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end].value == cpus[end - 1].value + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i].value);
    if (end > i + 1) text += fmt::format("-{}", cpus[end - 1].value);
    i = end;
  }
  return text;
}

std::string time_text(Nanoseconds time) {
  const std::pair<const char*, std::int64_t> units[] = {
      {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1000}};
  for (const auto& [unit, length] : units) {
    if (time.count() % length == 0) return fmt::format("{}{}", time.count() / length, unit);
  }
  return fmt::format("{}ns", time.count());
}

/// TOML takes a number for a float only where it has a point or an exponent.
std::string number_text(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// "2GB/s" where that is all of it.
std::string rate_text(double rate) {
  const std::pair<const char*, double> units[] = {
      {"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}};
  // Whole numbers above are not exact in a double.
  constexpr double most = 9e15;
  for (const auto& [unit, size] : units) {
    if (rate < most && std::fmod(rate, size) == 0)
      return fmt::format("\"{}{}\"", rate / size, unit);
  }
  return number_text(rate);
}

std::string precision_text(double part) {
  const std::string percent = fmt::format("{}%", part * 100);
  const auto read = parse_part(percent);
  return read && *read == part ? in_quotes(percent) : number_text(part);
}

// A value as TOML has it, by its type.
std::string value_text(const MemorySpec& memory) {
  if (memory.form == MemorySpec::Form::single) return in_quotes(memory.single.text());
  if (memory.form == MemorySpec::Form::round_robin) return in_quotes("auto");
  if (memory.single.all_nodes) return in_quotes("each:all");
  std::vector<int> nodes;
  for (NodeId node : memory.each) nodes.push_back(node.value);
  return fmt::format("\"each:{}\"", fmt::join(nodes, ","));
}
std::string value_text(Bytes bytes) {
  return bytes.value == 0 ? "0" : in_quotes(compact_text(bytes));
}
std::string value_text(CpuId cpu) { return std::to_string(cpu.value); }
std::string value_text(int number) { return std::to_string(number); }
std::string value_text(unsigned number) { return std::to_string(number); }
/// A whole number of TOML has 63 bits.
std::string value_text(std::uint64_t number) {
  return number <= INT64_MAX ? fmt::format("{}", number) : fmt::format("\"{}\"", number);
}
std::string value_text(bool full) { return in_quotes(full ? "full" : "proof"); }
std::string value_text(const std::optional<double>& rate) { return rate_text(*rate); }
std::string value_text(const MixParameters& mix) {
  return fmt::format("\"{}:{}\"", mix.reads, mix.writes);
}
template <class E>
requires(std::is_enum_v<E>) std::string value_text(E value) { return in_quotes(name_of(value)); }

/// The keys that a flow has, with their texts.
class KeyWriter {
 public:
  explicit KeyWriter(const FlowEntry& entry) : entry_(entry) {}

  void operator()(const std::string& key, const auto& value, bool /*applies*/, auto... /*limits*/) {
    if (entry_.has(key)) add(key, value_text(value));
  }
  void operator()(const std::string& key, const std::optional<Region>& /*value*/,
                  bool /*applies*/) {
    if (!entry_.has(key)) return;
    KeyWriter source(entry_);
    list_source_keys(source, entry_);
    add(key, fmt::format("{{ {} }}", fmt::join(source.lines, ", ")));
  }
  std::vector<std::string> lines{};

 private:
  void add(const std::string& key, const std::string& text) {
    lines.push_back(fmt::format("{} = {}", key.substr(key.find('.') + 1), text));
  }
  const FlowEntry& entry_;
};

std::vector<std::string> key_lines(const FlowEntry& entry) {
  KeyWriter keys(entry);
  list_keys(keys, entry);
  return keys.lines;
}

std::string flow_text(const FlowEntry& entry) {
  const bool one = entry.cpus.size() == 1;
  return fmt::format("{} = {}\nkernel = {}\n{}\n", one ? "cpu" : "cpus",
                     one ? value_text(entry.cpus.front()) : in_quotes(list_text(entry.cpus)),
                     in_quotes(entry.kernel()), fmt::join(key_lines(entry), "\n"));
}

}  // namespace

bool operator==(const FlowEntry& a, const FlowEntry& b) {
  return a.cpus == b.cpus && a.kernel() == b.kernel() && a.keys == b.keys &&
         key_lines(a) == key_lines(b);
}

std::string text_of(const ScenarioFile& file, const std::vector<std::string>& head) {
  std::string text;
  for (const std::string& line : head) text += comment(line);
  if (!file.cpus.empty()) {
    text += fmt::format("{}cpus = {}\n", text.empty() ? "" : "\n", in_quotes(list_text(file.cpus)));
  }
  for (const FileScenario& scenario : file.scenarios) {
    if (!text.empty()) text += '\n';
    if (!scenario.comment.empty()) text += comment(scenario.comment);
    if (scenario.flows.empty()) continue;
    text += fmt::format("[[scenario]]\nname = {}\n", in_quotes(scenario.name));
    if (scenario.time) text += fmt::format("time = \"{}\"\n", time_text(*scenario.time));
    if (scenario.precision)
      text += fmt::format("precision = {}\n", precision_text(*scenario.precision));
    for (const FlowEntry& flow : scenario.flows) text += "[[scenario.flow]]\n" + flow_text(flow);
  }
  return text;
}

}  // namespace numatlas
