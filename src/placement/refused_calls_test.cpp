// Policies where the system calls are refused, as in containers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "placement/policy.h"
#include "placement/residency.h"
#include "placement/test_kernel.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::in_child;
using testing::NodeLists;
using ::testing::Not;
using testing::own_node;
using testing::page;
using testing::Pages;
using testing::placement;

template <int Error>
long refuse_mbind(void*, unsigned long, int, const unsigned long*, unsigned long, unsigned) {
  errno = Error;
  return -1;
}
template <int Error>
long refuse_set(int, const unsigned long*, unsigned long) {
  errno = Error;
  return -1;
}
template <int Error>
long refuse_get(int*, unsigned long*, unsigned long, void*, unsigned long) {
  errno = Error;
  return -1;
}
/// All of these calls, as the filters of containers refuse them.
template <int Error>
void refuse_policies() {
  kernel::calls().mbind = refuse_mbind<Error>;
  kernel::calls().set_mempolicy = refuse_set<Error>;
  kernel::calls().get_mempolicy = refuse_get<Error>;
}

TEST(RefusedCalls, NotPermittedGivesTheRemedies) {
  const NodeLists two_nodes("0-1", "0-1", "0-1");
  kernel::calls().mbind = refuse_mbind<EPERM>;
  kernel::calls().set_mempolicy = refuse_set<EPERM>;
  Pages pages(1);
  for (const char* text : {"bind:0", "prefer:0", "weighted:0=9"}) {
    const auto outcome = apply_to_range(pages.start(), page, page, placement(text));
    ASSERT_FALSE(outcome) << text;
    EXPECT_EQ(outcome.error().kind, ErrorKind::permission);
    EXPECT_THAT(full_text(outcome.error()), AllOf(HasSubstr("--memory: mbind for '"),
                                                  HasSubstr(text), HasSubstr("not permitted")));
    EXPECT_THAT(full_hint(outcome.error()),
                AllOf(HasSubstr("SYS_NICE"), HasSubstr("numatlas latency")));
    EXPECT_THAT(full_hint(outcome.error()), Not(HasSubstr("--memory inherit")))
        << "matrix, weights and others refuse it";
  }
  const auto process = apply_to_process(placement("bind:0"));
  ASSERT_FALSE(process);
  EXPECT_THAT(full_text(process.error()), HasSubstr("set_mempolicy for 'bind:0' is not permitted"));
  EXPECT_TRUE(apply_to_range(pages.start(), page, page, placement("inherit")));
}

