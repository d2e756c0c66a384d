#include "analysis/host_kind.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/text.h"

namespace numatlas {

HostKind kind_of(const Machine& machine, int processes, int workers) {
  HostKind kind;
  kind.cpu_model = machine.cpu_model;
  kind.os = machine.os;
  kind.cpus = static_cast<int>(machine.cpus.size());
  kind.processes = processes;
  kind.workers = workers;
  std::uint64_t memory = 0;
  for (const NumaNode& node : machine.nodes) {
    if (!node.may_have_memory()) continue;
    ++kind.nodes;
    memory += node.memory_total.value_or(Bytes{}).value;
  }
  kind.memory = Bytes{(memory + gib / 2) / gib * gib};
  return kind;
}

bool alike(const HostKind& a, const HostKind& b) {
  const auto more = static_cast<double>(std::max(a.memory, b.memory).value);
  const auto less = static_cast<double>(std::min(a.memory, b.memory).value);
  HostKind other = b;
  other.memory = a.memory;
  return a == other && more - less <= 0.02 * more;
}

HostKind kind_of(const RunReport& report, const HostRow& host) {
  return kind_of(report.machines[host.kind], host.processes, host.workers);
}

std::string hardware_text(const HostKind& kind) {
  std::string text = kind.cpu_model.empty() ? "unknown CPU" : kind.cpu_model;
  // Files of other programs know nothing of the machine: what is absent is not shown as 0.
  if (kind.cpus > 0) text += ", " + count_text(kind.cpus, "CPU");
  if (kind.nodes > 0) text += ", " + count_text(kind.nodes, "node");
  if (kind.memory.value > 0) text += ", " + to_text(kind.memory);
  if (!kind.os.empty()) text += ", " + kind.os;
  return text;
}

std::string to_text(const HostKind& kind) {
  std::string text = hardware_text(kind);
  text += ", " + count_text(kind.processes, "process", "processes");
  if (kind.processes > 0 && kind.workers % kind.processes == 0)
    return text + fmt::format(" x {}", count_text(kind.workers / kind.processes, "thread"));
  return text + fmt::format(", {}", count_text(kind.workers, "thread"));
}

}  // namespace numatlas
