#include "engine/layout.h"

#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/agreement.h"
#include "engine/test_engine.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

using testing::ToldComm;

TEST(Layout, WorkersSurviveTheWayThroughTheOtherRanks) {
  for (const char* memory :
       {"local", "inherit", "bind:0,2", "prefer:1", "interleave:0-3", "weighted:0=3,2=1",
        "each:0,0,1", "auto", "pmem:/mnt/a b, c:{node}/{socket} ", "memkind:DAX_KMEM",
        "memkind:/mnt/\"x\""}) {
    const auto workers = testing::workers_on(testing::epyc(), 5, memory);
    ASSERT_TRUE(workers) << memory;
    const auto comm = make_single_comm();
    const auto layout = gather_layout(*comm, *workers);
    ASSERT_TRUE(layout) << memory;
    ASSERT_EQ(layout->workers.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) {
      const WorkerPlacement& got = layout->workers[i].placement;
      EXPECT_EQ(layout->workers[i].rank, 0);
      EXPECT_EQ(got.thread, (*workers)[i].thread);
      EXPECT_EQ(got.cpus, (*workers)[i].cpus);
      EXPECT_EQ(got.cpu, (*workers)[i].cpu);
      EXPECT_EQ(got.cpu_node, (*workers)[i].cpu_node);
      EXPECT_EQ(got.memory, (*workers)[i].memory) << memory;
    }
  }
}

TEST(Layout, WhatIsInheritedSurvivesToo) {
  const std::vector<std::pair<NodeId, int>> nodes{{NodeId{0}, 3}, {NodeId{2}, 1}};
  for (MemoryMode mode : {MemoryMode::bind, MemoryMode::prefer, MemoryMode::interleave,
                          MemoryMode::weighted, MemoryMode::local}) {
    auto workers = *testing::workers_on(testing::epyc(), 1, "inherit");
    MemoryPlacement& memory = workers[0].memory;
    memory.inherited = mode;
    if (mode != MemoryMode::local) memory.nodes = nodes;
    if (mode != MemoryMode::weighted)
      for (auto& [node, weight] : memory.nodes) weight = 1;
    const auto layout = gather_layout(*make_single_comm(), workers);
    ASSERT_TRUE(layout) << name_of(mode);
    EXPECT_EQ(layout->workers[0].placement.memory, memory) << name_of(mode);
  }
}

TEST(Layout, RanksInOrderWithTheirHosts) {
  const auto workers = testing::workers_on(testing::epyc(), 2);
  ToldComm comm({"MINE", "MINE", "MINE"});
  const auto layout = gather_layout(comm, *workers);
  ASSERT_TRUE(layout);
  ASSERT_EQ(layout->workers.size(), 6U);
  EXPECT_EQ(layout->hosts, (std::vector<std::string>{"alpha", "beta"}));
  EXPECT_EQ(layout->workers[3].rank, 1);
  EXPECT_EQ(layout->workers[3].host, 0);
  EXPECT_EQ(layout->workers[5].rank, 2);
  EXPECT_EQ(layout->workers[5].host, 1);
  EXPECT_EQ(layout->workers_of(1), (std::vector<int>{2, 3}));
  EXPECT_TRUE(layout->workers_of(9).empty());
}

TEST(Layout, OversubscribedIsPerHost) {
  Layout layout;
  const auto add = [&](int host, CpuId cpu) {
    Worker worker;
    worker.host = host;
    worker.placement.cpus = {cpu};
    layout.workers.push_back(worker);
  };
  EXPECT_LE(layout.workers_per_cpu(), 1);
  add(0, CpuId{0});
  add(1, CpuId{0});  // the same number on another host is another CPU
  EXPECT_LE(layout.workers_per_cpu(), 1);
  add(1, CpuId{0});
  EXPECT_GT(layout.workers_per_cpu(), 1);
}

TEST(Agree, ErrorOfAllIsTheCommandLines) {
  ToldComm comm({"MINE", "MINE", "MINE"});
  const Error error{ErrorKind::resource, "too large", "ask for less", "--size", " with --size"};
  const auto agreed = agree(comm, error);
  ASSERT_FALSE(agreed);
  EXPECT_EQ(agreed.error(), error);
}

TEST(Agree, ErrorOfOneIsNamedByRankAndHost) {
  ToldComm comm({"MINE", "", "", ""});
  auto agreed = agree(comm, Error{ErrorKind::permission, "mbind: refused", "try less", "--memory"});
  ASSERT_FALSE(agreed);
  EXPECT_EQ(agreed.error().kind, ErrorKind::permission);
  EXPECT_EQ(full_text(agreed.error()), "rank 0 on alpha: --memory: mbind: refused");
  EXPECT_EQ(agreed.error().subject, "--memory");
  EXPECT_EQ(full_hint(agreed.error()), "try less");
  // A rank without an error hears of the lowest one that has.
  ToldComm later({"", "", error_to_send({ErrorKind::placement, "late", ""}),
                  error_to_send({ErrorKind::usage, "later", ""})});
  agreed = agree(later, std::nullopt);
  ASSERT_FALSE(agreed);
  EXPECT_EQ(agreed.error().kind, ErrorKind::placement);
  EXPECT_EQ(full_text(agreed.error()), "rank 2 on beta: late");
}

TEST(Agree, WhatIsGatheredMayBeAnError) {
  ToldComm comm({"MINE", "theirs"});
  EXPECT_THAT(*all_gather(comm, "mine"), ::testing::ElementsAre("mine", "theirs"));
  const std::string wrong = error_to_send({ErrorKind::usage, "no such node", ""});
  ToldComm other({"MINE", wrong}, 3);  // above the number of ranks: an error
  EXPECT_EQ(full_text(all_gather(other, "mine").error()), "rank 1 on beta: no such node");
  EXPECT_EQ(full_text(first_unlike(other, "mine").error()), "rank 1 on beta: no such node");
  EXPECT_EQ(full_text(first_unlike(comm, fail(ErrorKind::io, "no disk")).error()),
            "rank 0 on alpha: no disk");
}

TEST(Agree, UnlikeTextsAreNamedByTheLowestRank) {
  // The largest of what ranks say is two ranks before the end.
  ToldComm comm({"MINE", "", "", ""}, 2);
  EXPECT_EQ(*first_unlike(comm, "mine"), std::optional<int>(2));
  ToldComm like({"MINE", ""});
  EXPECT_EQ(*first_unlike(like, "mine"), std::nullopt);
}

TEST(Agree, MessagesMayHoldAnyBytes) {
  // File names are bytes, not text.
  ToldComm comm({"MINE"});
  const auto agreed = agree(comm, Error{ErrorKind::io, "\xff\xfe: open", "", "--json"});
  ASSERT_FALSE(agreed);
  EXPECT_EQ(agreed.error().kind, ErrorKind::io);
  EXPECT_THAT(full_text(agreed.error()), ::testing::HasSubstr(": open"));
}

}  // namespace
}  // namespace numatlas