TEST(RefusedCalls, LocalIsWhatTheDefaultPolicyGives) {
  testing::CallsGuard guard;
  kernel::calls().mbind = refuse_mbind<EPERM>;
  Pages pages(1);
  const auto outcome = apply_to_range(pages.start(), page, page, placement("local"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->mechanism, "default policy");
  EXPECT_THAT(outcome->note, HasSubstr("mbind is refused here (Operation not permitted)"));
  // Not so where the task has another policy, as numactl sets it.
  kernel::calls().get_mempolicy = [](int* mode, unsigned long* mask, unsigned long, void*,
                                     unsigned long) {
    *mode = kernel::mpol_interleave;
    if (mask != nullptr) *mask = 1;
    return 0L;
  };
  const auto other = apply_to_range(pages.start(), page, page, placement("local"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::permission);
}

TEST(RefusedCalls, LocalForAProcessNeedsNoCallWithoutAPolicy) {
  testing::CallsGuard guard;
  static int calls = 0;
  calls = 0;
  kernel::calls().set_mempolicy = [](int, const unsigned long*, unsigned long) {
    ++calls;
    errno = EPERM;
    return -1L;
  };
  kernel::calls().get_mempolicy = [](int* mode, unsigned long*, unsigned long, void*,
                                     unsigned long) {
    *mode = kernel::mpol_default;
    return 0L;
  };
  const auto outcome = apply_to_process(placement("local"));
  ASSERT_TRUE(outcome) << full_text(outcome.error());
  EXPECT_EQ(outcome->mechanism, "default policy");
  EXPECT_EQ(calls, 0);
  // Where nobody says which policy there is, it is tried.
  kernel::calls().get_mempolicy = refuse_get<EPERM>;
  EXPECT_TRUE(apply_to_process(placement("local")));
  EXPECT_EQ(calls, 1);
  // A policy of numactl has to go.
  kernel::calls().get_mempolicy = [](int* mode, unsigned long* mask, unsigned long, void*,
                                     unsigned long) {
    *mode = kernel::mpol_interleave;
    if (mask != nullptr) *mask = 3;
    return 0L;
  };
  const NodeLists two_nodes("0-1", "0-1", "0-1");
  EXPECT_FALSE(apply_to_process(placement("local")));
}

TEST(RefusedCalls, OneMemoryNodeNeedsNoPolicy) {
  struct Case {
    const char *online, *has_memory, *allowed;
    bool one;
  };
  for (const Case& lists :
       {Case{"0", "0", "0", true}, Case{"0-1", "0-1", "0", true}, Case{"0-1", "0", "0-1", true},
        Case{"0", nullptr, "0", true}, Case{"0-1", "0-1", "0-1", false},
        Case{"0-1", "0-1", "1", false}, Case{"0", "0", nullptr, false}}) {
    const NodeLists tree(lists.online, lists.has_memory, lists.allowed);
    refuse_policies<EPERM>();
    Pages pages(4);
    for (const char* text : {"bind:0", "prefer:0", "interleave:0", "weighted:0=9"}) {
      const auto outcome = apply_to_range(pages.start(), pages.bytes(), page, placement(text));
      EXPECT_EQ(outcome.has_value(), lists.one) << text << " of " << lists.allowed;
      if (outcome) {
        EXPECT_EQ(outcome->mechanism, "one node");
        EXPECT_EQ(outcome->note, "");
      }
    }
    EXPECT_EQ(apply_to_process(placement("bind:0")).has_value(), lists.one);
    EXPECT_FALSE(apply_to_range(pages.start(), pages.bytes(), page, placement("bind:0,1")));
  }
}

TEST(RefusedCalls, KernelWithoutNuma) {
  const NodeLists two_nodes("0-1", "0-1", "0-1");
  refuse_policies<ENOSYS>();
  Pages pages(1);
  const auto outcome = apply_to_range(pages.start(), page, page, placement("bind:0"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(outcome.error()), HasSubstr("without NUMA"));
  EXPECT_FALSE(inherited_policy());
  EXPECT_FALSE(kernel_has_weighted_interleave());
  EXPECT_FALSE(kernel::allowed_nodes());
}

/// Makes one system call return EPERM from here on, as a container's filter does.
bool forbid(unsigned number) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{sizeof program / sizeof *program, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(SeccompFilter, MbindForbidden) {
  if (!in_child([] { return forbid(SYS_mbind); })) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_TRUE(in_child([] {
    forbid(SYS_mbind);
    const NodeLists two_nodes("0-1", "0-1", "0-1");
    Pages pages(1);
    const auto outcome = apply_to_range(pages.start(), page, page, placement("bind:0"));
    return !outcome && outcome.error().kind == ErrorKind::permission &&
           full_text(outcome.error()).find("--memory") != std::string::npos &&
           full_hint(outcome.error()).find("SYS_NICE") != std::string::npos;
  }));
}

TEST(SeccompFilter, MovePagesForbiddenFallsBackToNumaMaps) {
  REQUIRE_NUMA();
  if (!in_child([] { return forbid(SYS_move_pages); })) GTEST_SKIP() << "no seccomp filters here";
  if (access("/proc/self/numa_maps", R_OK) != 0) GTEST_SKIP() << "no numa_maps here";
  EXPECT_TRUE(in_child([] {
    forbid(SYS_move_pages);
    Pages pages(100);
    // A policy of its own keeps the range a mapping of its own.
    if (!apply_to_range(pages.start(), pages.bytes(), page, placement("bind:" + own_node()))) {
      return false;
    }
    pages.touch();
    const auto seen = observe(pages.start(), pages.bytes());
    return seen.problem.find("move_pages") != std::string::npos && seen.main_node() &&
           seen.pages_by_node.begin()->second == 100;
  }));
}

}  // namespace
}  // namespace numatlas
