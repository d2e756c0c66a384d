// Policies: on the real kernel of the machine that runs the tests, and on one that only records.
#include "placement/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "placement/residency.h"
#include "placement/test_kernel.h"
#include "placement/test_machines.h"
#include "placement/test_page_nodes.h"
#include "placement/weighted.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::in_child;
using testing::NodeLists;
using testing::own_node;
using testing::page;
using testing::page_nodes;
using testing::Pages;
using testing::placement;
using testing::weighted_pattern;

TEST(ApplyToRange, ModesReachTheKernel) {
  REQUIRE_NUMA();
  const std::string node = own_node();
  const std::vector<std::pair<std::string, int>> cases = {
      {"bind:" + node, kernel::mpol_bind},
      {"prefer:" + node, kernel::mpol_preferred},
      {"interleave:" + node, kernel::mpol_interleave}};
  for (const auto& [text, mode] : cases) {
    Pages pages(8);
    const auto outcome = apply_to_range(pages.start(), pages.bytes(), page, placement(text));
    ASSERT_TRUE(outcome) << full_text(outcome.error());
    EXPECT_EQ(outcome->mechanism, "mbind");
    EXPECT_EQ(pages.mode(), mode) << text;
    pages.touch();
    EXPECT_THAT(page_nodes(pages.start(), pages.bytes(), page, 100), Each(std::stoi(node)));
  }
}

TEST(ApplyToRange, LocalOverridesWhatTheTaskInherited) {
  REQUIRE_NUMA();
  EXPECT_TRUE(in_child([] {
    if (!apply_to_process(placement("interleave:" + own_node()))) return false;
    Pages inherits(4), local(4);
    return apply_to_range(inherits.start(), inherits.bytes(), page, placement("inherit")) &&
           apply_to_range(local.start(), local.bytes(), page, placement("local")) &&
           // The range has no policy: the task's holds.
           inherits.mode() == kernel::mpol_default &&
           // Kernels before 5.14 say "preferred" (no node) for local.
           (local.mode() == kernel::mpol_local || local.mode() == kernel::mpol_preferred);
  }));
}

TEST(ApplyToRange, WeightedByFirstTouchLeavesOneMappingAndTheTaskPolicy) {
  REQUIRE_NUMA();
  const auto before = kernel::task_policy();
  Pages pages(1000);
  const auto outcome = apply_to_range(pages.start(), pages.bytes(), page,
                                      placement("weighted:" + own_node() + "=7"));
  ASSERT_TRUE(outcome) << full_text(outcome.error());
  if (outcome->mechanism != "first touch") GTEST_SKIP() << "the system-wide weight is 7 here";
  EXPECT_THAT(outcome->note, HasSubstr("because"));
  EXPECT_THAT(page_nodes(pages.start(), pages.bytes(), page, 2000), Each(std::stoi(own_node())));
  EXPECT_EQ(pages.mode(), kernel::mpol_interleave);
  const auto seen = observe(pages.start(), pages.bytes());
  EXPECT_EQ(seen.untouched, 0u);
  EXPECT_EQ(kernel::task_policy()->mode, before->mode);
  EXPECT_EQ(kernel::task_policy()->mask, before->mask);
}

TEST(ApplyToRange, WeightedWhereTheKernelsWeightsAreTheAskedOnes) {
  REQUIRE_NUMA();
  const NodeId node = kernel::allowed_nodes()->front();
  const auto weight = kernel::system_weight(node);
  if (!kernel_has_weighted_interleave() || !weight)
    GTEST_SKIP() << "this kernel has no weighted interleave";
  Pages pages(8);
  const auto outcome = apply_to_range(pages.start(), pages.bytes(), page,
                                      MemoryPlacement{MemoryMode::weighted, {{node, *weight}}});
  ASSERT_TRUE(outcome) << full_text(outcome.error());
  EXPECT_EQ(outcome->mechanism, "kernel weighted interleave");
  EXPECT_EQ(pages.mode(), kernel::mpol_weighted_interleave);
}

/// A recorder in place of the kernel, for a machine with nodes 0 and 2.
struct FakeKernel {
  int bound = -1;            ///< node of the thread's policy
  std::vector<int> touched;  ///< node of each page, in order of address
  std::byte* start = nullptr;
  int range_mode = -1, restored_mode = -1;
  std::size_t calls_of_set = 0;
  int populate_error = 0;
  int refuse_mode = -1;  ///< mbind says EINVAL to this mode
} fake;

