// What the keys of a flow demand of its kernel, and the flows of a scenario of each other.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "scenario/flow_keys.h"

namespace numatlas {
namespace {

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
