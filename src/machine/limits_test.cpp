#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "machine/allowance.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;

class Files {
 public:
  void write(const std::string& path, const std::string& text) const {
    const auto file = folder_.path() / path.substr(1);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  Tree tree() const { return Tree(folder_.path()); }

 private:
  testing::TestFolder folder_;
};

TEST(Limits, OfVersionTwo) {
  const Files files;
  const std::string top = "/sys/fs/cgroup/kubepods", own = top + "/pod";
  files.write("/proc/self/cgroup", "0::/kubepods/pod");
  files.write(own + "/memory.max", "max");
  files.write(own + "/memory.high", "1073741824");
  files.write(own + "/memory.current", "4096");
  files.write(own + "/memory.stat", "inactive_file 1024");
  files.write(top + "/memory.max", "2147483648");
  files.write(own + "/hugetlb.2MB.max", "0");
  files.write(own + "/hugetlb.2MB.current", "0");
  files.write(own + "/hugetlb.2MB.rsvd.max", "max");
  files.write(own + "/hugetlb.1GB.max", "max");
  files.write(own + "/hugetlb.1GB.rsvd.max", "2147483648");
  files.write(own + "/hugetlb.1GB.rsvd.current", "1073741824");
  files.write(own + "/pids.max", "100");
  files.write(top + "/pids.max", "60");
  files.write(top + "/pids.current", "58");
  EXPECT_THAT(
      read_limits(files.tree()),
      ElementsAre(
          Limit{Limit::Of::memory, Bytes{gib}, Bytes{4096}, Bytes{1024}, {}, own + "/memory.high"},
          Limit{Limit::Of::huge_pages,
                Bytes{2 * gib},
                Bytes{gib},
                {},
                Bytes{gib},
                own + "/hugetlb.1GB.rsvd.max"},
          Limit{Limit::Of::huge_pages,
                Bytes{},
                Bytes{},
                {},
                Bytes{2 * mib},
                own + "/hugetlb.2MB.max"}));
  EXPECT_EQ(process_limit(files.tree()),
            (Limit{Limit::Of::processes, Bytes{60}, Bytes{58}, {}, {}, top + "/pids.max"}));
}

TEST(Limits, OfVersionOne) {
  const Files files;
  files.write("/proc/self/cgroup", "3:hugetlb:/job\n2:memory:/job\n1:pids:/job");
  files.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1048576");
  files.write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "4096");
  files.write("/sys/fs/cgroup/hugetlb/job/hugetlb.2MB.limit_in_bytes", "4194304");
  files.write("/sys/fs/cgroup/hugetlb/job/hugetlb.1GB.limit_in_bytes", "9223372036854771712");
  files.write("/sys/fs/cgroup/pids/job/pids.max", "max");
  EXPECT_THAT(read_limits(files.tree()),
              ElementsAre(Limit{Limit::Of::memory,
                                Bytes{mib},
                                Bytes{4096},
                                {},
                                {},
                                "/sys/fs/cgroup/memory/job/memory.limit_in_bytes"},
                          Limit{Limit::Of::huge_pages,
                                Bytes{4 * mib},
                                {},
                                {},
                                Bytes{2 * mib},
                                "/sys/fs/cgroup/hugetlb/job/hugetlb.2MB.limit_in_bytes"}));
  EXPECT_EQ(process_limit(files.tree()), std::nullopt);
}

TEST(Limits, OfTheShell) {
  const Files files;
  files.write("/proc/self/limits",
              "Limit                     Soft Limit           Hard Limit           Units     \n"
              "Max data size             2097152              unlimited            bytes     \n"
              "Max stack size            8388608              unlimited            bytes     \n"
              "Max address space         1048576              unlimited            bytes     ");
  files.write("/proc/self/status", "VmSize:\t     512 kB\nVmData:\t 4 kB");
  EXPECT_THAT(
      read_limits(files.tree()),
      ElementsAre(
          Limit{Limit::Of::address_space, Bytes{mib}, Bytes{512 * kib}, {}, {}, "ulimit -v"},
          Limit{Limit::Of::data, Bytes{2 * mib}, Bytes{4 * kib}, {}, {}, "ulimit -d"}));
  files.write("/proc/self/limits", "Max address space         unlimited   unlimited    bytes");
  EXPECT_TRUE(read_limits(files.tree()).empty());
}

}  // namespace
}  // namespace numatlas
