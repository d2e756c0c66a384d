#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "memory/folder.h"
#include "memory/libpmem.h"
#include "memory/sources/dax.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A folder of its own on the file system of /tmp.
class SourceFolder {
 public:
  SourceFolder() {
    char name[] = "/tmp/numatlas-test-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~SourceFolder() { fs::remove_all(path_); }
  SourceFolder(const SourceFolder&) = delete;
  SourceFolder& operator=(const SourceFolder&) = delete;
  std::string text() const { return path_.string(); }
  const fs::path& path() const { return path_; }
  bool empty() const { return fs::is_empty(path_); }

 private:
  fs::path path_;
};

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

Region source_region(std::uint64_t bytes, const std::string& memory) {
  Region region;
  region.bytes = Bytes{bytes};
  const auto spec = parse_memory_spec(memory);
  EXPECT_TRUE(spec) << memory;
  if (spec) region.placement = spec->single;
  return region;
}

Error fit_error(const std::vector<Region>& regions) {
  Machine machine = testing::build({{0, {{0}}}});
  machine.source = "live";
  const auto fits = check_fits(regions, machine);
  return fits ? Error{ErrorKind::internal, "it fits", ""} : fits.error();
}

Error fit_error(std::uint64_t bytes, const std::string& memory) {
  return fit_error({source_region(bytes, memory)});
}

#define NEEDS_LIBPMEM() \
  if (!check_pmem()) GTEST_SKIP() << full_text(check_pmem().error())
Expected<void> memkind_there() {
  const MemoryPlacement placement = source_region(mib, "memkind:DEFAULT").placement;
  return source_of(placement).probe(placement);
}

#define NEEDS_MEMKIND() \
  if (!memkind_there()) GTEST_SKIP() << full_text(memkind_there().error())

void fill_and_check(const Buffer& buffer) {
  std::memset(buffer.data(), 7, buffer.bytes());
  EXPECT_EQ(buffer.data()[buffer.bytes() - 1], std::byte{7});
  if (!kernel::allowed_nodes()) return;
  const Residency seen = buffer.residency();
  EXPECT_EQ(seen.problem, "");
  EXPECT_EQ(seen.told_by, "");
  EXPECT_DOUBLE_EQ(*seen.fraction_on(*kernel::allowed_nodes()), 1.0);
}

TEST(Pmem, AFileInThePageCacheIsNamedAsSuchAndLeavesNothing) {
  NEEDS_LIBPMEM();
  const SourceFolder folder;
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
  const SourceFolder folder;
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
  setenv("PMEM_IS_PMEM_FORCE", "1", 1);
  const auto forced = allocate(source_region(mib, "pmem:" + folder.text()));
  ASSERT_TRUE(forced) << full_text(forced.error());
  if (maps_directly(folder.text()) != true) {
    EXPECT_THAT((*forced)->policy().note, HasSubstr("PMEM_IS_PMEM_FORCE=1 makes libpmem"));
  }
  unsetenv("PMEM_IS_PMEM_FORCE");
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

TEST(Pmem, WithoutUnnamedFilesTheNameGoesAtOnce) {
  NEEDS_LIBPMEM();
  const SourceFolder folder;
  const PmemGuard guard;
  static decltype(LibPmem::map_file) real;
  static std::string name;
  real = libpmem().map_file;
  libpmem().map_file = [](const char* path, std::size_t bytes, int flags, mode_t mode,
                          std::size_t* mapped, int* is_pmem) -> void* {
    if ((flags & pmem_file_tmpfile) != 0) {
      errno = ENOTSUP;
      return nullptr;
    }
    name = path;
    EXPECT_EQ(flags, pmem_file_create | pmem_file_excl);
    return real(path, bytes, flags, mode, mapped, is_pmem);
  };
  const auto buffer = allocate(source_region(2 * mib, "pmem:" + folder.text()));
  ASSERT_TRUE(buffer) << full_text(buffer.error());
  EXPECT_THAT(name, StartsWith(folder.text() + "/.numatlas-"));
  EXPECT_TRUE(folder.empty());
  fill_and_check(**buffer);
}

TEST(Pmem, AFileSystemThatRunsFullOnTheWay) {
  NEEDS_LIBPMEM();
  const SourceFolder folder;
  const PmemGuard guard;
  libpmem().map_file = [](const char* path, std::size_t, int flags, mode_t, std::size_t*,
                          int*) -> void* {
    errno = ENOENT;
    if ((flags & pmem_file_tmpfile) != 0) return nullptr;
    std::ofstream(path) << "a part of it";
    errno = ENOSPC;
    return nullptr;
  };
  const auto buffer = allocate(source_region(mib, "pmem:" + folder.text()));
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().kind, ErrorKind::resource);
  EXPECT_THAT(full_text(buffer.error()),
              AllOf(HasSubstr("pmem_map_file of 1 MiB failed: No space left on device; "),
                    HasSubstr(" free")));
  EXPECT_TRUE(folder.empty());
}

TEST(Pmem, AFullFileSystem) {
  NEEDS_LIBPMEM();
  const SourceFolder folder;
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
            "--memory " + memory + ": 5 MiB needed by 1 region, 3 MiB free on tmpfs");
  EXPECT_THAT(full_text(together), HasSubstr("4 MiB needed by 2 regions, 3 MiB free on tmpfs"));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind, ErrorKind::resource);
  EXPECT_TRUE(left);
}

