#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/test_folder.h"
#include "base/tree.h"
#include "memory/folder.h"
#include "memory/libpmem.h"
#include "memory/test_sources.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// libpmem as another one for a test.
class PmemGuard {
 public:
  PmemGuard() : kept_(libpmem()) {}
  ~PmemGuard() { libpmem() = kept_; }
  PmemGuard(const PmemGuard&) = delete;
  PmemGuard& operator=(const PmemGuard&) = delete;

 private:
  LibPmem kept_;
};

Expected<void> memkind_there() {
  const MemoryPlacement placement = source_region(mib, "memkind:DEFAULT").placement;
  return source_of(placement).probe(placement);
}

#define NEEDS_MEMKIND() \
  if (!memkind_there()) GTEST_SKIP() << full_text(memkind_there().error())

TEST(Pmem, AFileInThePageCacheIsNamedAsSuchAndLeavesNothing) {
  NEEDS_LIBPMEM();
  const testing::TestFolder folder;
  const Region region = source_region(3 * mib + 100, "pmem:" + folder.text());
  const auto buffer = allocate(region);
  ASSERT_TRUE(buffer) << full_text(buffer.error());
  EXPECT_EQ((*buffer)->bytes(), 3 * mib + 100);
  EXPECT_TRUE((*buffer)->persistent());
  EXPECT_EQ((*buffer)->policy().mechanism, "pmem_map_file");
  if (maps_directly(folder.text()) != true) {
    EXPECT_THAT((*buffer)->policy().note,
                AllOf(StartsWith(folder.text() + " is not real persistent memory: a file on "),
                      HasSubstr(" in the page cache")));
  }
  fill_and_check(**buffer);
  EXPECT_TRUE((*buffer)->persist((*buffer)->data(), 100));
  EXPECT_TRUE(folder.empty());
}

TEST(Pmem, PersistAsTheMappingNeedsIt) {
  NEEDS_LIBPMEM();
  const testing::TestFolder folder;
  const PmemGuard guard;
  static int persisted, synced;
  persisted = synced = 0;
  libpmem().persist = [](const void*, std::size_t) { ++persisted; };
  libpmem().msync = [](const void*, std::size_t) {
    ++synced;
    return synced > 1 ? -1 : 0;
  };
  static decltype(LibPmem::map_file) real;
  real = libpmem().map_file;
  libpmem().map_file = [](const char* path, std::size_t bytes, int flags, mode_t mode,
                          std::size_t* mapped, int* is_pmem) {
    void* const start = real(path, bytes, flags, mode, mapped, is_pmem);
    *is_pmem = 1;
    return start;
  };
  const auto forced = allocate(source_region(mib, "pmem:" + folder.text()));
  ASSERT_TRUE(forced) << full_text(forced.error());
  if (maps_directly(folder.text()) == false) {
    EXPECT_THAT((*forced)->policy().note, HasSubstr("is not real persistent memory"))
        << "whatever PMEM_IS_PMEM_FORCE makes libpmem say";
  }
  EXPECT_TRUE((*forced)->persist((*forced)->data(), 64));
  EXPECT_EQ(persisted, 1);
  libpmem().map_file = [](const char* path, std::size_t bytes, int flags, mode_t mode,
                          std::size_t* mapped, int* is_pmem) {
    void* const start = real(path, bytes, flags, mode, mapped, is_pmem);
    *is_pmem = 0;
    return start;
  };
  const auto plain = allocate(source_region(mib, "pmem:" + folder.text()));
  EXPECT_TRUE((*plain)->persist((*plain)->data(), 64));
  EXPECT_EQ(persisted, 1);
  EXPECT_EQ(synced, 1);
  const auto failed = (*plain)->persist((*plain)->data(), 64);
  ASSERT_FALSE(failed);
  EXPECT_THAT(full_text(failed.error()), HasSubstr("pmem_msync"));
}

TEST(Pmem, AFullFileSystem) {
  NEEDS_LIBPMEM();
  const testing::TestFolder folder;
  if (mount("tmpfs", folder.text().c_str(), "tmpfs", 0, "size=4m") != 0) {
    GTEST_SKIP() << "a small tmpfs cannot be mounted here: " << errno_text(errno);
  }
  const std::string memory = "pmem:" + folder.text();
  const auto small = allocate(source_region(mib, memory));
  const Error alone = fit_error(5 * mib, memory);
  const Error together =
      fit_error({source_region(2 * mib, memory), source_region(2 * mib, memory)});
  const auto large = allocate(source_region(5 * mib, memory));
  const bool left = fs::is_empty(folder.path());
  umount2(folder.text().c_str(), MNT_DETACH);
  EXPECT_TRUE(small) << full_text(small.error());
  EXPECT_EQ(alone.kind, ErrorKind::resource);
  EXPECT_EQ(full_text(alone),
            "memory " + memory + ": 5 MiB needed by 1 region, 3 MiB free on tmpfs");
  EXPECT_THAT(full_text(together), HasSubstr("4 MiB needed by 2 regions, 3 MiB free on tmpfs"));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind, ErrorKind::resource);
  EXPECT_TRUE(left);
}

