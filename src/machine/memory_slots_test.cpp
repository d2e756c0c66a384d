// Memory modules: recorded SMBIOS tables, what boards call their slots, EDAC, and damaged tables.
#include "machine/memory_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "base/test_data.h"
#include "base/test_tree.h"
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

MemorySlot placed(const std::string& bank, const std::string& name) {
  MemorySlot slot;
  slot.name = name;
  place_slot(slot, bank);
  return slot;
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
    std::vector<MemorySlot> slots;
    for (const char* letter : {"A", "B"})
      for (int i = 1; i <= slots_per_letter; ++i)
        slots.push_back(placed("", std::string("DIMM_") + letter + std::to_string(i)));
    check_channels(slots);
    std::set<std::string> all;
    for (const MemorySlot& slot : slots) all.insert(slot.channel);
    return all;
  };
  EXPECT_EQ(channels(12), std::set<std::string>{""});
  EXPECT_EQ(channels(4), std::set<std::string>{""});
  EXPECT_EQ(channels(3), (std::set<std::string>{"A", "B"}));
}

TEST(Smbios, NamesOfBoards) {
  EXPECT_EQ(placed("P0_Node0_Channel3_Dimm1", "DIMM_A1").channel, "3");
  EXPECT_EQ(placed("P0_Node1_Channel3_Dimm1", "DIMM_A1").socket, "0");
  EXPECT_EQ(placed("", "CPU1_DIMM_B2").channel, "B");
  EXPECT_EQ(placed("", "CPU1_DIMM_B2").socket, "1");
  EXPECT_EQ(placed("", "P1-DIMMC1").channel, "C");
  EXPECT_EQ(placed("", "DIMM_P0_D1").channel, "D");
  EXPECT_EQ(placed("BANK 0", "Controller1-ChannelA-DIMM0").channel, "1 A");
  EXPECT_EQ(placed("", "A7").channel, "");
  EXPECT_EQ(placed("", "DIMM 12").channel, "");
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
}

// Firmware writes what it likes: nothing of it may lead out of the table. The sanitizers look on.
TEST(Smbios, AnyBytesAreRead) {
  std::mt19937 random(17);
  for (const char* name : {"even", "small", "counted"}) {
    const std::string good = table(name);
    for (int turn = 0; turn < 2000; ++turn) {
      std::string bad = good.substr(0, random() % (good.size() + 1));
      for (int change = 0; change < 8 && !bad.empty(); ++change)
        bad[random() % bad.size()] = static_cast<char>(random());
      const MemorySlots found = slots_of_smbios(bad);
      EXPECT_LE(found.slots.size(), bad.size());
      EXPECT_NO_THROW((void)to_json(found).dump());  // texts are UTF-8
    }
  }
}

TEST(MemorySlots, TheKernelsTableFirst) {
  RecordedTree tree;
  tree.file("/sys/firmware/dmi/tables/DMI", table("uneven").substr(32));
  const MemorySlots found = read_memory_slots(Tree(tree.root()));
  EXPECT_EQ(found.source, "/sys/firmware/dmi/tables/DMI");
  EXPECT_EQ(found.slots.size(), 16U);
}

TEST(MemorySlots, EdacKnowsSizesAndChannels) {
  RecordedTree tree;
  const std::string folder = "/sys/devices/system/edac/mc/mc1/";
  tree.file(folder + "dimm0/size", "16384");
  tree.file(folder + "dimm0/dimm_label", "CPU_SrcID#0_MC#1_Chan#0_DIMM#0");
  tree.file(folder + "dimm0/dimm_location", "channel 0 slot 0");
  tree.file(folder + "dimm0/dimm_mem_type", "Registered-DDR5");
  tree.file(folder + "dimm3/size", "0");
  tree.file(folder + "dimm3/dimm_location", "channel 1 slot 0");
  const MemorySlots found = read_memory_slots(Tree(tree.root()));
  ASSERT_EQ(found.slots.size(), 2U);
  EXPECT_EQ(found.source, "/sys/devices/system/edac/mc");
  EXPECT_EQ(found.slots[0].size, Bytes{16 * gib});
  EXPECT_EQ(found.slots[0].type, "DDR5");
  EXPECT_EQ(found.slots[0].channel, "mc1 0");
  EXPECT_EQ(found.slots[0].rated_speed, std::nullopt);
  EXPECT_TRUE(found.slots[1].is_empty());
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
