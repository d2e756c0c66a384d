#include "machine/memory_slots.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "base/tree.h"

namespace numatlas {
namespace {

constexpr std::size_t most_name = 128;  // boards have up to 40
constexpr int most_slots = 3;           // of one channel

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'A' && c <= 'Z'; }

/// In capitals, with one blank for each "_", "-" and run of blanks: "CPU0_DIMM-A1" is
/// "CPU0 DIMM A1".
std::string plain(const std::string& name) {
  std::string text = " ";
  for (const char c : name.substr(0, most_name)) {
    const bool blank = c == '_' || c == '-' || c == ' ' || c == '/' || c == ',';
    if (blank && text.back() != ' ') text += ' ';
    if (!blank) text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text + " ";
}

/// The number, or with `letters` the single letter or number, that follows a word; a blank may
/// stand between. "" where there is none.
std::string after(const std::string& text, const std::string& word, bool letters) {
  for (std::size_t at = text.find(" " + word); at != std::string::npos;
       at = text.find(" " + word, at + 1)) {
    std::size_t from = at + 1 + word.size();
    if (from < text.size() && text[from] == ' ') ++from;
    std::size_t end = from;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > from) return text.substr(from, end - from);
    const bool one =
        letters && from + 1 < text.size() && is_letter(text[from]) && !is_letter(text[from + 1]);
    if (one) return text.substr(from, 1);
  }
  return "";
}

/// The letter of "DIMM A1", "DIMMA1": channel and slot. A number alone counts slots.
std::string letter_of_dimm(const std::string& text) {
  for (std::size_t at = text.find("DIMM"); at != std::string::npos;
       at = text.find("DIMM", at + 1)) {
    std::size_t from = at + 4;
    if (from < text.size() && text[from] == ' ') ++from;
    // "DIMM P0 A1": the socket stands between.
    if (from + 2 < text.size() && text[from] == 'P' && is_digit(text[from + 1])) {
      from = text.find(' ', from);
      if (from == std::string::npos) continue;
      ++from;
    }
    if (from + 1 < text.size() && is_letter(text[from]) &&
        (is_digit(text[from + 1]) || text[from + 1] == ' '))
      return text.substr(from, 1);
  }
  return "";
}

/// "channel 0 slot 1", "csrow 0 channel 1", as EDAC says it.
std::string edac_channel(const std::string& location) {
  return after(plain(location), "CHANNEL", false);
}

std::optional<MemorySlots> read_edac(const Tree& tree) {
  const std::string folder = "/sys/devices/system/edac/mc";
  MemorySlots found;
  for (const std::string& controller : tree.names(folder)) {
    if (!number_after(controller, "mc")) continue;
    const std::string path = folder + "/" + controller;
    for (const std::string& name : tree.names(path)) {
      if (!number_after(name, "dimm") && !number_after(name, "rank")) continue;
      const auto megabytes = tree.number(fmt::format("{}/{}/size", path, name));
      if (!megabytes || *megabytes < 0) continue;
      MemorySlot slot;
      const auto text = [&](const char* file) {
        return printable(tree.text(fmt::format("{}/{}/{}", path, name, file)).value_or(""));
      };
      slot.name = text("dimm_label");
      if (slot.name.empty()) slot.name = controller + " " + name;
      slot.size = Bytes{static_cast<std::uint64_t>(*megabytes) * mib};
      const std::string type = text("dimm_mem_type");  // "Registered-DDR5"
      slot.type = type.substr(type.rfind('-') + 1);
      const std::string channel = edac_channel(text("dimm_location"));
      if (!channel.empty()) slot.channel = controller + " " + channel;
      found.slots.push_back(std::move(slot));
    }
  }
  if (found.slots.empty()) return std::nullopt;
  found.source = folder;
  return found;
}

}  // namespace

void place_slot(MemorySlot& slot, const std::string& bank) {
  const std::string text = plain(bank + " " + slot.name);
  for (const char* word : {"P", "CPU", "PROC", "SOCKET", "NODE"}) {
    slot.socket = after(text, word, false);
    if (!slot.socket.empty()) break;
  }
  std::string channel = after(text, "CHANNEL", true);
  if (channel.empty()) channel = letter_of_dimm(text);
  if (channel.empty()) return;
  for (const char* word : {"CONTROLLER", "MC"}) {
    const std::string controller = after(text, word, false);
    if (controller.empty()) continue;
    channel = controller + " " + channel;
    break;
  }
  slot.channel = channel;
}

void check_channels(std::vector<MemorySlot>& slots) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const MemorySlot& slot : slots)
    if (!slot.channel.empty()) ++counts[{slot.socket, slot.channel}];
  const bool wrong = std::any_of(counts.begin(), counts.end(),
                                 [](const auto& one) { return one.second > most_slots; });
  if (!wrong) return;
  for (MemorySlot& slot : slots) slot.channel.clear();
}

MemorySlots read_memory_slots(const Tree& tree) {
  const std::string file = "/sys/firmware/dmi/tables/DMI";
  constexpr std::size_t most_bytes = 4U << 20U;
  MemorySlots slots;
  if (const auto table = tree.text(file, most_bytes)) {
    slots = slots_of_smbios(*table);
    slots.source = file;
    if (!slots.slots.empty()) return slots;
    slots.problem = file + ": " + slots.problem;
  } else {
    slots.problem =
        tree.exists(file) ? "only root may read " + file : "no SMBIOS tables in " + file;
  }
  if (auto edac = read_edac(tree)) return *std::move(edac);
  slots.source.clear();
  slots.problem += ", and EDAC has no memory controller";
  return slots;
}

std::optional<double> peak_of(const MemorySlots& slots, std::string& why) {
  // By socket and channel; a channel without modules carries nothing.
  std::map<std::pair<std::string, std::string>, std::optional<double>> channels;
  for (const MemorySlot& slot : slots.slots) {
    if (slot.channel.empty()) {
      channels.clear();
      break;
    }
    auto& rate = channels[{slot.socket, slot.channel}];
    if (slot.is_empty() || slot.type == "NVDIMM") continue;
    const auto speed = slot.configured_speed ? slot.configured_speed : slot.rated_speed;
    if (!speed || !slot.width) {
      const char* unknown = speed        ? "no width"
                            : slot.width ? "no speed"
                                         : "neither speed nor width";
      why = fmt::format("{} tells {} of '{}'", slots.source, unknown, slot.name);
      return std::nullopt;
    }
    const double its = *speed * *slot.width / 8;
    rate = std::min(rate.value_or(its), its);
  }
  if (channels.empty()) {
    why = "the names of the slots do not tell their channels, and modules of one channel share it";
    return std::nullopt;
  }
  double sum = 0;
  for (const auto& [channel, rate] : channels) sum += rate.value_or(0);
  if (sum > 0) return sum;
  why = "no channel has a module";
  return std::nullopt;
}

}  // namespace numatlas
