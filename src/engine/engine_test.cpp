// The real engine on the machine at hand: small sizes, short times, no figure of speed.
#include "engine/engine.h"
#include "base/test_folder.h"
#include "base/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "base/signals.h"
#include "engine/test_engine.h"
#include "engine/test_real_engine.h"
#include "memory/source.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using testing::RealEngine;

std::int64_t cpu_time_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// Phases as the engine tells them.
class Phases final : public ProgressListener {
 public:
  void phase(const Scenario& scenario, const std::string& phase) override {
    text += scenario.name + " " + phase + "; ";
  }
  std::string text;
};

TEST_F(RealEngine, GroupsAreCountedWhileItRecords) {
  Scenario scenario = scenario_of({flow_of(0), flow_of(1)}, milliseconds(50));
  for (Flow& flow : scenario.flows) flow.kernel.as<ChaseParameters>().tail_group = 8;
  // The second run finds the memory and the kernels of the first.
  for (int run = 0; run < 2; ++run) {
    const auto traces = engine_->run(scenario);
    ASSERT_TRUE(traces) << full_text(traces.error());
    for (const Trace& trace : *traces) {
      ASSERT_TRUE(trace.groups);
      std::uint64_t groups = trace.groups->interrupted;
      for (const std::uint64_t count : trace.groups->counts) groups += count;
      const std::uint64_t recorded = trace.samples.size() * trace.steps_per_sample / 8;
      EXPECT_GE(groups, recorded);
      EXPECT_LE(groups, 2 * recorded + 1000) << "what came before does not count";
    }
  }
}

TEST_F(RealEngine, KernelsAreCheckedAndRecordTogether) {
  Scenario scenario = scenario_of({flow_of(0), flow_of(1)}, milliseconds(100));
  for (Flow& flow : scenario.flows) flow.kernel.parameters = LoopParameters{Operation::triad};
  const auto traces = engine_->run(scenario);
  ASSERT_TRUE(traces) << full_text(traces.error());
  for (const Trace& trace : *traces) {
    EXPECT_FALSE(trace.wrong);
    ASSERT_LT(trace.together_start_ns, trace.together_end_ns);
    const Sample& last = trace.samples.back();
    EXPECT_GE(trace.together_end_ns - last.start_ns - last.duration_ns, 0);
    // What lies in the stretches is what the samples in that time hold, and no more.
    double steps = 0, most = 0;
    for (double part : steps_by_stretch(trace, 20)) steps += part;
    for (const Sample& sample : trace.samples) {
      most += sample.start_ns + sample.duration_ns > trace.together_start_ns
                  ? static_cast<double>(trace.steps_per_sample)
                  : 0;
    }
    EXPECT_GT(steps, 0);
    EXPECT_LE(steps, most * (1 + 1e-9));
  }
}

TEST_F(RealEngine, FlowsRunTogetherWhereTheyWerePlaced) {
  const auto traces = engine_->run(scenario_of({flow_of(0), flow_of(1)}, milliseconds(200)));
  ASSERT_TRUE(traces) << full_text(traces.error());
  ASSERT_EQ(traces->size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Trace& trace = (*traces)[i];
    const WorkerPlacement& place = layout_.workers[i].placement;
    EXPECT_EQ(trace.flow, static_cast<int>(i));
    EXPECT_GE(trace.samples.size(), 1U);
    EXPECT_NE(trace.stop, StopReason::interrupted);
    EXPECT_NE(trace.address, 0U);
    EXPECT_EQ(trace.warm_up_steps, 2 * 256 * kib / 64);
    for (double time : nanoseconds_per_step(trace)) ASSERT_GT(time, 0);
    if (place.cpu) {
      EXPECT_EQ(trace.cpu_before, place.cpu);
      EXPECT_EQ(trace.cpu_after, place.cpu);
    }
    ASSERT_TRUE(trace.overlap);
    EXPECT_LE(*trace.overlap, 1);
    // Nobody records before everybody runs. On a busy machine a flow's time may pass while another
    // waits for its CPU: 0 is true then, and told.
    EXPECT_GE(*trace.overlap, 0);
    EXPECT_EQ(trace.residency.pages_total * trace.residency.page_size.value_or(Bytes{0}).value,
              256 * kib);
    if (trace.residency.problem.empty() &&
        machine_.usable_memory_nodes().contains(place.cpu_node)) {
      EXPECT_EQ(trace.residency.main_node(), place.cpu_node);
    }
    EXPECT_GT(trace.prepare_seconds, 0);
  }
  EXPECT_NE((*traces)[0].address, (*traces)[1].address);
}

