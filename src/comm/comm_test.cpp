#include "comm/comm.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace numatlas {
namespace {

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