TEST(Pmem, FoldersThatWillNotDo) {
  NEEDS_LIBPMEM();
  const testing::TestFolder folder;
  const std::string memory = "pmem:" + folder.text();
  EXPECT_EQ(full_text(fit_error(mib, memory)), "it fits");
  const Error missing = fit_error(mib, memory + "/none");
  EXPECT_EQ(missing.kind, ErrorKind::io);
  EXPECT_EQ(full_text(missing), "memory " + memory + "/none: No such file or directory");
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_EQ(fit_error(mib, memory + "/file").kind, ErrorKind::usage);
  EXPECT_THAT(full_text(fit_error(mib, memory + "/file")), HasSubstr("this is not a folder"));
  EXPECT_EQ(fit_error(mib, "pmem:/dev/null").kind, ErrorKind::usage);
  const Error name = fit_error(mib, memory + "/" + std::string(300, 'n'));
  EXPECT_EQ(name.kind, ErrorKind::io);
  EXPECT_THAT(full_text(name), HasSubstr("File name too long"));
  EXPECT_EQ(fit_error(mib, memory + std::string(5000, '/')).kind, ErrorKind::io);
}

TEST(Pmem, AFolderThatMayNotBeWrittenTo) {
  NEEDS_LIBPMEM();
  const testing::TestFolder folder;
  // Root may write everywhere, but where nobody may.
  const bool mounted = mount("tmpfs", folder.text().c_str(), "tmpfs", MS_RDONLY, "size=4m") == 0;
  if (!mounted && geteuid() == 0) {
    GTEST_SKIP() << "root, and nothing can be mounted here: " << errno_text(errno);
  }
  if (!mounted) fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const Error unwritable = fit_error(mib, "pmem:" + folder.text());
  if (mounted) umount2(folder.text().c_str(), MNT_DETACH);
  if (!mounted) fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_EQ(unwritable.kind, ErrorKind::permission);
  EXPECT_THAT(full_text(unwritable), HasSubstr("cannot create a file there: "));
}

TEST(Sources, PagesAreTheSourcesOwn) {
  for (const char* memory : {"pmem:/x", "memkind:DEFAULT", "memkind:/x"}) {
    Region region = source_region(mib, memory);
    region.pages = PageKind::huge_2m;
    const auto fits = check_fits({region}, testing::build({{0, {{0}}}}));
    ASSERT_FALSE(fits) << memory;
    EXPECT_EQ(fits.error().kind, ErrorKind::usage);
    EXPECT_THAT(full_text(fits.error()), StartsWith("pages 2M: memory " + std::string(memory)));
  }
}

TEST(Sources, NothingIsLookedAtForARecordedMachine) {
  const Machine machine = testing::build({{0, {{0}}}});
  for (const char* memory : {"pmem:/none", "memkind:NONE", "memkind:/none"}) {
    EXPECT_TRUE(check_fits({source_region(gib, memory)}, machine)) << memory;
  }
  // Not the memory of nodes, which have 64 GiB.
  EXPECT_TRUE(check_fits({source_region(100 * gib, "pmem:/none")}, machine));
  EXPECT_FALSE(check_fits({source_region(100 * gib, "memkind:DEFAULT")}, machine));
}

TEST(Sources, WithoutTheLibrary) {
  const PmemGuard guard;
  libpmem().library = Library("libnone.so.1", "libnone1");
  const testing::TestFolder folder;
  const std::string memory = "pmem:" + folder.text();
  const Error error = fit_error(mib, memory);
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(error), HasSubstr("needs libpmem: libnone.so.1: cannot open"));
  EXPECT_EQ(full_hint(error), "install it (Debian, Ubuntu: apt-get install libnone1)");
  EXPECT_FALSE(allocate(source_region(mib, memory)));
}

