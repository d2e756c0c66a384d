#include "placement/kernel_calls.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string_view>

#include "base/tree.h"
#include "machine/interleave_weights.h"

namespace numatlas::kernel {
namespace {

constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;

long real_mbind(void* start, unsigned long length, int mode, const unsigned long* mask,
                unsigned long max_node, unsigned flags) {
  return syscall(SYS_mbind, start, length, mode, mask, max_node, flags);
}
long real_set_mempolicy(int mode, const unsigned long* mask, unsigned long max_node) {
  return syscall(SYS_set_mempolicy, mode, mask, max_node);
}
long real_get_mempolicy(int* mode, unsigned long* mask, unsigned long max_node, void* address,
                        unsigned long flags) {
  return syscall(SYS_get_mempolicy, mode, mask, max_node, address, flags);
}
long real_move_pages(int pid, unsigned long count, void** pages, const int* nodes, int* status,
                     int flags) {
  return syscall(SYS_move_pages, pid, count, pages, nodes, status, flags);
}

/// The kernel reads one bit less than max_node says, so one more is announced than there are.
unsigned long max_node_of(const NodeMask& mask) {
  return mask.empty() ? 0 : static_cast<unsigned long>(mask.size() * word_bits + 1);
}

/// get_mempolicy wants a mask at least as wide as the kernel's own node numbers and says EINVAL to
/// a narrower one, so it is widened until accepted.
std::optional<TaskPolicy> ask_policy(unsigned long flags) {
  constexpr std::size_t first_bits = 1024;  // CONFIG_NODES_SHIFT of 10: the largest in use
  constexpr std::size_t last_bits = 32768;  // one page of bits, the kernel's own limit
  for (std::size_t bits = first_bits; bits <= last_bits; bits *= 2) {
    TaskPolicy policy;
    policy.mask.assign(bits / word_bits, 0);
    if (calls().get_mempolicy(&policy.mode, policy.mask.data(), bits, nullptr, flags) == 0) {
      return policy;
    }
    if (errno != EINVAL) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Calls real_calls() {
  return Calls{real_mbind, real_set_mempolicy, real_get_mempolicy, real_move_pages, ::madvise};
}

Calls& calls() {
  static Calls table = real_calls();
  return table;
}

NodeMask to_mask(const NodeSet& nodes) {
  NodeMask mask;
  for (NodeId node : nodes) {
    if (node.value < 0) continue;
    const auto bit = static_cast<std::size_t>(node.value);
    if (bit / word_bits >= mask.size()) mask.resize(bit / word_bits + 1, 0);
    mask[bit / word_bits] |= 1UL << (bit % word_bits);
  }
  return mask;
}

NodeSet from_mask(const NodeMask& mask) {
  NodeSet nodes;
  for (std::size_t bit = 0; bit < mask.size() * word_bits; ++bit) {
    if ((mask[bit / word_bits] >> (bit % word_bits) & 1UL) != 0) {
      nodes.insert(NodeId{static_cast<int>(bit)});
    }
  }
  return nodes;
}

std::optional<TaskPolicy> task_policy() { return ask_policy(0); }

std::optional<NodeSet> allowed_nodes() {
  const auto policy = ask_policy(mpol_f_mems_allowed);
  if (!policy) return std::nullopt;
  return from_mask(policy->mask);
}

std::optional<NodeId> only_memory_node() {
  const auto status = running_system().text("/proc/self/status").value_or("");
  auto nodes = parse_list<NodeId>(value_of(status, "Mems_allowed_list").value_or(""));
  if (!nodes) return std::nullopt;
  // Some kernels count nodes as allowed that have no memory. Without NUMA there is no such file.
  if (const auto list = running_system().line("/sys/devices/system/node/has_memory")) {
    const auto with_memory = parse_list<NodeId>(*list);
    if (!with_memory) return std::nullopt;
    nodes = *nodes & *with_memory;
  }
  if (nodes->size() != 1) return std::nullopt;
  return nodes->front();
}

int bind_range(void* start, std::size_t bytes, int mode, const NodeSet& nodes) {
  const NodeMask mask = to_mask(nodes);
  const long rc =
      calls().mbind(start, bytes, mode, mask.empty() ? nullptr : mask.data(), max_node_of(mask), 0);
  return rc == 0 ? 0 : errno;
}

int set_task_policy(int mode, const NodeMask& mask) {
  // The default and local policies take no nodes at all.
  const bool none = from_mask(mask).empty();
  const long rc =
      calls().set_mempolicy(mode, none ? nullptr : mask.data(), none ? 0 : max_node_of(mask));
  return rc == 0 ? 0 : errno;
}

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::optional<int> system_weight(NodeId node) {
  const auto weights = read_interleave_weights(running_system()).of_nodes;
  const auto found = weights.find(node);
  return found == weights.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace numatlas::kernel