TEST_F(RealEngine, SerialLeavesTheOthersAsleep) {
  // Once before: OpenMP starts its threads, which is not what is looked at.
  ASSERT_TRUE(engine_->run(scenario_of({flow_of(0)}, milliseconds(10))));
  const std::int64_t mine = cpu_time_ns(CLOCK_THREAD_CPUTIME_ID);
  const std::int64_t all = cpu_time_ns(CLOCK_PROCESS_CPUTIME_ID);
  const auto traces = engine_->run(scenario_of({flow_of(0)}, milliseconds(500)));
  const std::int64_t worker = cpu_time_ns(CLOCK_THREAD_CPUTIME_ID) - mine;
  const std::int64_t others = cpu_time_ns(CLOCK_PROCESS_CPUTIME_ID) - all - worker;
  ASSERT_TRUE(traces);
  ASSERT_EQ(traces->size(), 1U);
  EXPECT_EQ(traces->front().overlap, 1.0);
  // A spinning thread would take as much as the worker does; OpenMP's own end of a team spins for
  // a moment.
  EXPECT_LT(others, worker / 4);
}

TEST_F(RealEngine, LoadFlowsRunUntilTheMeasuredOnesHadTheirTime) {
  Flow load = flow_of(1);
  load.role = Role::load;
  const auto traces = engine_->run(scenario_of({flow_of(0), load}));
  ASSERT_TRUE(traces);
  ASSERT_EQ(traces->size(), 2U);
  EXPECT_FALSE((*traces)[0].samples.empty());
  // It recorded all the while, for what it moved in that time.
  EXPECT_FALSE((*traces)[1].samples.empty());
  EXPECT_GT((*traces)[1].together_end_ns, (*traces)[1].together_start_ns);
  EXPECT_FALSE((*traces)[1].overlap);
  // Nobody interrupted it: a runner would take that for a stop.
  EXPECT_NE((*traces)[1].stop, StopReason::interrupted);
}

TEST_F(RealEngine, ALoadIsNotFasterThanItsRate) {
  Flow load = flow_of(1);
  load.kernel.parameters = LoopParameters{Operation::read};
  load.role = Role::load;
  load.rate = 50e6;
  const auto traces = engine_->run(scenario_of({flow_of(0), load}));
  ASSERT_TRUE(traces);
  const Trace& trace = (*traces)[1];
  ASSERT_FALSE(trace.samples.empty());
  const double lines = static_cast<double>(trace.samples.size() * trace.steps_per_sample);
  const auto last = trace.samples.back();
  const auto time =
      static_cast<double>(last.start_ns + last.duration_ns - trace.samples.front().start_ns);
  // A burst or two may have been due before the first sample.
  EXPECT_LT(lines * 64 / (time * 1e-9), 1.05 * 50e6);
}