TEST(Pmem, BlockDevicesBelowAFolder) {
  const testing::TestFolder root, folder;
  const testing::CallsGuard guard;
  running_system() = Tree(root.text());
  struct stat status {};
  ASSERT_EQ(stat(folder.text().c_str(), &status), 0);
  const std::string number =
      std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
  const fs::path sys = root.path() / "sys";
  const auto region = [&](const std::string& name, const char* target, const char* node) {
    fs::create_directories(sys / "devices" / name / "device");
    std::ofstream(sys / "devices" / name / "device/target_node") << target << '\n';
    std::ofstream(sys / "devices" / name / "device/numa_node") << node << '\n';
  };
  region("pmem0", "4", "0");
  region("pmem1", "-1", "1");
  fs::create_directories(sys / "devices/pmem0/pmem0p1");
  std::ofstream(sys / "devices/pmem0/pmem0p1/partition") << "1\n";
  fs::create_directories(sys / "devices/dm-0/slaves");
  fs::create_directory_symlink("../../pmem0/pmem0p1", sys / "devices/dm-0/slaves/pmem0p1");
  fs::create_directory_symlink("../../pmem1", sys / "devices/dm-0/slaves/pmem1");
  fs::create_directories(sys / "dev/block");
  const auto told = [&](const char* device) {
    fs::remove(sys / "dev/block" / number);
    fs::create_directory_symlink(std::string("../../devices/") + device,
                                 sys / "dev/block" / number);
    // Memory that nothing has touched: the kernel tells no node of it.
    void* const pages = mmap(nullptr, mib, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const Residency seen = file_residency(pages, mib, folder.text(), true);
    munmap(pages, mib);
    return seen;
  };
  const std::size_t pages = mib / kernel::page_size();
  EXPECT_EQ(told("pmem0/pmem0p1").pages_by_node, (std::map<int, std::size_t>{{4, pages}}));
  EXPECT_EQ(told("pmem1").pages_by_node, (std::map<int, std::size_t>{{1, pages}}));
  EXPECT_EQ(told("dm-0").pages_by_node,
            (std::map<int, std::size_t>{{1, pages / 2}, {4, pages / 2}}));
  EXPECT_EQ(told("dm-0").told_by, "devices");
  EXPECT_NE(told("none").problem, "");
}

TEST(Memkind, DefaultAndAFolder) {
  NEEDS_MEMKIND();
  const testing::TestFolder folder;
  for (const std::string& memory : {std::string("memkind:DEFAULT"), "memkind:" + folder.text()}) {
    EXPECT_EQ(full_text(fit_error(5 * mib, memory)), "it fits") << memory;
    for (int turn = 0; turn < 3; ++turn) {
      const auto one = allocate(source_region(5 * mib + 3, memory));
      const auto two = allocate(source_region(mib, memory));
      ASSERT_TRUE(one) << full_text(one.error());
      ASSERT_TRUE(two) << full_text(two.error());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*one)->data()) % kernel::page_size(), 0u);
      EXPECT_FALSE((*one)->persistent());
      fill_and_check(**one);
      fill_and_check(**two);
      EXPECT_TRUE(folder.empty());
    }
  }
}

TEST(Memkind, UnknownAndUnavailableKinds) {
  NEEDS_MEMKIND();
  const Error unknown = fit_error(mib, "memkind:DAX_KMEN");
  EXPECT_EQ(unknown.kind, ErrorKind::usage);
  EXPECT_THAT(full_hint(unknown), HasSubstr("a folder has a slash in it: ./DAX_KMEN"));
  for (const char* none : {"memkind:HBW_OPS", "memkind:PMEM0", "memkind:default"})
    EXPECT_EQ(full_text(fit_error(mib, none)),
              "memory " + std::string(none) + ": libmemkind has no such kind");
  EXPECT_TRUE(source_of(source_region(mib, "memkind:DEFAULT").placement).describe().available);
  EXPECT_EQ(fit_error(mib, "memkind:/none").kind, ErrorKind::io);
  const Error error = fit_error(mib, "memkind:DAX_KMEM");
  if (full_text(error) != "it fits") {
    EXPECT_EQ(error.kind, ErrorKind::unavailable);
    EXPECT_EQ(full_text(error),
              "memory memkind:DAX_KMEM: <memkind> Requested memory kind is not available");
  }
}

TEST(Memkind, WhatAFileTakes) {
  const MemoryPlacement placement = source_region(mib, "memkind:/x").placement;
  const MemorySource& source = source_of(placement);
  const auto memkind_bytes = [&](std::uint64_t bytes) { return source.taken(bytes); };
  for (std::uint64_t bytes : {1 * mib, 5 * mib + 3, 64 * mib, gib + 1}) {
    EXPECT_GE(memkind_bytes(bytes), bytes);
    EXPECT_LE(memkind_bytes(bytes), bytes + bytes / 4 + mib);
  }
  EXPECT_EQ(memkind_bytes(~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace numatlas
