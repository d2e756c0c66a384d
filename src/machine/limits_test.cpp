#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/test_tree.h"
#include "machine/allowance.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;

/// "limit of the cgroup 1 GiB, 4 KiB used, 1 KiB cache (FILE)".
std::string text_of(const Limit& limit) {
  const auto part = [&](const std::optional<std::uint64_t>& amount, const char* what) {
    return amount ? ", " + limit.text(*amount) + what : "";
  };
  return name_of(limit) + " " + limit.text(limit.most) + part(limit.used, " used") +
         part(limit.cache, " cache") + " (" + limit.source + ")";
}

std::vector<std::string> limits_in(const testing::RecordedTree& files) {
  std::vector<std::string> texts;
  for (const Limit& limit : read_limits(Tree(files.root()))) texts.push_back(text_of(limit));
  return texts;
}

TEST(Limits, OfVersionTwo) {
  const testing::RecordedTree files;
  const std::string top = "/sys/fs/cgroup/kubepods", own = top + "/pod";
  files.file("/proc/self/cgroup", "0::/kubepods/pod");
  files.file(own + "/memory.max", "max");
  files.file(own + "/memory.high", "1073741824");
  files.file(own + "/memory.current", "4096");
  files.file(own + "/memory.stat", "inactive_file 1024");
  files.file(top + "/memory.max", "2147483648");
  files.file(own + "/hugetlb.2MB.max", "0");
  files.file(own + "/hugetlb.2MB.current", "0");
  files.file(own + "/hugetlb.2MB.rsvd.max", "max");
  files.file(own + "/hugetlb.1GB.max", "max");
  files.file(own + "/hugetlb.1GB.rsvd.max", "2147483648");
  files.file(own + "/hugetlb.1GB.rsvd.current", "1073741824");
  files.file(own + "/pids.max", "100");
  files.file(top + "/pids.max", "60");
  files.file(top + "/pids.current", "58");
  EXPECT_THAT(
      limits_in(files),
      ElementsAre("limit of the cgroup 1 GiB, 4 KiB used, 1 KiB cache (" + own + "/memory.high)",
                  "limit of pages of 1 GiB 2 GiB, 1 GiB used (" + own + "/hugetlb.1GB.rsvd.max)",
                  "limit of pages of 2 MiB 0 B, 0 B used (" + own + "/hugetlb.2MB.max)",
                  "limit of processes 60, 58 used (" + top + "/pids.max)"));
  EXPECT_EQ(process_limit(Tree(files.root())),
            (Limit{Limit::Of::processes, 60, 58, {}, {}, top + "/pids.max"}));
}

TEST(Limits, OfVersionOne) {
  const testing::RecordedTree files;
  files.file("/proc/self/cgroup", "3:hugetlb:/job\n2:memory:/job\n1:pids:/job");
  files.file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1048576");
  files.file("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "4096");
  files.file("/sys/fs/cgroup/hugetlb/job/hugetlb.2MB.limit_in_bytes", "4194304");
  files.file("/sys/fs/cgroup/hugetlb/job/hugetlb.1GB.limit_in_bytes", "9223372036854771712");
  files.file("/sys/fs/cgroup/pids/job/pids.max", "max");
  EXPECT_THAT(limits_in(files),
              ElementsAre("limit of the cgroup 1 MiB, 4 KiB used "
                          "(/sys/fs/cgroup/memory/job/memory.limit_in_bytes)",
                          "limit of pages of 2 MiB 4 MiB "
                          "(/sys/fs/cgroup/hugetlb/job/hugetlb.2MB.limit_in_bytes)"));
  EXPECT_EQ(process_limit(Tree(files.root())), std::nullopt);
}

TEST(Limits, OfTheShell) {
  const testing::RecordedTree files;
  files.file("/proc/self/limits",
             "Limit                     Soft Limit           Hard Limit           Units     \n"
             "Max cpu time              60                   unlimited            seconds   \n"
             "Max file size             4096                 unlimited            bytes     \n"
             "Max data size             2097152              unlimited            bytes     \n"
             "Max stack size            8388608              unlimited            bytes     \n"
             "Max processes             100                  100                  processes \n"
             "Max address space         1048576              unlimited            bytes     ");
  files.file("/proc/self/status", "VmSize:\t     512 kB\nVmData:\t 4 kB");
  EXPECT_THAT(
      limits_in(files),
      ElementsAre("limit of address space 1 MiB, 512 KiB used (ulimit -v)",
                  "limit of data 2 MiB, 4 KiB used (ulimit -d)",
                  "limit of processes 100 (ulimit -u)", "limit of CPU time 60 s (ulimit -t)",
                  "limit of the size of files 4 KiB (ulimit -f)"));
  files.file("/proc/self/limits", "Max address space         unlimited   unlimited    bytes");
  EXPECT_THAT(limits_in(files), ElementsAre());
}

TEST(Limits, OfProcessesAreThoseThatMayStopARun) {
  const testing::RecordedTree files;
  Machine machine;
  machine.cpus.resize(2);
  machine.cpus[1].id = CpuId{1};
  const auto shown = [&] { return read_allowance(Tree(files.root()), machine).other_limits; };
  files.file("/proc/self/limits", "Max processes             96365   96365    processes");
  EXPECT_THAT(shown(), ElementsAre());
  files.file("/proc/self/limits", "Max processes             19      96365    processes");
  EXPECT_THAT(shown(), ElementsAre(Limit{Limit::Of::processes, 19, {}, {}, {}, "ulimit -u"}));
}

}  // namespace
}  // namespace numatlas