TEST(Pmem, FoldersThatWillNotDo) {
  NEEDS_LIBPMEM();
  const SourceFolder folder;
  const std::string memory = "pmem:" + folder.text();
  EXPECT_EQ(full_text(fit_error(mib, memory)), "it fits");
  const Error missing = fit_error(mib, memory + "/none");
  EXPECT_EQ(missing.kind, ErrorKind::io);
  EXPECT_EQ(full_text(missing), "--memory " + memory + "/none: No such file or directory");
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_EQ(fit_error(mib, memory + "/file").kind, ErrorKind::usage);
  EXPECT_THAT(full_text(fit_error(mib, memory + "/file")), HasSubstr("this is not a folder"));
  EXPECT_THAT(full_hint(fit_error(mib, "pmem:/dev/null")), HasSubstr("dax:"));
  const Error name = fit_error(mib, memory + "/" + std::string(300, 'n'));
  EXPECT_EQ(name.kind, ErrorKind::usage);
  EXPECT_THAT(full_text(name), HasSubstr("File name too long"));
  EXPECT_EQ(fit_error(mib, memory + std::string(5000, '/')).kind, ErrorKind::usage);
}

TEST(Pmem, AFolderThatMayNotBeWrittenTo) {
  NEEDS_LIBPMEM();
  const SourceFolder folder;
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
  for (const char* memory : {"pmem:/x", "dax:/dev/dax0.0", "memkind:DEFAULT", "memkind:/x"}) {
    Region region = source_region(mib, memory);
    region.pages = PageKind::huge_2m;
    const auto fits = check_fits({region}, testing::build({{0, {{0}}}}));
    ASSERT_FALSE(fits) << memory;
    EXPECT_EQ(fits.error().kind, ErrorKind::usage);
    EXPECT_THAT(full_text(fits.error()),
                StartsWith("--pages 2M: memory of --memory " + std::string(memory)));
  }
}

TEST(Sources, NothingIsLookedAtForARecordedMachine) {
  const Machine machine = testing::build({{0, {{0}}}});
  for (const char* memory : {"pmem:/none", "dax:/dev/none", "memkind:NONE", "memkind:/none"}) {
    EXPECT_TRUE(check_fits({source_region(gib, memory)}, machine)) << memory;
  }
  // Not the memory of nodes, which have 64 GiB.
  EXPECT_TRUE(check_fits({source_region(100 * gib, "pmem:/none")}, machine));
  EXPECT_FALSE(check_fits({source_region(100 * gib, "memkind:DEFAULT")}, machine));
}

