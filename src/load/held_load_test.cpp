#include "load/held_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/test_data.h"
#include "engine/clock.h"
#include "load/bursts.h"
#include "placement/policy.h"
#include "run/place_words.h"

namespace numatlas {
namespace {

LoadWindow window(double gigabytes, double taken) {
  LoadWindow window;
  window.seconds = 1;
  window.bytes = gigabytes * 1e9;
  window.taken = taken;
  return window;
}

TEST(Shortfall, SaysByHowMuchAndWhy) {
  EXPECT_EQ(shortfall_text(window(9.8, 0), 10e9, 4), "");
  EXPECT_EQ(
      shortfall_text(window(6, 0.1), 10e9, 4),
      "40 % short: its 4 CPUs run without a pause: the memory is full, or they can do no more");
  EXPECT_EQ(shortfall_text(window(6, 0), 10e9, 1),
            "40 % short: its CPU runs without a pause: the memory is full, or they can do no more");
  EXPECT_EQ(shortfall_text(window(6, 1.6), 10e9, 4),
            "40 % short: its CPUs were taken away for 1.60 of 4.00 s");
  EXPECT_EQ(shortfall_text(window(6, 0), 0, 4), "") << "nothing was asked";
}

TEST(Peak, SaysWhatOthersTook) {
  EXPECT_EQ(peak_text(window(10, 0.1), 2), "10.0 GB/s without pauses");
  EXPECT_EQ(peak_text(window(10, 0.5), 2),
            "10.0 GB/s without pauses (its CPUs were taken away for 0.50 of 2.00 s)");
}

TEST(LoadRequest, KnowsTheCacheThatHoldsIt) {
  const Machine machine = *machine_of_option(test_data() + "/topologies/cxl-tiers.json");
  LoadRequest request;
  request.kernel = kernel_named("read");
  WorkerPlacement& place = request.workers.emplace_back();
  place.cpus = {CpuId{0}};
  request.size = Bytes{kib};
  EXPECT_EQ(request.levels(machine), std::vector<std::string>{"L1"});
  request.size = Bytes{gib};
  EXPECT_EQ(request.levels(machine), std::vector<std::string>{"memory"});
}

LoadCpus cpus_on(const std::string& machine, const NodeSet& memory, bool beside) {
  return *usual_load_cpus(*machine_of_option(machine), memory, beside);
}

TEST(LoadCpus, AreNearTheMemoryAndLeaveAProgramCores) {
  // CPUs 0-15 are cores of node 0, which is nearest to node 2; 32-47 are their second threads.
  const std::string machine = test_data() + "/topologies/cxl-tiers.json";
  EXPECT_EQ(to_list(cpus_on(machine, {NodeId{2}}, false).load), "0-15");
  const LoadCpus beside = cpus_on(machine, {NodeId{2}}, true);
  EXPECT_EQ(to_list(beside.load), "1,3,5,7,9,11,13,15");
  EXPECT_EQ((beside.program & CpuSet{CpuId{1}, CpuId{33}}).size(), 0U);
  EXPECT_TRUE(beside.program.contains(CpuId{0}));
  EXPECT_TRUE(beside.program.contains(CpuId{16}));
}

TEST(LoadCpus, OfOneCoreAreItsSecondThread) {
  const LoadCpus cpus = cpus_on("core:1 pu:2", {}, true);
  EXPECT_EQ(to_list(cpus.load) + " " + to_list(cpus.program), "0 1");
  EXPECT_FALSE(usual_load_cpus(*machine_of_option("core:1 pu:1"), {}, true));
}

/// Bursts of 1000 bytes that one thread does in this time, each in `burst_ns`, from now on.
std::int64_t bursts_in(Bursts& bursts, ScriptedClock& clock, std::int64_t time_ns,
                       double burst_ns) {
  std::int64_t done = 0;
  for (const std::int64_t end = clock.now_ns() + time_ns; clock.now_ns() < end; ++done) {
    const auto due = bursts.take();
    if (!due || *due >= end) break;
    clock.sleep_until(*due);
    clock.advance(burst_ns);
  }
  return done;
}

constexpr std::int64_t one_second = 1'000'000'000;

TEST(Bursts, ReachTheRate) {
  // A burst in 3333.3 ns.
  for (const double burst_ns : {10.0, 1000.0, 3000.0}) {
    ScriptedClock clock(7);
    Bursts bursts(clock);
    EXPECT_FALSE(bursts.take()) << "none is asked for";
    bursts.hold(300e6, 1000);
    EXPECT_NEAR(static_cast<double>(bursts_in(bursts, clock, one_second, burst_ns)), 300'000, 30)
        << burst_ns;
  }
}

TEST(Bursts, WithoutARateAreDueAtOnce) {
  ScriptedClock clock(0);
  Bursts bursts(clock);
  bursts.hold(std::nullopt, 1000);
  EXPECT_EQ(bursts_in(bursts, clock, one_second, 1000), 1'000'000);
  bursts.hold(0, 1000);
  EXPECT_FALSE(bursts.take());
}

TEST(Bursts, MakeUpForAPauseUpToALimit) {
  // A burst in 10 us, which takes 1 us.
  for (const std::int64_t away_ns : {one_second / 10, one_second / 2}) {
    ScriptedClock clock(0);
    Bursts bursts(clock);
    bursts.hold(100e6, 1000);
    clock.advance(static_cast<double>(away_ns));
    const std::int64_t made_up = std::min(away_ns, Bursts::longest_delay_ns) / 10'000;
    EXPECT_NEAR(static_cast<double>(bursts_in(bursts, clock, one_second, 1000)),
                static_cast<double>(100'000 + made_up), 2)
        << away_ns;
  }
}

/// One thread on the first CPU that this process may use.
LoadRequest small_request() {
  LoadRequest request;
  WorkerPlacement place;
  place.cpus = {thread_affinity().front()};
  place.cpu = place.cpus.front();
  request.workers = {place};
  request.kernel = kernel_named("update");
  request.size = Bytes{1 * mib};
  return request;
}

TEST(HeldLoad, MovesBytesAndStops) {
  const Machine machine = *machine_of_option("");
  const LoadRequest request = small_request();
  auto load = start_load(request, machine);
  ASSERT_TRUE(load) << load.error().message;
  (*load)->look(0);
  (*load)->wait(0.05);
  EXPECT_EQ((*load)->look(0).bytes, 0) << "it begins with none";
  (*load)->hold(std::nullopt);
  LoadWindow all;
  while (all.bytes == 0) {
    (*load)->wait(0.02);
    all += (*load)->look(0);
  }
  EXPECT_GT(all.cpu, 0);
  EXPECT_EQ((*load)->residencies().front().pages_total, 256U);
  (*load)->hold(0);
  (*load)->wait(0.05);
  (*load)->look(0);
  EXPECT_TRUE((*load)->finish());
}

TEST(HeldLoad, IsNoFasterThanAsked) {
  const Machine machine = *machine_of_option("");
  const LoadRequest request = small_request();
  auto load = start_load(request, machine);
  ASSERT_TRUE(load);
  constexpr double rate = 100e6, second = 0.3;
  (*load)->hold(rate);
  const LoadWindow window = [&] {
    (*load)->wait(second);
    return (*load)->look(second);
  }();
  // A burst more at either end.
  EXPECT_LE(window.bytes, rate * window.seconds + 2 * mib);
}

TEST(HeldLoad, OfTheSimulatedMachineHasAPeak) {
  const Machine machine =
      *machine_of_option("numa:2(memory=34359738368) l3:1(size=16777216) core:2 pu:1");
  LoadRequest request;
  for (const int cpu : {0, 1}) {
    WorkerPlacement place;
    place.cpus = {CpuId{cpu}};
    place.cpu = CpuId{cpu};
    place.cpu_node = NodeId{0};
    request.workers.push_back(place);
  }
  request.kernel = kernel_named("read");
  request.size = Bytes{64 * mib};
  auto load = simulate_load(request, machine);
  ASSERT_TRUE(load);
  EXPECT_NEAR(peak_of(**load).rate(), 24e9, 1e9);
  (*load)->hold(6e9);
  const LoadWindow held = (*load)->look(1);
  EXPECT_NEAR(held.rate(), 6e9, 0.3e9);
  EXPECT_NEAR(held.cpu, 0.5, 0.05);
  (*load)->hold(50e9);
  EXPECT_NEAR((*load)->look(1).rate(), 24e9, 1e9);
}

}  // namespace
}  // namespace numatlas