void install_fake_kernel(Pages& pages) {
  fake = FakeKernel{};
  fake.start = static_cast<std::byte*>(pages.start());
  fake.touched.assign(pages.bytes() / page, -1);
  auto& calls = kernel::calls();
  calls.get_mempolicy = [](int* mode, unsigned long* mask, unsigned long, void*, unsigned long) {
    *mode = kernel::mpol_interleave;
    mask[0] = 5;
    return 0L;
  };
  calls.set_mempolicy = [](int mode, const unsigned long* mask, unsigned long) {
    ++fake.calls_of_set;
    if (mode == kernel::mpol_bind) fake.bound = kernel::from_mask({mask[0]}).front().value;
    fake.restored_mode = mode;
    return 0L;
  };
  calls.mbind = [](void*, unsigned long, int mode, const unsigned long*, unsigned long, unsigned) {
    if (mode == fake.refuse_mode) {
      errno = EINVAL;
      return -1L;
    }
    fake.range_mode = mode;
    return 0L;
  };
  calls.madvise = [](void* at, std::size_t bytes, int) {
    if (fake.populate_error != 0) {
      errno = fake.populate_error;
      return -1;
    }
    const auto first = static_cast<std::size_t>(static_cast<std::byte*>(at) - fake.start) / page;
    for (std::size_t i = 0; i < bytes / page; ++i) fake.touched[first + i] = fake.bound;
    return 0;
  };
}

/// The pattern of these units of pages lies there, the first page anywhere within it.
void expect_pattern(const WeightedNodes& nodes, std::size_t first = 0, std::size_t unit = 1) {
  for (std::size_t i = 0; i < fake.touched.size(); ++i)
    ASSERT_EQ(fake.touched[i], weighted_pattern(first + i / unit, nodes).value)
        << first << " " << i;
}

TEST(PopulateWeighted, TouchesEveryPageInThePatternWithOnePolicyChangeANode) {
  testing::CallsGuard guard;
  Pages pages(1001);
  install_fake_kernel(pages);
  const WeightedNodes nodes{{NodeId{2}, 1}, {NodeId{0}, 3}}, others{{NodeId{2}, 2}, {NodeId{0}, 3}};
  ASSERT_TRUE(populate_weighted(pages.start(), pages.bytes(), page, nodes));
  expect_pattern(nodes);
  EXPECT_EQ(fake.calls_of_set, 3u);
  EXPECT_EQ(fake.restored_mode, kernel::mpol_interleave);
  EXPECT_EQ(fake.range_mode, kernel::mpol_interleave);
  Pages large(64);
  install_fake_kernel(large);
  ASSERT_TRUE(populate_weighted(large.start(), large.bytes(), 8 * page, nodes));
  expect_pattern(nodes, 0, 8);
  for (std::size_t first : {1u, 2u, 3u, 4u, 5u, 1003u}) {
    install_fake_kernel(large);
    ASSERT_TRUE(populate_weighted(large.start(), large.bytes(), page, others, first));
    expect_pattern(others, first);
  }
}

TEST(ApplyToRange, FirstTouchCountsPagesAsTheKernelDoes) {
  testing::CallsGuard guard;
  const WeightedNodes nodes{{NodeId{0}, 2}, {NodeId{2}, 5}};
  Pages pages(20);
  const auto number = reinterpret_cast<std::uintptr_t>(pages.start()) / page;
  for (auto first : {std::optional<std::size_t>(), std::make_optional<std::size_t>(0)}) {
    install_fake_kernel(pages);
    fake.refuse_mode = kernel::mpol_weighted_interleave;
    ASSERT_TRUE(
        apply_to_range(pages.start(), pages.bytes(), page, {MemoryMode::weighted, nodes}, first));
    expect_pattern(nodes, first.value_or(number));
  }
}

