// Memory modules: recorded SMBIOS tables, what boards call their slots, and damaged tables.
#include "machine/memory_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/test_data.h"
#include "base/test_tree.h"
#include "base/tree.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using testing::RecordedTree;

std::string table(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(test_data() + "/smbios/" + name + ".bin", std::ios::binary).rdbuf();
  return text.str();
}

/// Slots of 16 GiB that are named so.
MemorySlots placed(const std::vector<SlotNames>& names) {
  MemorySlots slots;
  for (const SlotNames& one : names) {
    MemorySlot& slot = slots.slots.emplace_back();
    slot.name = one.locator;
    slot.size = Bytes{16 * gib};
  }
  place_slots(slots, names);
  return slots;
}
MemorySlot placed(const std::string& bank, const std::string& locator) {
  return placed({{bank, locator, ""}}).slots.front();
}

std::set<std::pair<std::string, std::string>> channels_in(const MemorySlots& slots) {
  std::set<std::pair<std::string, std::string>> channels;
  for (const MemorySlot& slot : slots.slots) channels.emplace(slot.socket, slot.channel);
  return channels;
}

TEST(Smbios, EverySlotWithItsModule) {
  const MemorySlots found = slots_of_smbios(table("even"));
  EXPECT_EQ(found.problem, "");
  ASSERT_EQ(found.slots.size(), 16U);
  const MemorySlot& last = found.slots.back();
  EXPECT_EQ(last.name, "P1 CHANNEL H DIMM 0");
  EXPECT_EQ(last.socket, "1");
  EXPECT_EQ(last.channel, "H");
  EXPECT_EQ(last.size, Bytes{32 * gib});  // in the field for large modules
  EXPECT_EQ(last.type, "DDR5");
  EXPECT_EQ(last.rated_speed, 4800e6);
  EXPECT_EQ(last.configured_speed, 4800e6);
  EXPECT_EQ(last.width, 64);
}

TEST(Smbios, EmptyAndSlowSlots) {
  const MemorySlots empty = slots_of_smbios(table("empty-slot"));
  EXPECT_TRUE(empty.slots[10].is_empty());
  EXPECT_EQ(empty.slots[10].channel, "C");
  EXPECT_EQ(empty.slots[10].rated_speed, std::nullopt);
  const MemorySlots slow = slots_of_smbios(table("slow-slot"));
  EXPECT_EQ(slow.slots[1].rated_speed, 5600e6);
  EXPECT_EQ(slow.slots[1].configured_speed, 4000e6);
}

TEST(Smbios, TheBareTableOfTheKernelIsTheSame) {
  EXPECT_EQ(slots_of_smbios(table("uneven").substr(32)), slots_of_smbios(table("uneven")));
}

TEST(Smbios, NamesThatCountSlotsTellNoChannel) {
  for (const MemorySlot& slot : slots_of_smbios(table("counted")).slots) {
    EXPECT_EQ(slot.channel, "") << slot.name;
    EXPECT_NE(slot.socket, "") << slot.name;
  }
}

/// Dell's DIMM_A1 to DIMM_A12 are all of one processor.
TEST(Smbios, ALetterWithManySlotsIsAProcessor) {
  const auto channels = [](int slots_per_letter) {
    std::vector<SlotNames> names;
    for (const char* letter : {"A", "B"})
      for (int i = 1; i <= slots_per_letter; ++i)
        names.push_back({"", std::string("DIMM_") + letter + std::to_string(i), ""});
    std::set<std::string> all;
    for (const auto& [socket, channel] : channels_in(placed(names))) all.insert(channel);
    return all;
  };
  EXPECT_EQ(channels(12), std::set<std::string>{""});
  EXPECT_EQ(channels(4), std::set<std::string>{""});
  EXPECT_EQ(channels(3), (std::set<std::string>{"A", "B"}));
}

