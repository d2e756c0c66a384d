#include "memory/taken_back.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

/// Pages of a file beyond its end: they can be mapped, and not be had.
class BeyondTheEnd {
 public:
  explicit BeyondTheEnd(std::size_t pages) : bytes(pages * kernel::page_size()) {
    const int file = memfd_create("empty", 0);
    start = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
    close(file);
  }
  ~BeyondTheEnd() { munmap(start, bytes); }
  BeyondTheEnd(const BeyondTheEnd&) = delete;
  BeyondTheEnd& operator=(const BeyondTheEnd&) = delete;
  char* start;
  std::size_t bytes;
};

TEST(Watched, APageThatCannotBeHadEndsNoProcess) {
  const BeyondTheEnd memory(3), other(1);
  {
    const Watched watched(memory.start, memory.bytes), quiet(other.start, other.bytes);
    EXPECT_FALSE(watched.taken_back());
    std::memset(memory.start, 7, memory.bytes);
    EXPECT_TRUE(watched.taken_back());
    EXPECT_FALSE(quiet.taken_back());
    EXPECT_EQ(memory.start[memory.bytes - 1], 7);
  }
  const Watched again(other.start, other.bytes);
  EXPECT_FALSE(again.taken_back()) << "its place in the list was another's";
}

TEST(WatchedDeathTest, OtherMemoryIsAsBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, SIG_DFL);
        const BeyondTheEnd memory(2);
        const Watched watched(memory.start, kernel::page_size());
        memory.start[kernel::page_size()] = 1;
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace numatlas
