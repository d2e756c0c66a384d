// What the process was given and can change: affinity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/policy.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Affinity, BindAndRead) {
  const CpuSet before = thread_affinity();
  ASSERT_FALSE(before.empty());
  const CpuId last = before[before.size() - 1];
  ASSERT_TRUE(bind_thread(CpuSet{last}));
  EXPECT_EQ(thread_affinity(), CpuSet{last});
  EXPECT_EQ(current_cpu(), last);
  ASSERT_TRUE(bind_thread(before));
  EXPECT_EQ(thread_affinity(), before);
}

TEST(Affinity, MissingCpu) {
  const auto bound = bind_thread(CpuSet{CpuId{100000}});
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(bound.error()), AllOf(HasSubstr("--cpus"), HasSubstr("100000")));
  EXPECT_FALSE(bind_thread({}));
}

}  // namespace
}  // namespace numatlas