TEST(Smbios, NamesOfBoards) {
  const auto place = [](const std::string& bank, const std::string& locator) {
    const MemorySlot slot = placed(bank, locator);
    return slot.socket + "|" + slot.channel;
  };
  EXPECT_EQ(place("P0_Node1_Channel3_Dimm1", "DIMM 7"), "0|1 3");
  EXPECT_EQ(place("P0_Node1_Channel3_Dimm1", "DIMM_A1"), "0|A") << "what the board has printed";
  EXPECT_EQ(place("_Node1_Channel3_Dimm1", "DIMM131"), "1|3");          // Huawei
  EXPECT_EQ(place("SOCKET 0 CHANNEL 5 DIMM 0", "DIMM050 J12"), "0|5");  // Kunpeng
  EXPECT_EQ(place("NODE 1", "CPU1_DIMM_B2"), "1|B");                    // Intel
  EXPECT_EQ(place("NODE 2", "DIMM_F1"), "2|F");                         // Asus
  EXPECT_EQ(place("P0 CHANNEL A", "DIMM 0"), "0|A");                    // AMD
  EXPECT_EQ(place("P0 CHANNEL D", "DIMM_P0_D1"), "0|D");                // Gigabyte
  EXPECT_EQ(place("", "P1-DIMMC1"), "1|C");                             // Supermicro
  EXPECT_EQ(place("BANK 0", "Controller1-ChannelA-DIMM0"), "|1 A");     // Intel's desktops
  EXPECT_EQ(place("Not Specified", "A7"), "|");                         // Dell
  EXPECT_EQ(place("Not Specified", "PROC 1 DIMM 3"), "1|");             // HPE
  EXPECT_EQ(place("Bank 1", "DIMM 12"), "|");                           // Lenovo
}

/// Supermicro X13: "Node" counts groups of channels within a socket.
TEST(Smbios, ANodeBesideAProcessorIsAPartOfIt) {
  const auto board = [](bool with_letters) {
    std::vector<SlotNames> names;
    for (int s = 0; s < 2; ++s)
      for (int i = 0; i < 8; ++i)
        names.push_back({fmt::format("P{}_Node{}_Channel{}_Dimm0", s, i / 4, i % 4),
                         with_letters ? fmt::format("P{}-DIMM{}1", s + 1, "ABCDEFGH"[i]) : "DIMM",
                         ""});
    return placed(names);
  };
  EXPECT_EQ(channels_in(board(true)).size(), 16U);
  EXPECT_EQ(board(true).problem, "");
  EXPECT_EQ(board(true).slots[12].channel, "E");
  EXPECT_EQ(channels_in(board(false)).size(), 16U);
  EXPECT_EQ(board(false).slots[12].channel, "1 0");
}

/// Supermicro X11: empty slots have the bank "NO DIMM", and their locators other numbers of
/// sockets.
TEST(Smbios, OneRuleForAllSlots) {
  std::vector<SlotNames> names;
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < 6; ++i) {
      names.push_back({fmt::format("P{}_Node{}_Channel{}_Dimm0", s, i / 3, i % 3),
                       fmt::format("P{}-DIMM{}1", s + 1, "ABCDEF"[i]), ""});
      if (i % 3 == 0)
        names.push_back({"NO DIMM", fmt::format("P{}-DIMM{}2", s + 1, "ABCDEF"[i]), ""});
    }
  }
  const MemorySlots slots = placed(names);
  EXPECT_EQ(channels_in(slots).size(), 12U);
  EXPECT_EQ(slots.slots.front().socket, "1");
  for (SlotNames& one : names) one.locator = "DIMM";
  EXPECT_EQ(channels_in(placed(names)).begin()->second, "") << "some banks tell nothing";
}

TEST(Smbios, NamesThatCannotBeTrueTellNoChannel) {
  const auto none = [](const std::vector<SlotNames>& names) {
    const MemorySlots slots = placed(names);
    for (const MemorySlot& slot : slots.slots) EXPECT_EQ(slot.channel, "");
    return why_no_channels(slots);
  };
  // Two slots in one place.
  EXPECT_THAT(none({{"", "CPU1_DIMM_A1", ""}, {"", "CPU1_DIMM_A1", ""}}),
              HasSubstr("do not tell their channels"));
  EXPECT_THAT(none({{"CHANNEL A", "", ""}, {"CHANNEL A", "", ""}}),
              HasSubstr("do not tell their channels"));
  // One channel by the banks, two by the locators.
  EXPECT_EQ(none({{"P0 CHANNEL A DIMM 0", "CPU0_DIMM_A1", ""},
                  {"P0 CHANNEL A DIMM 1", "CPU0_DIMM_B1", ""}}),
            "banks and locators of the slots tell different channels");
  // Other letters for the same channels are no contradiction.
  EXPECT_EQ(channels_in(placed({{"P0 CHANNEL A DIMM 0", "CPU0_DIMM_C1", ""},
                                {"P0 CHANNEL B DIMM 0", "CPU0_DIMM_D1", ""}}))
                .size(),
            2U);
}

