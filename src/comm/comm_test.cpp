#include "comm/comm.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace numatlas {
namespace {

TEST(SingleComm, IsEveryRankThereIs) {
  auto comm = make_single_comm();
  EXPECT_EQ(comm->rank(), 0);
  EXPECT_EQ(comm->size(), 1);
  EXPECT_EQ(comm->local_pids(), std::vector<int>{getpid()});
  EXPECT_EQ(comm->layout().hosts.size(), 1u);
  EXPECT_TRUE(comm->barrier());
  EXPECT_EQ(comm->all_gather("a").value(), std::vector<std::string>{"a"});
  EXPECT_EQ(comm->gather("").value(), std::vector<std::string>{""});
  EXPECT_EQ(comm->broadcast("x").value(), "x");
  EXPECT_FALSE(comm->peer_failed());
}

TEST(SingleComm, GivesZeroedAlignedMemory) {
  auto comm = make_single_comm();
  const auto block = comm->shared_block(100);
  ASSERT_TRUE(block);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*block) % 64, 0u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(static_cast<char*>(*block)[i], 0);
  EXPECT_FALSE(comm->shared_block(0));
}

TEST(SingleComm, AbortEndsWithTheCode) {
  auto comm = make_single_comm();
  EXPECT_EXIT(comm->abort(7), ::testing::ExitedWithCode(7), "");
}

TEST(Connect, UnknownPluginIsRefused) {
  unsetenv("NUMATLAS_MPI");
  const auto comm = connect_comm("no-such-mpi");
  ASSERT_FALSE(comm);
  EXPECT_EQ(comm.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(full_text(comm.error()), "--mpi no-such-mpi: this build has no such plug-in");
}

TEST(HostLayout, OrdersHostsByTheirLowestRank) {
  // Ranks 0 and 2 on b, 1 and 3 on a.
  const HostClaim claims[] = {{"b", 0}, {"a", 1}, {"b", 0}, {"a", 1}};
  const HostLayout layout = make_host_layout(claims);
  EXPECT_EQ(layout.hosts, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(layout.host_of, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(layout.local_rank_of, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(layout.leader_of(1), 1);
  EXPECT_EQ(layout.leader_of(2), -1);
  EXPECT_EQ(layout.ranks_on(0), 2);
}

TEST(HostLayout, ContainersWithOneNameStayApart) {
  const HostClaim claims[] = {{"n", 0}, {"n", 1}, {"n", 0}, {"n", 3}};
  const HostLayout layout = make_host_layout(claims);
  EXPECT_EQ(layout.hosts, (std::vector<std::string>{"n", "n#2", "n#3"}));
  EXPECT_EQ(layout.host_of, (std::vector<int>{0, 1, 0, 2}));
}

}  // namespace
}  // namespace numatlas