TEST(Sources, WithoutTheLibrary) {
  const PmemGuard guard;
  libpmem().problem = "libpmem.so.1: cannot open shared object file";
  libpmem().hint = "install it";
  const SourceFolder folder;
  for (const std::string& memory : {"pmem:" + folder.text(), std::string("dax:/dev/dax0.0")}) {
    const Error error = fit_error(mib, memory);
    EXPECT_EQ(error.kind, ErrorKind::unavailable);
    EXPECT_THAT(full_text(error), HasSubstr("libpmem.so.1: cannot open"));
    EXPECT_EQ(full_hint(error), "install it");
    EXPECT_FALSE(allocate(source_region(mib, memory)));
  }
}

/// A root whose sysfs says that /dev/null is a DAX device.
class DaxRoot {
 public:
  DaxRoot() {
    kernel::calls().root = folder_.text();
    struct stat status {};
    EXPECT_EQ(stat("/dev/null", &status), 0);
    const fs::path device = folder_.path() / "sys/devices/ndbus0/dax9.0";
    const fs::path numbers = folder_.path() / "sys/dev/char";
    fs::create_directories(device);
    fs::create_directories(numbers);
    fs::create_directory_symlink("../../devices/ndbus0/dax9.0",
                                 numbers / (std::to_string(major(status.st_rdev)) + ":" +
                                            std::to_string(minor(status.st_rdev))));
    device_ = device;
    write("size", "67108864");
    write("align", "2097152");
    write("target_node", "2");
    write("numa_node", "0");
  }
  DaxRoot(const DaxRoot&) = delete;
  DaxRoot& operator=(const DaxRoot&) = delete;
  void write(const char* file, const std::string& text) const {
    std::ofstream(device_ / file) << text << '\n';
  }
  void in_use() const {
    fs::create_directory_symlink("../../bus/dax/drivers/kmem", device_ / "driver");
  }
  const SourceFolder& folder() const { return folder_; }

 private:
  testing::CallsGuard guard_;
  SourceFolder folder_;
  fs::path device_;
};

TEST(Dax, WhatSysfsSays) {
  const DaxRoot root;
  const MemoryPlacement placement = source_region(mib, "dax:/dev/null").placement;
  auto device = find_dax(placement);
  ASSERT_TRUE(device) << full_text(device.error());
  EXPECT_EQ(device->name, "dax9.0");
  EXPECT_EQ(device->size, 64 * mib);
  EXPECT_EQ(device->alignment, 2 * mib);
  EXPECT_EQ(device->node, NodeId{2});
  root.write("target_node", "-1");
  EXPECT_EQ(find_dax(placement)->node, NodeId{0});
  root.write("align", "4096");
  EXPECT_EQ(device_facts(placement).alignment, Bytes{4096});
  EXPECT_EQ(device_facts(placement).name, "dax9.0");
}

TEST(Dax, RoomForAllRegionsTogether) {
  NEEDS_LIBPMEM();
  const DaxRoot root;
  const Region half = source_region(31 * mib + 1, "dax:/dev/null");
  EXPECT_EQ(full_text(fit_error({half, half})), "it fits");
  const Error error = fit_error({half, half, source_region(1, "dax:/dev/null")});
  EXPECT_EQ(error.kind, ErrorKind::resource);
  EXPECT_EQ(full_text(error),
            "--memory dax:/dev/null: 66 MiB needed by 3 regions, 64 MiB is the size of dax9.0");
  Region late = half;
  late.offset = 34 * mib;
  const auto buffer = allocate(late);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().kind, ErrorKind::resource);
  EXPECT_THAT(full_text(buffer.error()), HasSubstr("32 MiB from offset 34 MiB are required"));
  EXPECT_THAT(full_text(allocate(half).error()), HasSubstr("mmap of 31"));
}