TEST(PopulateWeighted, AFullNodeIsAnErrorAndThePolicyIsRestored) {
  testing::CallsGuard guard;
  Pages pages(8);
  install_fake_kernel(pages);
  fake.populate_error = ENOMEM;
  const auto done =
      populate_weighted(pages.start(), pages.bytes(), page, {{NodeId{0}, 1}, {NodeId{2}, 1}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::resource);
  EXPECT_THAT(full_text(done.error()), HasSubstr("node 0 has no room"));
  EXPECT_EQ(fake.restored_mode, kernel::mpol_interleave);
}

TEST(PopulateWeighted, OldKernelWithoutPopulateIsTouchedByHand) {
  REQUIRE_NUMA();
  testing::CallsGuard guard;
  kernel::calls().madvise = [](void*, std::size_t, int) {
    errno = EINVAL;
    return -1;
  };
  Pages pages(20);
  ASSERT_TRUE(populate_weighted(pages.start(), pages.bytes(), page,
                                {{kernel::allowed_nodes()->front(), 3}}));
  EXPECT_EQ(observe(pages.start(), pages.bytes()).untouched, 0u);
}

TEST(ApplyToRange, AllOnesIsPlainInterleaveOnAnOldKernel) {
  testing::CallsGuard guard;
  Pages pages(4);
  install_fake_kernel(pages);
  fake.refuse_mode = kernel::mpol_weighted_interleave;
  EXPECT_FALSE(kernel_has_weighted_interleave());
  auto outcome = apply_to_range(pages.start(), pages.bytes(), page, placement("weighted:0=1,2=1"));
  ASSERT_TRUE(outcome) << full_text(outcome.error());
  EXPECT_EQ(fake.range_mode, kernel::mpol_interleave);
  EXPECT_EQ(fake.touched[0], -1);
  outcome = apply_to_range(pages.start(), pages.bytes(), page, placement("weighted:0=2,2=1"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->mechanism, "first touch");
  EXPECT_THAT(outcome->note, HasSubstr("Linux 6.9"));
}

TEST(ApplyToRange, OldKernelCannotPreferSeveral) {
  testing::CallsGuard guard;
  Pages pages(4);
  install_fake_kernel(pages);
  fake.refuse_mode = kernel::mpol_preferred_many;
  const auto outcome = apply_to_range(pages.start(), pages.bytes(), page, placement("prefer:0,2"));
  ASSERT_FALSE(outcome);
  EXPECT_THAT(full_text(outcome.error()), HasSubstr("cannot prefer several nodes"));
}

TEST(UnusableNode, ThreeWaysAreToldApart) {
  Pages pages(4);
  NodeLists lists("0-3", "0,2-3");
  install_fake_kernel(pages);  // Mems_allowed: 0,2
  const auto message = [&](const char* text) {
    const auto outcome = apply_to_range(pages.start(), pages.bytes(), page, placement(text));
    return outcome ? std::string("accepted") : full_text(outcome.error());
  };
  EXPECT_THAT(message("bind:0,8"), AllOf(HasSubstr("no NUMA node 8"), HasSubstr("are 0-3")));
  EXPECT_THAT(message("interleave:0-1"),
              AllOf(HasSubstr("node 1 has no memory"), HasSubstr("0,2-3")));
  EXPECT_THAT(message("prefer:3"), AllOf(HasSubstr("outside"), HasSubstr("Mems_allowed: 0,2")));
  EXPECT_EQ(message("bind:0,2"), "accepted");
}

TEST(UnusableNode, RealKernel) {
  REQUIRE_NUMA();
  Pages pages(1);
  const auto outcome = apply_to_range(pages.start(), page, page, placement("bind:9999"));
  ASSERT_FALSE(outcome);
  EXPECT_THAT(full_text(outcome.error()), HasSubstr("no NUMA node 9999"));
}

TEST(ApplyToProcess, ModesAreReadBack) {
  REQUIRE_NUMA();
  for (const std::string form : {"bind:", "prefer:", "interleave:"})
    EXPECT_TRUE(in_child([&] {
      const auto wanted = placement(form + own_node());
      return apply_to_process(wanted) && inherited_policy() == wanted;
    })) << form;
  EXPECT_TRUE(in_child([] {
    return apply_to_process(placement("bind:" + own_node())) &&
           apply_to_process(placement("local")) &&
           inherited_policy() == MemoryPlacement{MemoryMode::local, {}};
  }));
}

TEST(ApplyToProcess, WeightedNeedsTheSystemsWeights) {
  REQUIRE_NUMA();
  const NodeId node = kernel::allowed_nodes()->front();
  const auto weight = kernel::system_weight(node);
  if (!kernel_has_weighted_interleave() || !weight) {
    GTEST_SKIP() << "this kernel has no weighted interleave";
  }
  const int other = *weight == 9 ? 8 : 9;
  const auto refused = apply_to_process({MemoryMode::weighted, {{node, other}}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(full_text(refused.error()), HasSubstr("system-wide weight of node"));
  EXPECT_THAT(full_hint(refused.error()), HasSubstr("echo " + std::to_string(other) + " > /sys/"));
  EXPECT_TRUE(in_child([&] {
    const MemoryPlacement same{MemoryMode::weighted, {{node, *weight}}};
    return apply_to_process(same) && inherited_policy() == same;
  }));
}

TEST(TaskContext, Environment) {
  const auto with = [](const char* threads, const char* places, const char* bind,
                       std::optional<int> count, bool binds) {
    return in_child([=] {
      threads ? setenv("OMP_NUM_THREADS", threads, 1) : unsetenv("OMP_NUM_THREADS");
      places ? setenv("OMP_PLACES", places, 1) : unsetenv("OMP_PLACES");
      bind ? setenv("OMP_PROC_BIND", bind, 1) : unsetenv("OMP_PROC_BIND");
      const TaskContext task = read_task_context();
      return task.omp_num_threads == count && task.omp_binds == binds;
    });
  };
  EXPECT_TRUE(with(nullptr, nullptr, nullptr, {}, false));
  EXPECT_TRUE(with(" 4,2", "cores", nullptr, 4, true));
  EXPECT_TRUE(with("8", "cores", "FALSE", 8, false));
  EXPECT_TRUE(with("0", nullptr, "close,spread", {}, true));
  EXPECT_TRUE(with("-3", nullptr, "false", {}, false));
  EXPECT_TRUE(with("2x", "", "true", {}, true));
}

}  // namespace
}  // namespace numatlas
