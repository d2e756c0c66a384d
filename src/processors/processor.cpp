#include "processors/processor.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace numatlas {
namespace {

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

std::string bounded_model(const std::string& cpu_model) {
  constexpr std::size_t longest = 128;
  return cpu_model.substr(0, longest);
}

Sockets sockets_of(const Machine& machine) {
  std::map<int, std::set<int>> cores;
  for (const Cpu& cpu : machine.cpus)
    if (cpu.package >= 0) cores[cpu.package].insert(cpu.core);
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
