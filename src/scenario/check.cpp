// What the keys of a flow demand of its kernel, and the flows of a scenario of each other.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/traits.h"
#include "scenario/scenario_file.h"

namespace numatlas {
namespace {

tl::unexpected<Error> wrong_key(const FileFlow& flow, const std::string& key,
                                const std::string& message, const std::string& hint = {}) {
  return fail(error_at(flow.places, key, {ErrorKind::usage, message, hint}));
}

bool is_answer(const FileFlow& flow) { return traits_of(flow.kernel).step == StepKind::answer; }

/// The kernel as far as the file tells.
KernelSpec spec_of(const FileFlow& flow) {
  KernelSpec spec;
  spec.name = flow.kernel;
  if (flow.stride) spec.chain.stride = *flow.stride;
  if (flow.order) spec.chain.order = *flow.order;
  if (flow.chains) spec.chain.chains = *flow.chains;
  if (flow.lines) spec.lines = *flow.lines;
  if (flow.mix) std::tie(spec.mix_reads, spec.mix_writes) = *flow.mix;
  return spec;
}

Expected<void> check_keys_of_kernel(const FileFlow& flow) {
  const std::string& kernel = flow.kernel;
  const KernelTraits& is = traits_of(kernel);
  const bool chases = is.chases_on_cpu();
  const std::pair<const char*, bool> misplaced[] = {
      {"order", flow.order && !chases},
      {"stride", flow.stride && !chases},
      {"window", flow.window && !chases},
      {"seed", flow.seed && !chases && !is.on_gpu},
      {"verify", flow.verify_full && !chases},
      {"chains", flow.chains && !chases},
      {"lines", flow.lines && !is.is_ping_pong()},
      {"stores", flow.stores && !(is.streams() && is.writes)},
      {"mix", flow.mix && !is.mixes},
      {"source", flow.source && !is.takes_source},
      {"gpu", flow.gpu && !is.on_gpu},
      {"pin", flow.pin && !is.copies_on_gpu()},
      {"depth", flow.depth && !is.copies_on_gpu()},
      {"copies", flow.copies && !is.copies_on_gpu()},
      {"loads", flow.loads && !is.chases_on_gpu()},
      {"caches", flow.caches && !is.chases_on_gpu()},
      {"shares", flow.shares && is.on_gpu},
      {"first_touch", flow.first_touch && is.on_gpu},
      {"rate", flow.rate && (is.is_ping_pong() || is.chases_on_gpu())},
  };
  for (const auto& [key, misused] : misplaced) {
    if (misused)
      return wrong_key(flow, key, fmt::format("does not apply to the kernel '{}'", kernel));
  }
  return {};
}

Expected<void> check_flow(const FileFlow& flow) {
  TRY(check_keys_of_kernel(flow));
  if (!flow.shares && !flow.size) return wrong_key(flow, "", "key 'size' is missing");
  TRY(check_device_flow(flow));
  if (flow.size && !flow.source && !traits_of(flow.kernel).on_gpu) {
    const auto held = (*make_kernel(spec_of(flow)))->check_size(*flow.size);
    if (!held) {
      const char* const key = is_about(held.error(), "--stride")   ? "stride"
                              : is_about(held.error(), "--chains") ? "chains"
                                                                   : "size";
      return fail(error_at(flow.places, key, held.error()));
    }
  }
  if (is_answer(flow) && flow.role == Role::measured) {
    return wrong_key(flow, "role", "the answering side is not measured",
                     "leave it out; the other side is measured");
  }
  return {};
}

using FlowOfCpu = std::map<CpuId, const FileFlow*>;

/// Memory is its owner's: how large it is, where, and who touched it.
Expected<void> check_shared_memory(const FileFlow& flow) {
  const std::pair<const char*, bool> of_owner[] = {{"memory", flow.memory.has_value()},
                                                   {"pages", flow.pages.has_value()},
                                                   {"source", flow.source.has_value()},
                                                   {"first_touch", flow.first_touch.has_value()}};
  for (const auto& [key, given] : of_owner) {
    if (!given) continue;
    return wrong_key(flow, key, "is that of the flow whose memory it shares", "leave it out");
  }
  return {};
}

/// The owner fills the memory, and what it wrote must suit both: nobody else may write there.
Expected<void> check_same_content(const FileFlow& flow, const FileFlow& owner) {
  const KernelTraits& is = traits_of(flow.kernel);
  const bool answer = is_answer(flow) && is.answers == owner.kernel;
  const bool both_read = flow.kernel == owner.kernel && !is.writes;
  if (!answer && !both_read) {
    return wrong_key(
        flow, "shares",
        fmt::format("the kernel '{}' cannot share the memory of '{}'", flow.kernel, owner.kernel),
        "leave out shares and give it memory of its own (size, memory); these can share: read and "
        "read, chase and chase, cas and \"cas answer\", store and \"store answer\"");
  }
  if (is.chases() && (flow.order || flow.stride || flow.window || flow.seed || flow.verify_full ||
                      flow.chains || flow.size)) {
    return wrong_key(flow, "shares", "a chase that shares memory uses the other flow's chain",
                     "leave out size, order, stride, window, seed, verify and chains");
  }
  if (answer && flow.lines)
    return wrong_key(flow, "lines", "is that of the flow whose memory it shares", "leave it out");
  if (flow.size && owner.size && *flow.size > *owner.size)
    return wrong_key(flow, "size", "is more than that of the flow whose memory it shares");
  return {};
}

Expected<void> check_shares(const FileFlow& flow, const FlowOfCpu& flows) {
  if (!flow.shares) {
    if (!is_answer(flow)) return {};
    return wrong_key(flow, "kernel", "answers no other flow",
                     "'shares' names the CPU of the flow that passes the line");
  }
  const auto owner = flows.find(*flow.shares);
  if (owner == flows.end()) {
    return wrong_key(flow, "shares",
                     fmt::format("CPU {} has no flow in this scenario", flow.shares->value));
  }
  if (owner->second == &flow || owner->second->shares) {
    return wrong_key(
        flow, "shares",
        fmt::format("the flow on CPU {} has no memory of its own", flow.shares->value));
  }
  TRY(check_shared_memory(flow));
  return check_same_content(flow, *owner->second);
}

/// Each side that asks has one that answers, or it would wait for ever.
Expected<void> check_answers(const FileScenario& scenario) {
  std::map<CpuId, int> answers;
  for (const FileFlow& flow : scenario.flows) {
    if (is_answer(flow) && flow.shares) answers[*flow.shares] += static_cast<int>(flow.cpus.size());
  }
  for (const FileFlow& flow : scenario.flows) {
    if (traits_of(flow.kernel).step != StepKind::ping_pong) continue;
    for (CpuId cpu : flow.cpus) {
      if (answers[cpu] == 1) continue;
      return wrong_key(
          flow, "kernel",
          fmt::format("{} flows answer the one on CPU {}, where one must", answers[cpu], cpu.value),
          fmt::format("a flow with kernel = \"{} answer\" and shares = {}", flow.kernel,
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

bool default_to_the_end(const std::vector<FileFlow>& flows) {
  return std::any_of(flows.begin(), flows.end(), [](const FileFlow& flow) {
    return traits_of(flow.kernel).step == StepKind::lines;
  });
}

std::vector<CpuId> cpus_named(const ScenarioFile& file) {
  std::vector<CpuId> cpus;
  std::set<CpuId> seen;
  const auto add = [&](CpuId cpu) {
    if (seen.insert(cpu).second) cpus.push_back(cpu);
  };
  for (const FileScenario& scenario : file.scenarios) {
    for (const FileFlow& flow : scenario.flows) {
      for (CpuId cpu : flow.cpus) add(cpu);
      if (flow.first_touch) add(*flow.first_touch);
    }
  }
  return cpus;
}

Expected<void> check_scenario(const FileScenario& scenario) {
  FlowOfCpu flows;
  bool measured = false;
  for (const FileFlow& flow : scenario.flows) {
    TRY(check_flow(flow));
    measured = measured || flow.role.value_or(default_role(flow.kernel)) == Role::measured;
    for (CpuId cpu : flow.cpus) {
      if (flows.emplace(cpu, &flow).second) continue;
      return wrong_key(flow, flow.places.of.contains("cpus") ? "cpus" : "cpu",
                       fmt::format("CPU {} has a flow in this scenario already", cpu.value),
                       "flows on one CPU could only run in turns");
    }
  }
  for (const FileFlow& flow : scenario.flows) {
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
