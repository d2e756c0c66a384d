// The machine that a command is about.
#include "run/place_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "engine/clock.h"

namespace numatlas {
namespace {

/// What is said of a clock source of this name, a reading of which takes so long.
std::string warning_of(const std::string& name, std::int64_t cost_ns) {
  Machine machine;
  machine.settings = {{"clocksource", name, "", ""}, {"smt", "active", "", ""}};
  ScriptedClock clock(cost_ns);
  judge_clock(machine, clock);
  EXPECT_EQ(machine.settings[1].warning, "");
  return machine.settings[0].warning;
}

TEST(ClockSource, IsJudgedByWhatAReadingCosts) {
  for (const char* name : {"kvm-clock", "hyperv_clocksource_tsc_page", "timebase", "hpet"})
    EXPECT_EQ(warning_of(name, 30), "") << name;
  EXPECT_EQ(warning_of("hpet", 1200), "a reading takes 1200 ns; samples must be longer");
  EXPECT_EQ(warning_of("tsc", 400), "a reading takes 400 ns; samples must be longer");
}

}  // namespace
}  // namespace numatlas
