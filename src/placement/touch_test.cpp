#include "placement/touch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Mapped pages that nothing has touched; the kernel's calls are put back at the end.
class Touch : public ::testing::Test {
 protected:
  void SetUp() override {
    void* const mapped =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    start = static_cast<std::byte*>(mapped);
    madvise(start, bytes, MADV_NOHUGEPAGE);
    ASSERT_EQ(resident(), 0u);
    calls = 0;
  }
  void TearDown() override {
    kernel::calls() = kernel::real_calls();
    munmap(start, bytes);
  }

  std::size_t resident() const {
    const std::size_t page = kernel::page_size();
    std::vector<unsigned char> there(bytes / page);
    EXPECT_EQ(mincore(start, bytes, there.data()), 0);
    return static_cast<std::size_t>(
               std::count_if(there.begin(), there.end(), [](auto one) { return (one & 1) != 0; })) *
           page;
  }
  bool all_zero() const {
    return std::all_of(start, start + bytes, [](std::byte one) { return one == std::byte{0}; });
  }

  static constexpr std::size_t bytes = 16 * mib;
  std::byte* start = nullptr;
  static int calls;
};
int Touch::calls = 0;

TEST_F(Touch, PopulatesAllInSmallPieces) {
  kernel::calls().madvise = [](void* at, std::size_t length, int advice) {
    ++calls;
    EXPECT_EQ(advice, kernel::madv_populate_write);
    EXPECT_LE(length, 2 * mib);
    return madvise(at, length, advice);
  };
  const std::size_t done = populate(start, bytes);
  if (done == 0) GTEST_SKIP() << "this kernel has no MADV_POPULATE_WRITE";
  EXPECT_EQ(done, bytes);
  EXPECT_EQ(calls, 8);
  EXPECT_EQ(resident(), bytes);
  EXPECT_TRUE(all_zero());
}

TEST_F(Touch, APieceThatIsRefusedEndsIt) {
  kernel::calls().madvise = [](void* at, std::size_t length, int advice) {
    if (++calls == 3) {
      errno = EFAULT;
      return -1;
    }
    return madvise(at, length, advice);
  };
  const std::size_t done = populate(start, bytes);
  if (done == 0) GTEST_SKIP() << "this kernel has no MADV_POPULATE_WRITE";
  EXPECT_EQ(done, 4 * mib);
  EXPECT_EQ(resident(), 4 * mib);
  calls = 0;
  touch_pages(start, bytes);
  EXPECT_EQ(resident(), bytes);
}

TEST_F(Touch, WhereItIsRefusedEveryPageIsWritten) {
  kernel::calls().madvise = [](void*, std::size_t, int) {
    errno = EINVAL;
    return -1;
  };
  EXPECT_EQ(populate(start, bytes), 0u);
  touch_pages(start, 0);
  EXPECT_EQ(resident(), 0u);
  touch_pages(start, bytes);
  EXPECT_EQ(resident(), bytes);
}

TEST_F(Touch, MemoryThatBeginsWithinAPageChangesNothingAround) {
  const std::size_t page = kernel::page_size();
  for (const bool refused : {false, true}) {
    if (refused) kernel::calls().madvise = [](void*, std::size_t, int) { return -1; };
    std::byte* const first = start + (refused ? 8 : 0) * mib;
    first[0] = first[99] = std::byte{7};
    first[3 * page - 1] = std::byte{8};
    touch_pages(first + 100, 3 * page - 101);
    EXPECT_EQ(first[0], std::byte{7});
    EXPECT_EQ(first[99], std::byte{7});
    EXPECT_EQ(first[3 * page - 1], std::byte{8});
  }
  EXPECT_EQ(resident(), 6 * page);
}

}  // namespace
}  // namespace numatlas
