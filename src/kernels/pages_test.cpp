// First touch and migration, with the kernel's own calls where this machine allows it, and with
// scripted ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/kernel.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t mapped_bytes = 8 * mib;

/// Fresh memory of base pages.
struct Fresh {
  Fresh()
      : start(mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0)) {
    madvise(start, mapped_bytes, MADV_NOHUGEPAGE);
  }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  ~Fresh() { munmap(start, mapped_bytes); }
  KernelMemory memory() const { return {static_cast<std::byte*>(start), mapped_bytes}; }
  std::size_t pages_there() const {
    std::vector<unsigned char> there(mapped_bytes / kernel::page_size());
    if (mincore(start, mapped_bytes, there.data()) != 0) return 0;
    std::size_t count = 0;
    for (const unsigned char one : there) count += one & 1;
    return count;
  }
  void* start;
};

KernelSpec fault_spec(Faulting how) {
  FaultParameters parameters;
  parameters.page = Bytes{kernel::page_size()};
  parameters.faulting = how;
  return {parameters};
}

std::uint64_t faults_of_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt);
}

class EveryFaulting : public ::testing::TestWithParam<Faulting> {};
INSTANTIATE_TEST_SUITE_P(Faults, EveryFaulting, ::testing::ValuesIn(all_faultings));

TEST_P(EveryFaulting, TakesAFaultForEachPageAgainAndAgain) {
  Fresh fresh;
  const auto kernel = make_kernel(fault_spec(GetParam()));
  if (const auto ready = kernel->prepare(fresh.memory()); !ready) {
    ASSERT_EQ(ready.error().kind, ErrorKind::unavailable);
    GTEST_SKIP() << ready.error().message;
  }
  EXPECT_EQ(kernel->steps_per_pass(), 4U) << "2 MiB each";
  kernel->ready(1);
  EXPECT_EQ(fresh.pages_there(), 0U) << "given back";
  kernel->run(1);
  EXPECT_EQ(fresh.pages_there(), 2 * mib / kernel::page_size());
  for (int round = 0; round < 5; ++round) {
    kernel->ready(2);
    kernel->run(2);
  }
  kernel->ready(1);
  EXPECT_TRUE(kernel->verify());
  const auto counts = kernel->counts();
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].key, "faults_per_page");
  // A kernel with large folios brings several pages in one fault; a few are of the test itself.
  EXPECT_GT(counts[0].each, 0);
  EXPECT_LT(counts[0].each, 1.1);
}

TEST(Faults, PagesThatAreThereAreNoFirstTouch) {
  Fresh fresh;
  const auto kernel = make_kernel(fault_spec(Faulting::touch));
  ASSERT_TRUE(kernel->prepare(fresh.memory()));
  // Somebody else, whose faults are not this thread's, was there before.
  std::atomic<int> stage{0};
  std::thread other([&] {
    while (stage.load() == 0) {
    }
    std::memset(fresh.start, 1, mapped_bytes);
    stage.store(2);
  });
  kernel->ready(1);
  const std::uint64_t before = faults_of_thread();
  stage.store(1);
  while (stage.load() != 2) {
  }
  kernel->run(1);
  const std::uint64_t after = faults_of_thread();
  kernel->ready(1);
  other.join();
  if (after != before) GTEST_SKIP() << "this thread had a fault for another reason";
  const auto wrong = kernel->verify();
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("getrusage counted no page fault"));
}

TEST(Faults, AStepNeedsRoom) {
  KernelSpec spec = fault_spec(Faulting::touch);
  EXPECT_FALSE(check_size(spec, Bytes{mib}));
  spec.as<FaultParameters>().page = Bytes{gib};
  EXPECT_FALSE(check_size(spec, Bytes{512 * mib})) << "a page of 1 GiB";
  EXPECT_EQ(step_time(spec).part, 1);
  EXPECT_EQ(step_time(fault_spec(Faulting::touch)).part,
            static_cast<double>(kernel::page_size()) / (2 * mib));
}

/// Where pages are, as a kernel with two nodes would have it. Nothing moves.
std::map<void*, int> where;
int pages_that_stay = 0;

long scripted_move_pages(int, unsigned long count, void** pages, const int* nodes, int* status,
                         int) {
  for (unsigned long i = 0; i < count; ++i) {
    if (nodes != nullptr && (nodes[i] == 0 || pages_that_stay-- <= 0)) where[pages[i]] = nodes[i];
    status[i] = where[pages[i]];
  }
  return 0;
}
long refused_move_pages(int, unsigned long, void**, const int*, int*, int) {
  errno = EPERM;
  return -1;
}

class Migration : public ::testing::Test {
 protected:
  void SetUp() override {
    where.clear();
    pages_that_stay = 0;
    kernel::calls().move_pages = scripted_move_pages;
    MigrateParameters parameters;
    parameters.page = Bytes{kernel::page_size()};
    parameters.from = 0;
    parameters.to = 1;
    spec_.parameters = parameters;
  }
  void TearDown() override { kernel::calls() = kernel::real_calls(); }
  std::size_t pages_on(int node) const {
    std::size_t count = 0;
    for (const auto& [page, its] : where) count += its == node ? 1 : 0;
    return count;
  }
  KernelSpec spec_;
  Fresh fresh_;
};

TEST_F(Migration, MovesAStepAtATimeAndBringsAllBack) {
  const auto kernel = make_kernel(spec_);
  ASSERT_TRUE(kernel->prepare(fresh_.memory()));
  const std::size_t step = 2 * mib / kernel::page_size();
  EXPECT_EQ(pages_on(1), 0U) << "what was tried went back";
  kernel->ready(3);
  kernel->run(3);
  EXPECT_EQ(pages_on(1), 3 * step);
  kernel->ready(2);
  EXPECT_EQ(pages_on(1), 0U) << "two more have no room: all are back";
  kernel->run(2);
  EXPECT_EQ(pages_on(1), 2 * step);
  kernel->ready(1);
  EXPECT_TRUE(kernel->verify());
  ASSERT_EQ(kernel->counts().size(), 1U);
  EXPECT_EQ(kernel->counts()[0].key, "left_behind");
  EXPECT_EQ(kernel->counts()[0].each, 0);
}

TEST_F(Migration, PagesThatStayAreCounted) {
  const auto kernel = make_kernel(spec_);
  ASSERT_TRUE(kernel->prepare(fresh_.memory()));
  const int step = static_cast<int>(2 * mib / kernel::page_size());
  pages_that_stay = step / 4;
  kernel->ready(1);
  kernel->run(1);
  kernel->ready(1);
  EXPECT_TRUE(kernel->verify());
  EXPECT_DOUBLE_EQ(kernel->counts()[0].each, 0.25);
}

TEST_F(Migration, NoneThatArrivesIsAnError) {
  const auto kernel = make_kernel(spec_);
  ASSERT_TRUE(kernel->prepare(fresh_.memory()));
  pages_that_stay = 1 << 20;
  kernel->ready(1);
  kernel->run(1);
  kernel->ready(1);
  const auto wrong = kernel->verify();
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("pages arrived on node 1"));
}

TEST_F(Migration, RefusedCallsSayWhatWouldAllowThem) {
  kernel::calls().move_pages = refused_move_pages;
  const auto kernel = make_kernel(spec_);
  const auto refused = kernel->prepare(fresh_.memory());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permission);
  EXPECT_THAT(refused.error().message, HasSubstr("move_pages to node 1 failed"));
  EXPECT_THAT(refused.error().hint, HasSubstr("CAP_SYS_NICE"));
}

}  // namespace
}  // namespace numatlas
