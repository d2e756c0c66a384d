// What the keys of a flow demand of its kernel, the flows of a scenario of each other; and flows in
// a line.
#include "scenario/flow_keys.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "kernels/stream_loops.h"

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

tl::unexpected<Error> wrong_key(const FlowEntry& flow, const std::string& key,
                                const std::string& message, const std::string& hint = {}) {
  return fail(error_at(flow.places, key, {ErrorKind::usage, message, hint}));
}

bool is_answer(const FlowEntry& flow) { return traits_of(flow.kernel()).step == StepKind::answer; }

Expected<void> check_flow(const FlowEntry& flow) {
  const std::set<std::string> apply = keys_that_apply(flow);
  for (const std::string& key : flow.keys) {
    if (!apply.contains(key))
      return wrong_key(flow, key, fmt::format("does not apply to the kernel '{}'", flow.kernel()));
  }
  if (flow.rate_part && traits_of(flow.kernel()).chases())
    return wrong_key(flow, "rate", "a part needs a kernel that moves bytes",
                     "write the rate as 2GB/s");
  if (flow.has("size") && !flow.has("source")) {
    const auto held = check_size(flow.flow.kernel, flow.flow.region.bytes);
    if (!held) {
      const char* const key = is_about(held.error(), "--stride")   ? "stride"
                              : is_about(held.error(), "--chains") ? "chains"
                                                                   : "size";
      return fail(error_at(flow.places, key, held.error()));
    }
  }
  if (is_answer(flow) && flow.flow.role == Role::measured) {
    return wrong_key(flow, "role", "the answering side is not measured",
                     "leave it out; the other side is measured");
  }
  return {};
}

using FlowOfCpu = std::map<CpuId, const FlowEntry*>;

/// Memory is its owner's: how large it is, where, and who touched it.
Expected<void> check_shared_memory(const FlowEntry& flow) {
  for (const char* key : {"memory", "pages", "source", "first_touch"}) {
    if (flow.has(key))
      return wrong_key(flow, key, "is that of the flow whose memory it shares", "leave it out");
  }
  return {};
}

/// The owner fills the memory, and what it wrote must suit both: nobody else may write there.
Expected<void> check_same_content(const FlowEntry& flow, const FlowEntry& owner) {
  const KernelTraits& is = traits_of(flow.kernel());
  const bool answer = is_answer(flow) && is.answers == owner.kernel();
  const bool both_read = flow.kernel() == owner.kernel() && !is.writes;
  if (!answer && !both_read) {
    return wrong_key(
        flow, "shares",
        fmt::format("the kernel '{}' cannot share the memory of '{}'", flow.kernel(),
                    owner.kernel()),
        "leave out shares and give it memory of its own (size, memory); these can share: read and "
        "read, chase and chase, cas and \"cas answer\", store and \"store answer\"");
  }
  constexpr std::array of_chain{"size", "order", "stride", "window", "seed", "verify", "chains"};
  if (is.chases() && std::ranges::any_of(of_chain, [&](auto key) { return flow.has(key); })) {
    return wrong_key(flow, "shares", "a chase that shares memory uses the other flow's chain",
                     "leave out size, order, stride, window, seed, verify and chains");
  }
  if (answer && flow.has("lines"))
    return wrong_key(flow, "lines", "is that of the flow whose memory it shares", "leave it out");
  if (flow.has("size") && flow.flow.region.bytes > owner.flow.region.bytes)
    return wrong_key(flow, "size", "is more than that of the flow whose memory it shares");
  return {};
}

Expected<void> check_shares(const FlowEntry& flow, const FlowOfCpu& flows) {
  if (!flow.has("shares")) {
    if (!is_answer(flow)) return {};
    return wrong_key(flow, "kernel", "answers no other flow",
                     "'shares' names the CPU of the flow that passes the line");
  }
  const auto owner = flows.find(flow.shares);
  if (owner == flows.end()) {
    return wrong_key(flow, "shares",
                     fmt::format("CPU {} has no flow in this scenario", flow.shares.value));
  }
  if (owner->second == &flow || owner->second->has("shares")) {
    return wrong_key(flow, "shares",
                     fmt::format("the flow on CPU {} has no memory of its own", flow.shares.value));
  }
  if (flow.rate_part)
    return wrong_key(flow, "rate",
                     "a flow that shares memory cannot run alone, and this is a part "
                     "of what it reaches alone",
                     "write it as 2GB/s");
  TRY(check_shared_memory(flow));
  return check_same_content(flow, *owner->second);
}

/// Each side that asks has one that answers, or it would wait for ever.
Expected<void> check_answers(const FileScenario& scenario) {
  std::map<CpuId, int> answers;
  for (const FlowEntry& flow : scenario.flows) {
    if (is_answer(flow) && flow.has("shares"))
      answers[flow.shares] += static_cast<int>(flow.cpus.size());
  }
  for (const FlowEntry& flow : scenario.flows) {
    if (traits_of(flow.kernel()).step != StepKind::ping_pong) continue;
    for (CpuId cpu : flow.cpus) {
      if (answers[cpu] == 1) continue;
      return wrong_key(
          flow, "kernel",
          fmt::format("{} flows answer the one on CPU {}, where one must", answers[cpu], cpu.value),
          fmt::format("a flow with kernel = \"{} answer\" and shares = {}", flow.kernel(),
                      cpu.value));
    }
  }
  return {};
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

const char* name_of(Role role) { return role == Role::load ? "load" : "measured"; }
Role default_role(const std::string& kernel) {
  return traits_of(kernel).step == StepKind::answer ? Role::load : Role::measured;
}

std::set<std::string> keys_that_apply(const FlowEntry& entry) {
  std::set<std::string> keys;
  const auto add = [&](const char* key, auto&&, bool applies, auto...) {
    if (applies) keys.insert(key);
  };
  list_keys(add, entry);
  if (entry.flow.source)
    list_source_keys(add, entry);
  else
    keys.erase("source");
  return keys;
}

std::vector<CpuId> cpus_named(const ScenarioFile& file) {
  std::vector<CpuId> cpus;
  std::set<CpuId> seen;
  const auto add = [&](CpuId cpu) {
    if (seen.insert(cpu).second) cpus.push_back(cpu);
  };
  for (const FileScenario& scenario : file.scenarios) {
    for (const FlowEntry& flow : scenario.flows) {
      for (CpuId cpu : flow.cpus) add(cpu);
      if (flow.has("first_touch")) add(flow.first_touch);
    }
  }
  return cpus;
}

Expected<void> check_scenario(const FileScenario& scenario) {
  FlowOfCpu flows;
  bool measured = false;
  for (const FlowEntry& flow : scenario.flows) {
    TRY(check_flow(flow));
    measured = measured || flow.flow.role == Role::measured;
    for (CpuId cpu : flow.cpus) {
      if (flows.emplace(cpu, &flow).second) continue;
      return wrong_key(flow, flow.places.of.contains("cpus") ? "cpus" : "cpu",
                       fmt::format("CPU {} has a flow in this scenario already", cpu.value),
                       "flows on one CPU could only run in turns");
    }
  }
  for (const FlowEntry& flow : scenario.flows) {
    TRY(check_shares(flow, flows));
  }
  if (!measured) {
    return fail(error_at(scenario.places, "",
                         {ErrorKind::usage, "a scenario requires a measured flow",
                          "leave out role = \"load\" of one"}));
  }
  return check_answers(scenario);
}

}  // namespace numatlas
