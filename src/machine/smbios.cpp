// SMBIOS, by the System Management BIOS Reference Specification (DMTF DSP0134 3.7): 5.2 entry
// points, 6.1 structures, 7.17 physical memory array, 7.18 memory device.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "machine/memory_slots.h"

namespace numatlas {
namespace {

constexpr int type_array = 16, type_device = 17, type_end = 127;
constexpr std::uint64_t megabyte = 1024 * 1024;

std::uint64_t number_at(std::string_view data, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  if (at > data.size() || bytes > data.size() - at) return 0;
  for (std::size_t i = bytes; i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(data[at + i]);
  return value;
}

/// One structure: its formatted part, and the strings behind it. Fields beyond its length are those
/// of later versions: 0, which is "unknown" or "none" in all that are read here.
struct Structure {
  int type = 0;
  std::uint64_t handle = 0;
  std::string_view formatted;
  std::vector<std::string_view> strings;

  std::uint64_t number(std::size_t at, std::size_t bytes) const {
    return number_at(formatted, at, bytes);
  }
  std::string text(std::size_t at) const {
    const std::uint64_t index = number(at, 1);  // from 1; 0: none
    if (index == 0 || index > strings.size()) return "";
    std::string_view text = strings[index - 1];
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    return printable(text);
  }
};

/// Takes the next structure from the front of a table; nullopt where it is cut off.
std::optional<Structure> next_structure(std::string_view& table) {
  constexpr std::size_t head = 4;
  if (table.size() < head) return std::nullopt;
  Structure one;
  one.type = static_cast<unsigned char>(table[0]);
  const std::size_t length = static_cast<unsigned char>(table[1]);
  if (length < head || length > table.size()) return std::nullopt;
  one.handle = number_at(table, 2, 2);
  one.formatted = table.substr(0, length);
  table.remove_prefix(length);
  // Strings end in NUL, the last one in two; without any there are two as well.
  while (!table.empty() && table.front() != '\0') {
    const std::size_t end = table.find('\0');
    one.strings.push_back(table.substr(0, end));
    table.remove_prefix(end == std::string_view::npos ? table.size() : end + 1);
  }
  const std::size_t ends = one.strings.empty() ? 2 : 1;
  table.remove_prefix(std::min(ends, table.size()));
  return one;
}

/// The table behind an entry point, where there is one; nullopt where that leads out of the file.
std::optional<std::string_view> table_in(std::string_view data) {
  std::uint64_t address = 0, size = data.size();
  if (data.starts_with("_SM3_")) {
    address = number_at(data, 16, 8);
    size = number_at(data, 12, 4);
  } else if (data.starts_with("_SM_")) {
    address = number_at(data, 24, 4);
    size = number_at(data, 22, 2);
  }
  if (address > data.size()) return std::nullopt;
  return data.substr(address, size);
}

std::string memory_type(std::uint64_t code) {
  static const std::map<std::uint64_t, const char*> names{
      {0x12, "DDR"},    {0x13, "DDR2"},   {0x18, "DDR3"},   {0x1A, "DDR4"},   {0x1B, "LPDDR"},
      {0x1C, "LPDDR2"}, {0x1D, "LPDDR3"}, {0x1E, "LPDDR4"}, {0x1F, "NVDIMM"}, {0x20, "HBM"},
      {0x21, "HBM2"},   {0x22, "DDR5"},   {0x23, "LPDDR5"}, {0x24, "HBM3"}};
  const auto found = names.find(code);
  return found == names.end() ? "" : found->second;
}

/// 7.18.2: 0 is an empty slot, 0xFFFF unknown; bit 15 counts in KiB, 0x7FFF stands for a later
/// field.
std::optional<Bytes> size_of(const Structure& one) {
  const std::uint64_t size = one.number(0x0C, 2);
  if (size == 0xFFFF) return std::nullopt;
  if (size == 0x7FFF) return Bytes{(one.number(0x1C, 4) & 0x7FFFFFFFU) * megabyte};
  return Bytes{(size & 0x8000U) != 0 ? (size & 0x7FFFU) * 1024 : size * megabyte};
}

/// MT/s; 0 is unknown, 0xFFFF stands for a later field.
std::optional<double> speed_of(const Structure& one, std::size_t at, std::size_t extended) {
  std::uint64_t speed = one.number(at, 2);
  if (speed == 0xFFFF) speed = one.number(extended, 4) & 0x7FFFFFFFU;
  if (speed == 0) return std::nullopt;
  return static_cast<double>(speed) * 1e6;
}

SlotNames names_of(const Structure& one) { return {one.text(0x11), one.text(0x10), ""}; }

MemorySlot slot_of(const Structure& one) {
  MemorySlot slot;
  const std::string bank = one.text(0x11);
  slot.name = one.text(0x10);
  slot.size = size_of(one);
  slot.type = memory_type(one.number(0x12, 1));
  slot.rated_speed = speed_of(one, 0x15, 0x54);
  slot.configured_speed = speed_of(one, 0x20, 0x58);
  const std::uint64_t width = one.number(0x0A, 2);
  if (width > 0 && width < 0xFFFF) slot.width = static_cast<int>(width);
  if (!bank.empty() && bank != slot.name)
    slot.name = slot.name.empty() ? bank : bank + " " + slot.name;
  return slot;
}

/// Arrays of memory that is not the system's: of a graphics card, of flash, of a cache.
bool is_system_memory(const Structure& array) { return array.number(0x05, 1) == 0x03; }

}  // namespace

MemorySlots slots_of_smbios(std::string_view data) {
  MemorySlots found;
  const auto behind = table_in(data);
  if (!behind) {
    found.problem = "its entry point names an address beyond its end";
    return found;
  }
  std::string_view table = *behind;
  std::map<std::uint64_t, std::size_t> arrays;  // handle -> number among the system's
  std::map<std::uint64_t, bool> others;
  std::vector<Structure> devices;
  bool ended = false;
  while (!table.empty() && !ended) {
    const auto one = next_structure(table);
    if (!one) break;
    ended = one->type == type_end;
    if (one->type == type_array && is_system_memory(*one))
      arrays.emplace(one->handle, arrays.size());
    if (one->type == type_array && !is_system_memory(*one)) others[one->handle] = true;
    if (one->type == type_device) devices.push_back(*one);
  }
  std::vector<SlotNames> names;
  for (const Structure& device : devices) {
    const std::uint64_t array = device.number(0x04, 2);
    if (others.contains(array)) continue;
    found.slots.push_back(slot_of(device));
    names.push_back(names_of(device));
    // Servers have an array a socket, where they have several.
    const auto number = arrays.find(array);
    if (arrays.size() > 1 && number != arrays.end())
      names.back().array = fmt::format("{}", number->second);
  }
  place_slots(found, names);
  if (found.slots.empty())
    found.problem = "it has no memory device (SMBIOS type 17)";
  else if (!ended && !table.empty())
    forget_channels(found, "the table is cut off or damaged");
  return found;
}

}  // namespace numatlas
