#include "base/process_stat.h"

#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "base/test_tree.h"

namespace numatlas {
namespace {

/// A system of its own for the time of a test.
class System : public testing::RecordedTree {
 public:
  System() { running_system() = Tree(root()); }
  ~System() { running_system() = before_; }

 private:
  Tree before_ = running_system();
};

TEST(ProcessStat, NameMayHoldAnything) {
  const auto stat =
      parse_process_stat("17 (a ) b) Z 3 17 17 0 -1 0 1 2 3 4 100 20 0 0 20 0 1 0 4711 0 0");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'Z');
  EXPECT_TRUE(stat->has_ended());
  EXPECT_EQ(stat->parent, 3);
  EXPECT_EQ(stat->ticks, 120);
  EXPECT_EQ(stat->start_time, 4711U);
  EXPECT_FALSE(parse_process_stat("17 no name"));
}

TEST(ProcessStat, ChildrenOfAllThreads) {
  System system;
  system.file("/proc/5/task/5/children", "6 7 ");
  system.file("/proc/5/task/8/children", "9\n");
  // Ended while it was looked at.
  std::filesystem::create_directories(system.root() + "/proc/5/task/10");
  EXPECT_EQ(children_of(5), (std::vector<pid_t>{6, 7, 9}));
}

TEST(ProcessStat, ChildrenThatNobodyListsAreUnknown) {
  System system;
  EXPECT_FALSE(children_of(5));  // hidden, or gone
  std::filesystem::create_directories(system.root() + "/proc/5/task/5");
  EXPECT_FALSE(children_of(5));  // a kernel without such files
  system.file("/proc/5/task/5/children", "");
  EXPECT_EQ(children_of(5), std::vector<pid_t>{});
}

}  // namespace
}  // namespace numatlas
