// Memory modules and the slots for them, by SMBIOS tables.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace numatlas {

class Tree;

/// A place for a memory module.
struct MemorySlot {
  std::string name;                        ///< as the board calls it: "P0 CHANNEL A DIMM 0"
  std::string socket, channel;             ///< "0", "A"; "" where nothing tells
  std::optional<Bytes> size;               ///< 0: empty
  std::string type;                        ///< "DDR5"; "" unknown
  std::optional<double> rated_speed;       ///< of the module, transfers a second
  std::optional<double> configured_speed;  ///< that it runs at
  std::optional<int> width;                ///< data bits, without check bits
  bool is_empty() const { return size && size->value == 0; }
  /// Persistent modules share the channels, but not the bandwidth.
  bool has_dram() const { return size && size->value > 0 && type != "NVDIMM"; }
  friend bool operator==(const MemorySlot&, const MemorySlot&) = default;
};

struct MemorySlots {
  std::string source;   ///< file; "" where none says anything
  std::string problem;  ///< why nothing, or not all, is known; "" for none
  std::vector<MemorySlot> slots;
  friend bool operator==(const MemorySlots&, const MemorySlots&) = default;
};

/// Reads SMBIOS structures of type 16 and 17 (DSP0134): the bare table that the kernel shows as
/// /sys/firmware/dmi/tables/DMI, or with an entry point before it as `dmidecode --dump-bin` writes
/// it. Never fails: a table that is cut off, or that is none, has a `problem`. All texts are
/// printable.
MemorySlots slots_of_smbios(std::string_view table);

/// What firmware calls a slot, and the number of its array of memory where there are several.
struct SlotNames {
  std::string bank, locator, array;
};
/// Sockets and channels by the names of all slots together, in the same order: one rule has to fit
/// each of them ("CPU1_DIMM_B2", bank "P0 CHANNEL A"), give no two slots the same place, and no
/// channel more than three; banks and locators that both have one have to agree. Else no slot has a
/// channel, and `problem` says why. Names that only count slots ("DIMM 3", "A7") tell none.
void place_slots(MemorySlots& slots, const std::vector<SlotNames>& names);
/// Takes the channels of all slots away.
void forget_channels(MemorySlots& slots, const std::string& why);
/// Why the channels are not known; "" where they are.
std::string why_no_channels(const MemorySlots& slots);

/// Of the live machine or a recorded tree, where the tables may be read (root only); else the
/// reason.
MemorySlots read_memory_slots(const Tree& tree);

/// Bytes a second of all channels together, each at the speed of its slowest module; two modules of
/// a channel share it. Pure. `why` says what keeps it from being known.
std::optional<double> peak_of(const MemorySlots& slots, std::string& why);

/// As a snapshot has them ("memory_slots"), with the peak of those that tell it.
nlohmann::json to_json(const MemorySlots& slots);

}  // namespace numatlas
