#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size_list.h"
#include "scenario/scenario_file.h"

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

std::string bytes_text(Bytes bytes) {
  return bytes.value == 0 ? "0" : in_quotes(compact_text(bytes));
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

std::string seed_text(std::uint64_t seed) {
  return seed <= INT64_MAX ? fmt::format("{}", seed) : fmt::format("\"{}\"", seed);
}

/// "key = value" of each key that is there.
class Lines {
 public:
  void add(const char* key, const std::string& value) {
    text_ += fmt::format("{} = {}\n", key, value);
  }
  template <class T, class Text>
  void add_if(const char* key, const std::optional<T>& value, const Text& text) {
    if (value) add(key, text(*value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string source_text(const FileSource& source) {
  std::vector<std::string> keys;
  if (source.size) keys.push_back("size = " + bytes_text(*source.size));
  if (source.memory) keys.push_back("memory = " + in_quotes(*source.memory));
  if (source.pages) keys.push_back("pages = " + in_quotes(name_of(*source.pages)));
  return fmt::format("{{ {} }}", fmt::join(keys, ", "));
}

std::string flow_text(const FileFlow& flow) {
  const auto named = [](auto value) { return in_quotes(name_of(value)); };
  const auto cpu = [](CpuId id) { return std::to_string(id.value); };
  const auto number = [](auto value) { return std::to_string(value); };
  Lines lines;
  if (flow.cpus.size() == 1)
    lines.add("cpu", cpu(flow.cpus.front()));
  else
    lines.add("cpus", in_quotes(list_text(flow.cpus)));
  lines.add("kernel", in_quotes(flow.kernel));
  lines.add_if("mix", flow.mix,
               [](const auto& mix) { return fmt::format("\"{}:{}\"", mix.first, mix.second); });
  lines.add_if("size", flow.size, bytes_text);
  lines.add_if("memory", flow.memory, in_quotes);
  lines.add_if("pages", flow.pages, named);
  lines.add_if("source", flow.source, source_text);
  lines.add_if("gpu", flow.gpu, number);
  lines.add_if("pin", flow.pin, named);
  lines.add_if("depth", flow.depth, number);
  lines.add_if("copies", flow.copies, number);
  lines.add_if("loads", flow.loads, number);
  lines.add_if("caches", flow.caches, named);
  lines.add_if("shares", flow.shares, cpu);
  lines.add_if("first_touch", flow.first_touch, cpu);
  lines.add_if("stores", flow.stores, named);
  lines.add_if("order", flow.order, named);
  lines.add_if("stride", flow.stride, bytes_text);
  lines.add_if("window", flow.window, bytes_text);
  lines.add_if("seed", flow.seed, seed_text);
  lines.add_if("verify", flow.verify_full,
               [](bool full) { return in_quotes(full ? "full" : "proof"); });
  lines.add_if("chains", flow.chains, number);
  lines.add_if("lines", flow.lines, number);
  lines.add_if("role", flow.role, named);
  lines.add_if("rate", flow.rate, rate_text);
  lines.add_if("warm_up", flow.warm_up, bytes_text);
  return lines.text();
}

}  // namespace

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
    Lines lines;
    lines.add("name", in_quotes(scenario.name));
    lines.add_if("time", scenario.time, [](auto time) { return in_quotes(time_text(time)); });
    lines.add_if("precision", scenario.precision, precision_text);
    lines.add_if("to_the_end", scenario.to_the_end, [](bool on) { return on ? "true" : "false"; });
    text += "[[scenario]]\n" + lines.text();
    for (const FileFlow& flow : scenario.flows) text += "[[scenario.flow]]\n" + flow_text(flow);
  }
  return text;
}

}  // namespace numatlas
