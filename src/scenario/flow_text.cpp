// A flow in a line: "read cpu:8-15 mem:1 rate:50%". The words are the keys of a table, some of them
// shorter.
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "kernels/stream_loops.h"
#include "scenario/flow_keys.h"
#include "scenario/flow_text.h"

namespace numatlas {
namespace {

/// Words and the keys that they stand for; others are their keys.
constexpr std::array<std::pair<const char*, const char*>, 6> short_words{
    {{"cpu", "cpus"},
     {"mem", "memory"},
     {"touch", "first_touch"},
     {"from", "source.memory"},
     {"from_size", "source.size"},
     {"from_pages", "source.pages"}}};

std::string key_of(const std::string& word) {
  for (const auto& [its, key] : short_words)
    if (word == its) return key;
  return word;
}
std::string word_of(const std::string& key) {
  for (const auto& [word, its] : short_words)
    if (key == its) return word;
  return key;
}

/// Keys of whole numbers.
std::set<std::string> number_keys() {
  std::set<std::string> keys{"rate"};
  const auto add = [&](const char* key, auto&&, bool, auto... limits) {
    if (sizeof...(limits) > 0) keys.insert(key);
  };
  const FlowEntry any;
  list_keys(add, any);
  return keys;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}
/// "0,2-3" for "bind:0,2-3".
bool is_list(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789,-") == text.npos;
}

std::string rate_text(double rate) {
  std::string text = fmt::format("{:.9f}", rate * 1e-9);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "GB/s";
}

// A value's text, by its type.
std::string text_of(Bytes bytes) { return bytes.value == 0 ? "0" : compact_text(bytes); }
std::string text_of(CpuId cpu) { return std::to_string(cpu.value); }
template <std::integral T>
std::string text_of(T number) {
  return std::to_string(number);
}
std::string text_of(bool full) { return full ? "full" : "proof"; }
std::string text_of(PageKind pages) { return name_of(pages); }
std::string text_of(ChainOrder order) { return name_of(order); }
std::string text_of(Role role) { return name_of(role); }
std::string text_of(Stores stores) {
  return stores == Stores::non_temporal ? "nt" : name_of(stores);
}
std::string text_of(const MixParameters& mix) { return mix_text({mix}); }
std::string text_of(const std::optional<double>& rate) { return rate ? rate_text(*rate) : ""; }
std::string text_of(const MemorySpec& memory) {
  std::string text = memory.single.text();
  if (memory.form == MemorySpec::Form::round_robin) text = "auto";
  if (memory.form == MemorySpec::Form::each) {
    text = "each:all";
    if (!memory.single.all_nodes) {
      std::vector<int> nodes;
      for (const NodeId node : memory.each) nodes.push_back(node.value);
      text = fmt::format("each:{}", fmt::join(nodes, ","));
    }
  }
  const bool bound = text.starts_with("bind:") && is_list(text.substr(5));
  return bound ? text.substr(5) : text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> words_of(const FlowEntry& entry) {
  std::vector<std::pair<std::string, std::string>> words;
  const auto add = [&](const std::string& key, const auto& value, bool applies, auto...) {
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(value)>, std::optional<Region>>)
      if (applies) words.emplace_back(key, text_of(value));
  };
  list_keys(add, entry);
  if (entry.flow.source) list_source_keys(add, entry);
  return words;
}

std::string flow_text(const FlowEntry& entry) {
  std::string text = fmt::format("{} cpu:{}", entry.kernel(), entry.cpus_asked);
  for (const auto& [key, value] : words_of(entry)) {
    if (!entry.has(key)) continue;
    const bool part = key == "rate" && entry.rate_part;
    text += fmt::format(" {}:{}", word_of(key),
                        part ? fmt::format("{:.10g}%", *entry.rate_part * 100) : value);
  }
  return text;
}

Expected<toml::table> table_of_flow(const std::string& line) {
  const auto wrong = [&](const std::string& message, const std::string& hint = "") {
    return fail_usage("", message, hint);
  };
  const std::set<std::string> numbers = number_keys();
  std::string kernel;
  toml::table flow, source;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    if (colon == word.npos && flow.empty() && source.empty()) {
      kernel += (kernel.empty() ? "" : " ") + word;
      continue;
    }
    const std::string key = key_of(word.substr(0, colon));
    const std::string value = colon == word.npos ? "" : word.substr(colon + 1);
    if (value.empty())
      return wrong(fmt::format("'{}' has no value", word),
                   "a flow is a kernel and words such as cpu:0-3 mem:1 size:64MiB; + stands "
                   "between blanks before the next one");
    if (key == "gpu")
      return wrong("a flow of `run` is of a CPU",
                   "numatlas bandwidth --on gpu:0, loaded --on gpu:0 and transfer measure GPUs");
    const bool of_source = key.starts_with("source.");
    toml::table& its = of_source ? source : flow;
    const std::string name = of_source ? key.substr(key.find('.') + 1) : key;
    if (its.contains(name)) return wrong(fmt::format("'{}' is given twice", word_of(key)));
    if (numbers.contains(key) && is_number(value) && value.size() < 19)
      its.insert(name, std::stoll(value));
    else
      its.insert(name, name == "memory" && is_list(value) ? "bind:" + value : value);
  }
  if (kernel.empty() && flow.empty())
    return wrong("a flow is missing",
                 "a + stands between two flows, such as read cpu:0 + read cpu:1");
  if (kernel.empty()) return wrong("no kernel is named", "begin with one, such as read cpu:0");
  flow.insert("kernel", kernel);
  if (!source.empty()) flow.insert("source", std::move(source));
  return flow;
}

std::vector<std::string> flows_of_text(const std::string& text) {
  std::vector<std::string> flows;
  constexpr std::string_view between = " + ";
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    flows.emplace_back(trim(std::string_view(text).substr(at, end - at)));
    at = end + between.size();
  }
  return flows;
}

}  // namespace numatlas
