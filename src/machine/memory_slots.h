// Memory modules and the slots for them: SMBIOS tables, else what EDAC's drivers know.
#pragma once

#include <string>
#include <string_view>

#include "machine/machine.h"
#include "machine/tree.h"

namespace numatlas {

/// Reads SMBIOS structures of type 16 and 17 (DSP0134): the bare table that the kernel shows as
/// /sys/firmware/dmi/tables/DMI, or with an entry point before it as `dmidecode --dump-bin` writes
/// it. Never fails: a table that is cut off, or that is none, has a `problem`.
MemorySlots slots_of_smbios(std::string_view table);

/// Socket and channel that the board's names of a slot tell ("P0 CHANNEL A", "CPU1_DIMM_B2"),
/// written into the slot. Names that only count slots ("DIMM 3", "A7") tell no channel.
void place_slot(MemorySlot& slot, const std::string& bank);

/// Of the live machine or a recorded tree: SMBIOS where it may be read (root only), else EDAC, else
/// the reason.
MemorySlots read_memory_slots(const Tree& tree);

}  // namespace numatlas