TEST(Dax, WhatIsNoDevice) {
  NEEDS_LIBPMEM();
  const DaxRoot root;
  EXPECT_EQ(fit_error(mib, "dax:/dev/none").kind, ErrorKind::unavailable);
  EXPECT_EQ(fit_error(mib, "dax:/tmp").kind, ErrorKind::usage);
  EXPECT_THAT(full_hint(fit_error(mib, "dax:/tmp")), HasSubstr("pmem:"));
  const Error zero = fit_error(mib, "dax:/dev/zero");
  EXPECT_EQ(zero.kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(zero), HasSubstr("this is not a DAX device"));
  const fs::path kmem = root.folder().path() / "sys/bus/dax/devices/dax1.0";
  fs::create_directories(kmem);
  fs::create_directory_symlink("../../drivers/kmem", kmem / "driver");
  std::ofstream(kmem / "target_node") << "3\n";
  // Some kernels keep the file of a device that is in use so, others do not.
  root.in_use();
  const Error kept = fit_error(mib, "dax:/dev/null");
  EXPECT_EQ(kept.kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(kept), HasSubstr("in use as system memory (system-ram), as node 2"));
  const Error used = fit_error(mib, "dax:/dev/dax1.0");
  EXPECT_EQ(used.kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(used), HasSubstr("in use as system memory (system-ram), as node 3"));
  EXPECT_THAT(full_hint(used), HasSubstr("use --memory bind:3"));
}

TEST(Dax, RegionsLieSideBySide) {
  std::vector<Region> regions = {source_region(mib, "dax:/dev/dax0.0"), source_region(mib, "local"),
                                 source_region(3 * mib, "dax:/dev/link"),
                                 source_region(4 * mib, "dax:/dev/dax1.0"),
                                 source_region(mib, "dax:/dev/dax0.0")};
  std::vector<Region*> pointers;
  for (Region& region : regions) pointers.push_back(&region);
  const auto facts = [](const MemoryPlacement& placement) {
    const std::string path = source_value(placement);
    if (path == "/dev/link") return DeviceFacts{"dax0.0", Bytes{2 * mib}};
    return DeviceFacts{path.substr(5), Bytes{2 * mib}};
  };
  place_on_devices(pointers, facts);
  std::vector<std::uint64_t> offsets;
  for (const Region& region : regions) offsets.push_back(region.offset / mib);
  EXPECT_THAT(offsets, ::testing::ElementsAre(0, 0, 2, 0, 6));
}

TEST(Dax, BlockDevicesBelowAFolder) {
  const SourceFolder root, folder;
  const testing::CallsGuard guard;
  kernel::calls().root = root.text();
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
  const SourceFolder folder;
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
  EXPECT_THAT(full_hint(unknown), HasSubstr("did you mean memkind:DAX_KMEM?"));
  EXPECT_EQ(fit_error(mib, "memkind:HBW_OPS").kind, ErrorKind::usage);
  EXPECT_THAT(full_hint(fit_error(mib, "memkind:PMEM0")), HasSubstr("its kinds are DEFAULT, "));
  const auto states = source_of(source_region(mib, "memkind:DEFAULT").placement).describe({});
  ASSERT_EQ(states.size(), 1U);
  EXPECT_TRUE(states.front().available);
  ASSERT_THAT(states.front().detail, StartsWith("kinds available: DEFAULT"));
  EXPECT_EQ(fit_error(mib, "memkind:/none").kind, ErrorKind::io);
  if (states.front().detail.find("DAX_KMEM,") == std::string::npos) {
    const Error error = fit_error(mib, "memkind:DAX_KMEM");
    EXPECT_EQ(error.kind, ErrorKind::unavailable);
    EXPECT_EQ(full_text(error),
              "--memory memkind:DAX_KMEM: Requested memory kind is not available");
  }
}

TEST(Memkind, WhatAFileTakes) {
  const MemoryPlacement placement = source_region(mib, "memkind:/x").placement;
  const MemorySource& source = source_of(placement);
  const auto memkind_bytes = [&](std::uint64_t bytes) { return source.taken(bytes, {}); };
  for (std::uint64_t bytes : {1 * mib, 5 * mib + 3, 64 * mib, gib + 1}) {
    EXPECT_GE(memkind_bytes(bytes), bytes);
    EXPECT_LE(memkind_bytes(bytes), bytes + bytes / 4 + mib);
  }
  EXPECT_EQ(memkind_bytes(~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace numatlas