TEST_F(RealEngine, TwoFlowsHandALineToEachOther) {
  for (const std::string kind : {"cas", "store"}) {
    Flow asks = flow_of(0);
    asks.region.bytes = Bytes{4096};
    asks.kernel = kernel_named(kind);
    Flow answers = asks;
    answers.worker = 1;
    answers.kernel.as<PingPongParameters>().answers = true;
    answers.role = Role::load;
    answers.shares = 0;
    // Twice: nothing of the first time is in the way of the second.
    for (int time = 0; time < 2; ++time) {
      const auto traces = engine_->run(scenario_of({asks, answers}, milliseconds(20)));
      ASSERT_TRUE(traces) << full_text(traces.error());
      EXPECT_FALSE((*traces)[0].samples.empty());
      EXPECT_FALSE((*traces)[0].wrong);
      EXPECT_EQ((*traces)[0].address, (*traces)[1].address);
    }
  }
}

TEST_F(RealEngine, WhoSharesMemoryFindsItFilledAndKnowsWhereItLies) {
  for (const std::string kernel : {"read", "chase"}) {
    // In the file before its owner, whose memory is there first all the same.
    Flow shares = flow_of(0);
    shares.kernel = kernel_named(kernel);
    Flow owner = shares;
    owner.worker = 1;
    shares.shares = 1;
    const auto traces = engine_->run(scenario_of({shares, owner}, milliseconds(20)));
    ASSERT_TRUE(traces) << full_text(traces.error());
    const Trace& mine = (*traces)[0];
    const Trace& owners = (*traces)[1];
    EXPECT_FALSE(mine.wrong || owners.wrong);
    EXPECT_EQ(mine.address, owners.address);
    EXPECT_EQ(mine.residency.pages_total, owners.residency.pages_total);
    EXPECT_EQ(mine.residency.pages_by_node, owners.residency.pages_by_node);
    EXPECT_EQ(mine.residency.page_text(), owners.residency.page_text());
    EXPECT_NE(mine.residency.page_text(), Residency{}.page_text());
    EXPECT_EQ(mine.policy.mechanism, owners.policy.mechanism);
    // What is wrong with the memory is said once.
    EXPECT_TRUE(mine.warnings.empty());
  }
}

TEST_F(RealEngine, WhatIsWrongWithSharedMemoryIsToldAsItsOwnersError) {
  Flow shares = flow_of(0);
  Flow owner = flow_of(1);
  owner.region.placement = parse_memory_spec("bind:1021")->single;
  shares.shares = 1;
  const auto traces = engine_->run(scenario_of({shares, owner}));
  ASSERT_FALSE(traces);
  EXPECT_THAT(full_text(traces.error()), HasSubstr("--memory"));
}

TEST_F(RealEngine, AnotherTouchesFirstAndAnotherRegionIsRead) {
  Flow copy = flow_of(0);
  copy.kernel.parameters = LoopParameters{Operation::copy};
  copy.source = copy.region;
  copy.first_touch = 1;
  const auto traces = engine_->run(scenario_of({copy}));
  ASSERT_TRUE(traces) << full_text(traces.error());
  const Trace& trace = traces->front();
  EXPECT_FALSE(trace.wrong);
  ASSERT_TRUE(trace.source_residency);
  EXPECT_EQ(trace.source_residency->pages_asked, trace.residency.pages_asked);
  EXPECT_EQ(trace.residency.untouched, 0U);
}

TEST_F(RealEngine, PagesThatALongStridePassesByStayAbsent) {
  Flow flow = flow_of(0, Bytes{8 * mib});
  const std::size_t page = kernel::page_size();
  flow.kernel.as<ChaseParameters>().stride = Bytes{16 * page};
  const auto traces = engine_->run(scenario_of({flow}));
  ASSERT_TRUE(traces) << full_text(traces.error());
  const Residency& residency = traces->front().residency;
  if (!residency.problem.empty()) GTEST_SKIP() << residency.problem;
  EXPECT_GE(residency.untouched, 8 * mib / page / 2);
}

