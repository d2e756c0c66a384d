#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/tree.h"
#include "memory/folder.h"
#include "memory/libpmem.h"
#include "memory/sources/dax.h"
#include "memory/test_sources.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A root whose sysfs says that /dev/null is a DAX device.
class DaxRoot {
 public:
  DaxRoot() {
    running_system() = Tree(folder_.text());
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
            "memory dax:/dev/null: 66 MiB needed by 3 regions, 64 MiB is the size of dax9.0");
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
  EXPECT_THAT(full_hint(used), HasSubstr("use bind:3"));
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

}  // namespace
}  // namespace numatlas
