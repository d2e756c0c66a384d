// Channels by the names of slots, held against the processor.
#include "processors/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "machine/source.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

constexpr const char* sapphire_rapids = "Intel(R) Xeon(R) Platinum 8462Y+";  // 8 channels
constexpr const char* skylake = "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz";  // 6
constexpr const char* not_in_table = "Acme 9000";

class Channels : public ::testing::Test {
 protected:
  void on(const std::string& model, int sockets) {
    machine_ = *read_recorded_machine(fmt::format("package:{} numa:1 core:2 pu:1", sockets));
    machine_.cpu_model = model;
  }
  /// A slot on each of so many channels of a socket.
  void slots(const std::string& socket, int channels, int gib_each = 16) {
    for (int i = 0; i < channels; ++i) {
      MemorySlot& slot = machine_.memory_slots.slots.emplace_back();
      slot.socket = socket;
      slot.channel = std::string(1, static_cast<char>('A' + i));
      slot.name = "DIMM " + slot.channel;
      slot.size = Bytes{static_cast<std::uint64_t>(gib_each) * gib};
      slot.type = "DDR5";
      slot.rated_speed = 4800e6;
      slot.width = 64;
    }
  }
  /// Their peak in GB/s; nothing and `why_` where that is not known.
  std::optional<double> peak() {
    check_channels(machine_);
    const auto peak = peak_of(machine_.memory_slots, why_);
    return peak ? std::optional(*peak * 1e-9) : std::nullopt;
  }
  Machine machine_;
  std::string why_;
};

TEST_F(Channels, AreThoseOfTheProcessors) {
  on(sapphire_rapids, 2);
  slots("1", 8);
  slots("2", 8);
  EXPECT_DOUBLE_EQ(peak().value_or(0), 614.4);
}

TEST_F(Channels, AreUnknownWhereTheyAreNotThoseOfTheProcessors) {
  on(sapphire_rapids, 2);
  slots("0", 4);
  slots("1", 4);
  EXPECT_EQ(peak(), std::nullopt);
  EXPECT_EQ(why_, "the names of the slots tell 8 channels, and 2 processors of this model have 16");
  EXPECT_EQ(machine_.memory_slots.slots.size(), 8U);
}

TEST_F(Channels, ADifferentNumberInEachSocketIsWrong) {
  on(skylake, 2);
  slots("0", 8);
  slots("1", 4);
  EXPECT_EQ(peak(), std::nullopt);
}

/// Locators of four slots for channels of six: as where the firmware lists what is filled alone.
TEST_F(Channels, NotAllAreListed) {
  on(skylake, 1);
  slots("0", 4);
  EXPECT_EQ(peak(), std::nullopt);
  EXPECT_THAT(why_, HasSubstr("tell 4 channels, and 1 processor of this model has 6"));
}

/// Letters that go on from one socket to the next are as good.
TEST_F(Channels, OfSocketsWithoutAName) {
  on(skylake, 2);
  slots("", 12);
  EXPECT_DOUBLE_EQ(peak().value_or(0), 12 * 38.4);
  on(skylake, 2);
  slots("", 2);  // the letters of two processors
  EXPECT_EQ(peak(), std::nullopt);
}

TEST_F(Channels, SlotsOfASocketWithoutAProcessorAreLeftOut) {
  on(sapphire_rapids, 1);
  slots("1", 8);
  slots("2", 8, 0);
  EXPECT_DOUBLE_EQ(peak().value_or(0), 307.2);
  EXPECT_EQ(machine_.memory_slots.slots.size(), 8U);
}

TEST_F(Channels, OfAProcessorThatIsInNoTable) {
  on(not_in_table, 2);
  slots("0", 3);
  slots("1", 3);
  EXPECT_DOUBLE_EQ(peak().value_or(0), 6 * 38.4);
  on(not_in_table, 2);
  slots("", 2);  // DIMM_A1 to DIMM_B3, perhaps
  EXPECT_EQ(peak(), std::nullopt);
  EXPECT_EQ(why_, "the names of the slots tell no sockets, and the machine has 2");
  on(not_in_table, 1);
  slots("", 2);
  EXPECT_DOUBLE_EQ(peak().value_or(0), 2 * 38.4);
}

}  // namespace
}  // namespace numatlas