TEST_F(RealEngine, MappingsAreReadOnceAMomentForAllWorkers) {
  if (!kernel::allowed_nodes()) GTEST_SKIP() << "NUMA calls are refused here";
  // One mapping, whatever is asked for.
  const testing::TestFolder folder;
  const std::filesystem::path file = folder.path() / "proc/self/smaps";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "1000-7ffffffff000 rw-p 00000000 00:00 0\nKernelPageSize: 4 kB\n";
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  // The others keep two events of opening it apart, which would count as one.
  ASSERT_GE(inotify_add_watch(watch, file.c_str(), IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE), 0);
  const auto opened = [&] {
    int times = 0;
    alignas(inotify_event) char events[4096];
    for (ssize_t got = 0; (got = read(watch, events, sizeof events)) > 0;) {
      for (ssize_t at = 0; at < got; at += static_cast<ssize_t>(sizeof(inotify_event)))
        times += (reinterpret_cast<const inotify_event*>(events + at)->mask & IN_OPEN) != 0 ? 1 : 0;
    }
    return times;
  };
  NumaNode& other = machine_.nodes.emplace_back();  // memory could move there
  other.id = NodeId{1023};
  other.memory_total = Bytes{gib};
  machine_.allowance.memory_nodes.insert(NodeId{1023});
  make();
  const Tree system = std::exchange(running_system(), Tree(folder.path()));
  for (int visit = 0; visit < 4; ++visit) {
    const auto traces = engine_->run(scenario_of({flow_of(0), flow_of(1)}));
    ASSERT_TRUE(traces);
    EXPECT_EQ((*traces)[1].residency.problem, "");
    EXPECT_TRUE((*traces)[1].pages_moved);
    EXPECT_EQ(opened(), 2) << "before and after";
  }
  running_system() = system;
  close(watch);
}

TEST_F(RealEngine, MemoryIsKeptForTheSameWork) {
  const auto first = engine_->run(scenario_of({flow_of(0)}));
  Flow again = flow_of(0);
  again.rate = 1e9;
  const auto second = engine_->run(scenario_of({again}));
  Flow other = flow_of(0);
  other.kernel.seed += 1;
  const auto third = engine_->run(scenario_of({other}));
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->front().address, second->front().address);
  for (const auto* traces : {&second, &third}) {
    EXPECT_EQ((*traces)->front().residency.untouched, 0U);
    EXPECT_FALSE((*traces)->front().samples.empty());
  }
}

TEST_F(RealEngine, PagesOfARoundAreThoseOfTheNextKernelOfAnySizeWithin) {
  const auto run = [&](std::uint64_t bytes, std::uint64_t seed, int round) {
    Flow flow = flow_of(0);
    flow.region.bytes = Bytes{bytes};
    flow.region.within = Bytes{64 * mib};
    flow.kernel.seed = seed;
    Scenario scenario = scenario_of({flow});
    scenario.memory_number = static_cast<int>(seed);
    scenario.round = round;
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    auto traces = engine_->run(scenario);
    ::getrusage(RUSAGE_SELF, &after);
    EXPECT_TRUE(traces) << full_text(traces.error());
    const Trace trace = traces ? traces->front() : Trace{};
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    EXPECT_EQ(trace.residency.pages_total, bytes / page);
    EXPECT_EQ(trace.residency.untouched, 0U);
    EXPECT_FALSE(trace.samples.empty());
    return std::pair(trace.address, after.ru_minflt - before.ru_minflt);
  };
  const auto first = run(32 * mib, 1, 1), less = run(16 * mib, 2, 1), more = run(64 * mib, 3, 1);
  EXPECT_EQ(less.first, first.first);
  EXPECT_EQ(more.first, first.first);
  EXPECT_LT(2 * less.second, first.second) << "the pages were there";
  EXPECT_GT(2 * run(32 * mib, 4, 2).second, first.second) << "in the next round they are not";
}

/// Stops this process for so long, from outside, once it has measured for a while.
pid_t stop_me_for(milliseconds length) {
  const pid_t parent = ::getpid(), child = ::fork();
  if (child != 0) return child;
  const auto wait = [](milliseconds time) {
    ::usleep(static_cast<useconds_t>(std::chrono::microseconds(time).count()));
  };
  // Later than the common start, also beside other tests.
  wait(milliseconds(1200));
  ::kill(parent, SIGSTOP);
  wait(length);
  ::kill(parent, SIGCONT);
  ::_exit(0);
}

