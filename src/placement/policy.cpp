#include "placement/policy.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/tree.h"
#include "machine/interleave_weights.h"
#include "placement/kernel_calls.h"
#include "placement/weighted.h"

namespace numatlas {
namespace {

/// A node of the placement that does not exist, has no memory, or is outside Mems_allowed: the
/// kernel says EINVAL to a mask without any usable node and silently drops unusable nodes from
/// others, so it is looked at before. All is well where nothing is known.
Expected<void> check_nodes(const MemoryPlacement& placement) {
  const auto allowed = kernel::allowed_nodes();
  if (!allowed || allowed->empty()) return {};
  const NodeSet nodes = placement.node_set();
  const auto listed = [&](const char* file) {
    const auto list =
        running_system().list<NodeId>(std::string("/sys/devices/system/node/") + file);
    return list && !list->empty() ? *list : nodes;
  };
  for (NodeId node : nodes) {
    if (allowed->contains(node)) continue;
    TRY(of_option("--memory",
                  check_memory_node(node, listed("online"), listed("has_memory"), *allowed)));
  }
  return {};
}

/// The kernel's number of each mode; of those that have two the usual one first.
constexpr std::pair<MemoryMode, int> kernel_modes[] = {
    {MemoryMode::inherit, kernel::mpol_default},
    {MemoryMode::local, kernel::mpol_local},
    {MemoryMode::bind, kernel::mpol_bind},
    {MemoryMode::prefer, kernel::mpol_preferred},
    {MemoryMode::prefer, kernel::mpol_preferred_many},
    {MemoryMode::interleave, kernel::mpol_interleave},
    {MemoryMode::weighted, kernel::mpol_weighted_interleave}};

/// Weighted is for its callers to decide.
int kernel_mode(const MemoryPlacement& placement) {
  if (placement.mode == MemoryMode::prefer && placement.nodes.size() > 1)
    return kernel::mpol_preferred_many;
  return std::ranges::find(kernel_modes, placement.mode, &std::pair<MemoryMode, int>::first)
      ->second;
}

bool all_ones(const WeightedNodes& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const auto& pair) { return pair.second == 1; });
}

/// A mode of the kernel, and what is told of it.
struct KernelWeights {
  int mode;
  PolicyOutcome outcome;
};

/// How the kernel itself gives these weights, by this system call; the error's message is why it
/// cannot.
Expected<KernelWeights> weights_by_kernel(const WeightedNodes& nodes, const char* system_call) {
  std::optional<std::string> why_not;
  if (!kernel_has_weighted_interleave())
    why_not = "this kernel has no weighted interleave (requires Linux 6.9)";
  else
    why_not = weights_differ(nodes);
  if (!why_not)
    return KernelWeights{kernel::mpol_weighted_interleave, {"kernel weighted interleave", ""}};
  if (!all_ones(nodes)) return fail(ErrorKind::unavailable, *why_not);
  return KernelWeights{kernel::mpol_interleave,
                       {system_call, "all weights are 1: the same as plain interleave"}};
}

Expected<PolicyOutcome> weighted_range(void* address, std::size_t bytes, std::size_t page_size,
                                       const MemoryPlacement& placement, std::size_t first_page) {
  auto weights = weights_by_kernel(placement.nodes, "mbind");
  if (weights) {
    const int error = kernel::bind_range(address, bytes, weights->mode, placement.node_set());
    if (error != 0) return fail(policy_error(error, "mbind", placement));
    return std::move(weights->outcome);
  }
  TRY(populate_weighted(address, bytes, page_size, placement.nodes, first_page));
  return PolicyOutcome{"first touch",
                       fmt::format("pages were touched node by node in the asked pattern, because "
                                   "{}",
                                   weights.error().message)};
}

std::string weights_remedy(const WeightedNodes& nodes) {
  std::string text = "as root: ";
  for (const auto& [node, weight] : nodes) {
    if (node != nodes.front().first) text += " && ";
    text += fmt::format("echo {} > {}node{}", weight, interleave_weight_folder, node.value);
  }
  return text + " (system-wide; note the old values before)";
}

}  // namespace

Error policy_error(int error, const char* system_call, const MemoryPlacement& placement) {
  const std::string what = fmt::format("{} for '{}'", system_call, placement.text());
  Error problem{ErrorKind::unavailable, fmt::format("{}: {}", what, errno_text(error)), "",
                "--memory"};
  switch (error) {
    case EPERM:
    case EACCES:
      problem.kind = ErrorKind::permission;
      problem.message = fmt::format("{} is not permitted here ({})", what, errno_text(error));
      problem.hint =
          "a container's seccomp filter refuses it: start the container with --cap-add SYS_NICE or "
          "--security-opt seccomp=FILE that allows it";
      problem.option_hint =
          "; `numatlas latency` and `bandwidth` without --memory need no such call";
      break;
    case ENOSYS:
      problem.message = fmt::format("{}: this kernel is built without NUMA policies ({})", what,
                                    errno_text(error));
      break;
    case EINVAL:
      if (placement.mode == MemoryMode::prefer && placement.nodes.size() > 1) {
        problem.message = what + ": this kernel cannot prefer several nodes (requires Linux 5.15)";
        problem.hint = "prefer one node, or use bind or interleave";
      }
      break;
    case ENOMEM: problem.kind = ErrorKind::resource; break;
    default: break;
  }
  return problem;
}

