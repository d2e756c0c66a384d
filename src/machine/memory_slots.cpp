#include "machine/memory_slots.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/tree.h"

namespace numatlas {
namespace {

constexpr std::size_t most_name = 128;  // boards have up to 40
constexpr int most_slots = 3;           // of one channel
constexpr const char* names_tell_none =
    "the names of the slots do not tell their channels, and modules of one channel share it";

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

/// "A1" of "DIMM A1", "DIMMA1", "DIMM P0 A1": channel and slot. A number alone counts slots.
std::pair<std::string, std::string> letter_of_dimm(const std::string& text) {
  for (std::size_t at = text.find("DIMM"); at != std::string::npos;
       at = text.find("DIMM", at + 1)) {
    std::size_t from = at + 4;
    if (from < text.size() && text[from] == ' ') ++from;
    if (from + 2 < text.size() && text[from] == 'P' && is_digit(text[from + 1])) {
      from = text.find(' ', from);
      if (from == std::string::npos) continue;
      ++from;
    }
    if (from >= text.size() || !is_letter(text[from])) continue;
    std::size_t end = from + 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end < text.size() && text[end] == ' ')
      return {text.substr(from, 1), text.substr(from + 1, end - from - 1)};
  }
  return {};
}

/// Where a slot is by one of its names; "" where that does not tell.
struct Place {
  std::string socket, group, channel, index;
};
using Places = std::vector<Place>;

Place place_in(const std::string& name) {
  const std::string text = plain(name);
  const auto first_of = [&](std::initializer_list<const char*> words) {
    for (const char* word : words)
      if (std::string number = after(text, word, false); !number.empty()) return number;
    return std::string();
  };
  Place place;
  place.socket = first_of({"P", "CPU", "PROC", "SOCKET"});
  place.group = first_of({"CONTROLLER", "MC"});
  // Beside a processor's number a node is a part of it: a controller, or a group of channels.
  std::string& node = place.socket.empty() ? place.socket : place.group;
  if (node.empty()) node = after(text, "NODE", false);
  place.channel = after(text, "CHANNEL", true);
  place.index = first_of({"DIMM", "SLOT"});
  if (place.channel.empty()) {
    const auto [letter, slot] = letter_of_dimm(text);
    place.channel = letter;
    if (!slot.empty()) place.index = slot;
  }
  return place;
}

/// What one kind of names says of all slots, with sockets and indices of the other kind where only
/// that has them; nothing where it is silent on a channel, or cannot be true.
std::optional<Places> rule_by(const Places& own, const Places& other, const Places& arrays) {
  const auto tells = [](const Places& places, std::string Place::*part) {
    return std::all_of(places.begin(), places.end(),
                       [&](const Place& place) { return !(place.*part).empty(); });
  };
  if (!tells(own, &Place::channel)) return std::nullopt;
  Places places = own;
  const auto take = [&](std::string Place::*part, std::initializer_list<const Places*> from) {
    const auto source = std::find_if(from.begin(), from.end(),
                                     [&](const Places* names) { return tells(*names, part); });
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i].*part = source == from.end() ? "" : (**source)[i].*part;
  };
  take(&Place::socket, {&own, &other, &arrays});
  take(&Place::group, {&own});
  take(&Place::index, {&own, &other});
  std::set<std::tuple<std::string, std::string, std::string, std::string>> seen;
  std::map<std::tuple<std::string, std::string, std::string>, int> counts;
  for (const auto& [socket, group, channel, index] : places) {
    if (!seen.emplace(socket, group, channel, index).second) return std::nullopt;
    // Where a letter has more (DIMM_A1 to DIMM_A12) it is the processor's.
    if (++counts[{socket, group, channel}] > most_slots) return std::nullopt;
  }
  return places;
}

/// Whether both put the same slots into one channel, whatever they call it.
bool agree(const Places& a, const Places& b) {
  const auto key = [](const Place& place) {
    return std::tuple(place.socket, place.group, place.channel);
  };
  std::set<decltype(key(a[0]))> channels_a, channels_b;
  std::set<std::pair<decltype(key(a[0])), decltype(key(a[0]))>> both;
  for (std::size_t i = 0; i < a.size(); ++i) {
    channels_a.insert(key(a[i]));
    channels_b.insert(key(b[i]));
    both.emplace(key(a[i]), key(b[i]));
  }
  return channels_a.size() == both.size() && channels_b.size() == both.size();
}

}  // namespace

void place_slots(MemorySlots& slots, const std::vector<SlotNames>& names) {
  Places banks, locators, arrays;
  for (const SlotNames& one : names) {
    banks.push_back(place_in(one.bank));
    locators.push_back(place_in(one.locator));
    arrays.push_back({one.array, "", "", ""});
  }
  // Locators are printed on the board.
  const auto rule = rule_by(locators, banks, arrays), of_banks = rule_by(banks, locators, arrays);
  const auto& places = rule ? rule : of_banks;
  for (std::size_t i = 0; i < slots.slots.size(); ++i) {
    MemorySlot& slot = slots.slots[i];
    slot.socket = places                        ? (*places)[i].socket
                  : !locators[i].socket.empty() ? locators[i].socket
                  : !banks[i].socket.empty()    ? banks[i].socket
                                                : names[i].array;
    if (!places) continue;
    const std::string& group = (*places)[i].group;
    slot.channel = (group.empty() ? "" : group + " ") + (*places)[i].channel;
  }
  if (rule && of_banks && !agree(*rule, *of_banks))
    forget_channels(slots, "banks and locators of the slots tell different channels");
}

void forget_channels(MemorySlots& slots, const std::string& why) {
  for (MemorySlot& slot : slots.slots) slot.channel.clear();
  if (slots.problem.empty()) slots.problem = why;
}

std::string why_no_channels(const MemorySlots& slots) {
  const bool known = std::none_of(slots.slots.begin(), slots.slots.end(),
                                  [](const MemorySlot& slot) { return slot.channel.empty(); });
  if (known) return "";
  return slots.problem.empty() ? names_tell_none : slots.problem;
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
  slots.source.clear();
  return slots;
}

std::optional<double> peak_of(const MemorySlots& slots, std::string& why) {
  // By socket and channel; a channel without modules carries nothing.
  std::map<std::pair<std::string, std::string>, std::optional<double>> channels;
  why = why_no_channels(slots);
  if (!why.empty()) return std::nullopt;
  for (const MemorySlot& slot : slots.slots) {
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
  double sum = 0;
  for (const auto& [channel, rate] : channels) sum += rate.value_or(0);
  if (sum > 0) return sum;
  why = "no channel has a module";
  return std::nullopt;
}

}  // namespace numatlas