TEST_F(RealEngine, AStopInTheMiddleIsTold) {
  const Scenario scenario = scenario_of({flow_of(0), flow_of(1)}, std::chrono::seconds(2));
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = stop_me_for(milliseconds(800));
  ASSERT_GT(child, 0);
  const auto traces = engine_->run(scenario);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(traces) << full_text(traces.error());
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(1700)) << "it was stopped";
  for (const Trace& trace : *traces) {
    std::int64_t longest_ns = 0;
    for (const std::size_t i : trace.stopped)
      longest_ns = std::max(longest_ns, trace.samples[i].duration_ns);
    // Or between two samples, where little of the time passes.
    for (std::size_t i = 1; i < trace.samples.size(); ++i) {
      const Sample& before = trace.samples[i - 1];
      longest_ns =
          std::max(longest_ns, trace.samples[i].start_ns - (before.start_ns + before.duration_ns));
    }
    EXPECT_GE(longest_ns, 750'000'000);
    EXPECT_GE(trace.together_ns(), longest_ns);
  }
}

TEST_F(RealEngine, StopIsSeenWhileSampling) {
  const auto start = std::chrono::steady_clock::now();
  std::thread stopper([] {
    // Later than the sampling begins, also under a sanitizer beside other work.
    std::this_thread::sleep_for(milliseconds(1500));
    request_stop(0);
  });
  const auto traces = engine_->run(scenario_of({flow_of(0), flow_of(1)}, std::chrono::minutes(2)));
  stopper.join();
  ASSERT_TRUE(traces) << full_text(traces.error());
  for (const Trace& trace : *traces) {
    EXPECT_EQ(trace.stop, StopReason::interrupted);
    EXPECT_FALSE(trace.overlap);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(RealEngine, StopBeforeTheStartMeasuresNothing) {
  request_stop(0);
  const auto traces = engine_->run(scenario_of({flow_of(0), flow_of(1)}, std::chrono::minutes(2)));
  ASSERT_FALSE(traces);
  EXPECT_EQ(traces.error().kind, ErrorKind::interrupted);
}

TEST_F(RealEngine, ErrorsOfAWorkerAreReturnedAndLeaveItReady) {
  Flow missing = flow_of(1);
  missing.region.placement = parse_memory_spec("bind:1021")->single;
  auto traces = engine_->run(scenario_of({flow_of(0), missing}));
  ASSERT_FALSE(traces);
  EXPECT_THAT(full_text(traces.error()), HasSubstr("--memory"));

  Flow huge = flow_of(0, Bytes{std::uint64_t{1} << 60});
  traces = engine_->run(scenario_of({huge, flow_of(1)}));
  ASSERT_FALSE(traces);
  EXPECT_EQ(traces.error().kind, ErrorKind::resource);

  traces = engine_->run(scenario_of({flow_of(0, Bytes{64})}));
  ASSERT_FALSE(traces);
  EXPECT_THAT(full_text(traces.error()), HasSubstr("fewer than two nodes"));

  EXPECT_TRUE(engine_->run(scenario_of({flow_of(0), flow_of(1)}, milliseconds(10))));
}

TEST_F(RealEngine, TellsItsPhasesAndWhenMemoryStands) {
  Phases phases;
  EngineOptions options;
  options.progress = &phases;
  options.when_prepared = [&](const auto&) { phases.text += "prepared; "; };
  make(options);
  ASSERT_TRUE(engine_->run(scenario_of({flow_of(0)}, milliseconds(10))));
  EXPECT_EQ(phases.text, "test preparing; prepared; test measuring; ");
}

}  // namespace
}  // namespace numatlas