TEST(Smbios, AnArrayIsASocketWhereNamesDoNotTell) {
  const MemorySlots slots = placed({{"", "ChannelA-DIMM0", "0"}, {"", "ChannelA-DIMM0", "1"}});
  EXPECT_EQ(channels_in(slots).size(), 2U);
  EXPECT_EQ(slots.slots[1].socket, "1");
}

TEST(Smbios, CutOffAndForeignTables) {
  EXPECT_THAT(slots_of_smbios("").problem, HasSubstr("type 17"));
  EXPECT_THAT(slots_of_smbios("no table at all").problem, HasSubstr("type 17"));
  std::string far = table("even");
  far[17] = '\x7f';  // the address of the table
  EXPECT_THAT(slots_of_smbios(far).problem, HasSubstr("beyond its end"));
  const MemorySlots cut = slots_of_smbios(table("even").substr(0, 900));
  EXPECT_GT(cut.slots.size(), 3U);
  EXPECT_LT(cut.slots.size(), 16U);
  EXPECT_EQ(why_no_channels(cut), "the table is cut off or damaged");
}

TEST(MemorySlots, TheKernelsTableFirst) {
  RecordedTree tree;
  tree.file("/sys/firmware/dmi/tables/DMI", table("uneven").substr(32));
  const MemorySlots found = read_memory_slots(Tree(tree.root()));
  EXPECT_EQ(found.source, "/sys/firmware/dmi/tables/DMI");
  EXPECT_EQ(found.slots.size(), 16U);
}

TEST(MemorySlots, TheReasonWhereNothingTells) {
  RecordedTree tree;
  EXPECT_THAT(read_memory_slots(Tree(tree.root())).problem, HasSubstr("no SMBIOS tables"));
}

// 4800 MT/s of 64 bits are 38.4 GB/s per channel.
TEST(MemorySlots, ThePeakOfAllChannels) {
  MemorySlots slots = slots_of_smbios(table("even"));
  std::string why;
  EXPECT_DOUBLE_EQ(peak_of(slots, why).value_or(0), 16 * 38.4e9);
  EXPECT_DOUBLE_EQ(to_json(slots)["peak_bandwidth"].get<double>(), 16 * 38.4e9);
  EXPECT_DOUBLE_EQ(peak_of(slots_of_smbios(table("empty-slot")), why).value_or(0), 15 * 38.4e9);
  slots.slots[0].configured_speed = 4000e6;
  EXPECT_DOUBLE_EQ(peak_of(slots, why).value_or(0), 15 * 38.4e9 + 32e9);
  slots.slots[1].width.reset();
  EXPECT_FALSE(peak_of(slots, why));
  EXPECT_THAT(why, HasSubstr("tells no width of '" + slots.slots[1].name + "'"));
  slots.slots[0].channel.clear();
  EXPECT_FALSE(peak_of(slots, why));
  EXPECT_THAT(why, HasSubstr("do not tell their channels"));
  EXPECT_FALSE(to_json(slots).contains("peak_bandwidth"));
}

TEST(MemorySlots, ASnapshotKeepsThem) {
  Machine machine = *read_recorded_machine("numa:1 core:1 pu:1");
  EXPECT_FALSE(to_json(machine).contains("memory_slots")) << "nothing is known of them";
  machine.memory_slots = slots_of_smbios(table("empty-slot"));
  nlohmann::json snapshot = to_json(machine);
  const auto read = machine_from_json(snapshot);
  ASSERT_TRUE(read) << full_text(read.error());
  EXPECT_EQ(read->memory_slots, machine.memory_slots);
  snapshot["memory_slots"]["slots"][0].erase("name");
  const auto bad = machine_from_json(snapshot);
  ASSERT_FALSE(bad);
  EXPECT_THAT(full_text(bad.error()), HasSubstr("memory_slots.slots[0].name"));
}

}  // namespace
}  // namespace numatlas
