// Test helper: regions of memory sources, and what they need of the machine.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "memory/buffer.h"
#include "memory/libpmem.h"
#include "memory/source.h"
#include "placement/test_machines.h"

namespace numatlas {

inline Region source_region(std::uint64_t bytes, const std::string& memory) {
  Region region;
  region.bytes = Bytes{bytes};
  const auto spec = parse_memory_spec(memory);
  EXPECT_TRUE(spec) << memory;
  if (spec) region.placement = spec->single;
  return region;
}

inline Error fit_error(const std::vector<Region>& regions) {
  Machine machine = testing::build({{0, {{0}}}});
  machine.source = "live";
  const auto fits = check_fits(regions, machine);
  return fits ? Error{ErrorKind::internal, "it fits", ""} : fits.error();
}

inline Error fit_error(std::uint64_t bytes, const std::string& memory) {
  return fit_error({source_region(bytes, memory)});
}

#define NEEDS_LIBPMEM()                                           \
  if (const auto there = libpmem().library.check("pmem"); !there) \
  GTEST_SKIP() << full_text(there.error())

inline void fill_and_check(const Buffer& buffer) {
  std::memset(buffer.data(), 7, buffer.bytes());
  EXPECT_EQ(buffer.data()[buffer.bytes() - 1], std::byte{7});
  if (!kernel::allowed_nodes()) return;
  const Residency seen = buffer.residency();
  EXPECT_EQ(seen.problem, "");
  EXPECT_EQ(seen.told_by, "");
  EXPECT_DOUBLE_EQ(*seen.fraction_on(*kernel::allowed_nodes()), 1.0);
}

}  // namespace numatlas