namespace {

bool is_refused(int error) { return error == EPERM || error == EACCES || error == ENOSYS; }

/// Containers refuse these calls by default, and local is what most runs there want.
PolicyOutcome default_instead(const char* system_call, int error) {
  return {"default policy",
          fmt::format("{} is refused here ({}); the default policy, which holds instead, is local "
                      "as well",
                      system_call, errno_text(error))};
}

/// The placement by the kernel's policies, or the error that says why not.
Expected<PolicyOutcome> ask_kernel(void* address, std::size_t bytes, std::size_t page_size,
                                   const MemoryPlacement& placement,
                                   std::optional<std::size_t> first_page) {
  TRY(check_nodes(placement));
  if (placement.mode == MemoryMode::weighted) {
    if (placement.nodes.empty()) {
      return fail(ErrorKind::usage, "'weighted' names no node");
    }
    return weighted_range(
        address, bytes, page_size, placement,
        first_page.value_or(reinterpret_cast<std::uintptr_t>(address) / page_size));
  }
  const int error =
      kernel::bind_range(address, bytes, kernel_mode(placement), placement.node_set());
  if (is_refused(error) && placement.mode == MemoryMode::local && !inherited_policy())
    return default_instead("mbind", error);
  if (error != 0) return fail(policy_error(error, "mbind", placement));
  return PolicyOutcome{"mbind", ""};
}

/// Whether pages lie where they are asked for under any policy and under none: on the only node
/// that gives this process memory.
bool needs_no_policy(const MemoryPlacement& placement) {
  const auto only = kernel::only_memory_node();
  return only && placement.node_set() == NodeSet{*only};
}

}  // namespace

Expected<PolicyOutcome> apply_to_range(void* address, std::size_t bytes, std::size_t page_size,
                                       const MemoryPlacement& placement,
                                       std::optional<std::size_t> first_page) {
  if (placement.mode == MemoryMode::inherit) return PolicyOutcome{"inherited", ""};
  auto outcome = ask_kernel(address, bytes, page_size, placement, first_page);
  if (outcome || outcome.error().kind == ErrorKind::resource || !needs_no_policy(placement))
    return outcome;
  return PolicyOutcome{"one node", ""};
}

Expected<PolicyOutcome> apply_to_process(const MemoryPlacement& placement) {
  if (placement.mode == MemoryMode::inherit) return PolicyOutcome{"inherited", ""};
  // Containers refuse the call, and nothing has to change where the task has no policy.
  if (placement.mode == MemoryMode::local && kernel::task_policy() && !inherited_policy())
    return PolicyOutcome{"default policy", ""};
  TRY(check_nodes(placement));
  PolicyOutcome outcome{"set_mempolicy", ""};
  int mode = kernel_mode(placement);
  if (placement.mode == MemoryMode::weighted) {
    auto weights = weights_by_kernel(placement.nodes, "set_mempolicy");
    if (!weights) {
      const bool old_kernel = !kernel_has_weighted_interleave();
      return fail_about(ErrorKind::unavailable, "--memory",
                        fmt::format("'{}' for a whole process needs the kernel's weighted "
                                    "interleave, but {}",
                                    placement.text(), weights.error().message),
                        old_kernel ? "use interleave" : weights_remedy(placement.nodes));
    }
    mode = weights->mode;
    outcome = std::move(weights->outcome);
  }
  const int error = kernel::set_task_policy(mode, kernel::to_mask(placement.node_set()));
  if (error == 0) return outcome;
  if (needs_no_policy(placement)) return PolicyOutcome{"one node", ""};
  if (is_refused(error) && placement.mode == MemoryMode::local && !inherited_policy())
    return default_instead("set_mempolicy", error);
  return fail(policy_error(error, "set_mempolicy", placement));
}

std::optional<MemoryPlacement> inherited_policy() {
  const auto policy = kernel::task_policy();
  if (!policy) return std::nullopt;
  MemoryPlacement placement;
  const int mode = policy->mode & ~kernel::mpol_mode_flags;
  const auto* const known =
      std::ranges::find(kernel_modes, mode, &std::pair<MemoryMode, int>::second);
  // The default, or a mode of a later kernel.
  if (known == std::end(kernel_modes) || mode == kernel::mpol_default) return std::nullopt;
  placement.mode = known->first;
  for (NodeId node : kernel::from_mask(policy->mask)) {
    const bool weighted = placement.mode == MemoryMode::weighted;
    placement.nodes.emplace_back(node, weighted ? kernel::system_weight(node).value_or(1) : 1);
  }
  // "Preferred, no node" is how kernels before 5.14 write local.
  if (placement.nodes.empty()) placement.mode = MemoryMode::local;
  return placement;
}

bool kernel_has_weighted_interleave() {
  const auto allowed = kernel::allowed_nodes();
  if (!allowed || allowed->empty()) return false;
  void* page = mmap(nullptr, kernel::page_size(), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const int error =
      kernel::bind_range(page, kernel::page_size(), kernel::mpol_weighted_interleave, *allowed);
  munmap(page, kernel::page_size());
  return error == 0;
}

}  // namespace numatlas
