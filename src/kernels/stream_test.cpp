// Every kernel on every instruction set that this CPU has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

struct FreeMemory {
  void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;
Memory memory_of(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64})));
}

KernelSpec spec_of(const std::string& name, Stores stores = Stores::regular) {
  KernelSpec spec = kernel_named(name);
  spec.stores = stores;
  return spec;
}

class OnInstructionSet : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_TRUE(use_instruction_set(GetParam())); }
  void TearDown() override { ASSERT_TRUE(use_instruction_set("")); }
};

const char* const stream_kernels[] = {"read",  "write",  "copy", "scale",  "add",
                                      "triad", "update", "mix",  "scatter"};

TEST(FilledMemory, IsOnlyRead) {
  constexpr std::size_t bytes = 1 << 16;
  void* const mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  for (const char* name : {"read", "chase"}) {
    KernelMemory memory{static_cast<std::byte*>(mapped), bytes};
    const auto owner = make_kernel(spec_of(name));
    ASSERT_EQ(mprotect(mapped, bytes, PROT_READ | PROT_WRITE), 0);
    ASSERT_TRUE(owner->prepare(memory));
    // A write would end the test here.
    ASSERT_EQ(mprotect(mapped, bytes, PROT_READ), 0);
    memory.filled = true;
    // A part of it for the read; a chain is walked whole.
    if (std::string(name) == "read") memory.bytes = bytes / 2;
    const auto kernel = make_kernel(spec_of(name));
    ASSERT_TRUE(kernel->prepare(memory)) << name;
    EXPECT_EQ(kernel->steps_per_pass(), memory.bytes / 64);
    kernel->run(1001);
    EXPECT_TRUE(kernel->verify()) << name;
    owner->run(2002);
    EXPECT_TRUE(owner->verify()) << name;
  }
  munmap(mapped, bytes);
}

TEST_P(OnInstructionSet, IsTheOneInUse) { EXPECT_EQ(instruction_set(), GetParam()); }

TEST_P(OnInstructionSet, StopsAnywhereAndVerifies) {
  for (const char* name : stream_kernels) {
    for (Stores stores : {Stores::regular, Stores::non_temporal}) {
      if (stores == Stores::non_temporal && !has_non_temporal_stores()) continue;
      // A line an array, odd numbers of lines, and arrays that are skewed.
      for (std::size_t bytes : {std::size_t{192}, std::size_t{64 * 101}, std::size_t{1 << 20}}) {
        const auto kernel = make_kernel(spec_of(name, stores));
        const Memory memory = memory_of(bytes);
        ASSERT_TRUE(kernel->prepare({memory.get(), bytes})) << name;
        ASSERT_TRUE(kernel->verify()) << name << " before the first step";
        unsigned width = 8;
        for (std::uint64_t steps : {1U, 2U, 3U, 5U, 64U, 1000U, 20'001U}) {
          width = width == 64 ? 16 : 2 * width;  // also such as this instruction set does not have
          for (const Operation loop : kernel->loops()) kernel->use_width(loop, width);
          kernel->run(steps);
          const auto good = kernel->verify();
          ASSERT_TRUE(good) << name << " " << bytes << ": " << full_text(good.error());
        }
      }
    }
  }
}

double* words_of(const Memory& memory) { return reinterpret_cast<double*>(memory.get()); }

// Large enough for every array to hold the whole pattern of 65,521 words, and some of it again.
constexpr std::size_t beyond_the_pattern = 3 * 640 * 1024;

TEST_P(OnInstructionSet, AWrongWordIsFound) {
  for (const char* name : stream_kernels) {
    const auto kernel = make_kernel(spec_of(name));
    const Memory memory = memory_of(beyond_the_pattern);
    ASSERT_TRUE(kernel->prepare({memory.get(), beyond_the_pattern}));
    const std::size_t words = kernel->steps_per_pass() * 8;
    ASSERT_GT(words, 65'521u) << name;
    // In turn: never visited, visited a part of a pass, visited in different passes.
    for (std::uint64_t steps : {std::uint64_t{0}, std::uint64_t{3}, 2 * kernel->steps_per_pass()}) {
      kernel->run(steps);
      ASSERT_TRUE(kernel->verify()) << name;
      // On both sides of the line where the next run begins, where the pattern begins anew, at the
      // end.
      for (std::size_t word : {std::size_t{11}, std::size_t{31}, std::size_t{65'521}, words - 1}) {
        double& damaged = words_of(memory)[word];
        const double right = damaged;
        damaged = right + 1;
        const auto good = kernel->verify();
        ASSERT_FALSE(good) << name << " word " << word;
        EXPECT_EQ(good.error().kind, ErrorKind::internal);
        damaged = right;
        ASSERT_TRUE(kernel->verify()) << name << " word " << word;
      }
    }
  }
}

TEST_P(OnInstructionSet, AWrongWordOfTheTargetOfAMixIsFound) {
  const auto kernel = make_kernel(spec_of("mix"));
  const Memory memory = memory_of(beyond_the_pattern);
  ASSERT_TRUE(kernel->prepare({memory.get(), beyond_the_pattern}));
  const std::size_t lines = kernel->steps_per_pass();
  const Traffic traffic = traffic_per_step(spec_of("mix"));
  double* const target = words_of(memory) + lines * traffic.read / sizeof(double);
  const std::size_t words = lines * traffic.written / sizeof(double);
  for (std::uint64_t steps : {std::uint64_t{3}, std::uint64_t{lines}}) {
    kernel->run(steps);
    for (std::size_t word : {std::size_t{11}, words - 1}) {
      const double right = target[word];
      target[word] = right + 1;
      EXPECT_FALSE(kernel->verify()) << word << " after " << steps;
      target[word] = right;
      EXPECT_TRUE(kernel->verify()) << word << " after " << steps;
    }
  }
}

TEST_P(OnInstructionSet, AWrongWordThatWasReadAndIsRightAgainIsFound) {
  for (const char* name : {"read", "mix"}) {
    const auto kernel = make_kernel(spec_of(name));
    const Memory memory = memory_of(beyond_the_pattern);
    ASSERT_TRUE(kernel->prepare({memory.get(), beyond_the_pattern}));
    double& damaged = words_of(memory)[11];
    const double right = damaged;
    damaged = right + 1;
    kernel->run(kernel->steps_per_pass());
    damaged = right;
    const auto good = kernel->verify();
    ASSERT_FALSE(good) << name;
    EXPECT_THAT(full_text(good.error()), HasSubstr("the sum of what was read"));
  }
}

TEST_P(OnInstructionSet, TheTargetIsWhatStreamSays) {
  constexpr std::size_t bytes = 64 * 30;
  const auto kernel = make_kernel(spec_of("triad"));
  const Memory memory = memory_of(bytes);
  ASSERT_TRUE(kernel->prepare({memory.get(), bytes}));
  kernel->run(10);
  const auto* words = reinterpret_cast<const double*>(memory.get());
  for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(words[i], words[80 + i] + 3 * words[160 + i]) << i;
}

INSTANTIATE_TEST_SUITE_P(All, OnInstructionSet, ::testing::ValuesIn(instruction_sets()),
                         [](const auto& set) { return set.param; });

TEST_P(OnInstructionSet, HasOneWidthWhenAskedFor) {
  EXPECT_EQ(vector_widths().size(), 1u);
  EXPECT_LE(vector_widths().front(), 64u);
}

TEST(InstructionSet, HasVectorsOfHalfTheWidthUnlessAskedFor) {
  const std::vector<unsigned> widths = vector_widths();
  for (std::size_t i = 1; i < widths.size(); ++i) EXPECT_EQ(widths[i], widths[i - 1] / 2);
  EXPECT_LE(widths.back(), 16u);
}

TEST(InstructionSet, UnknownAndAbsent) {
  const auto unknown = use_instruction_set("AVX9");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(full_text(unknown.error()), HasSubstr("unknown instruction set 'AVX9'"));
  EXPECT_THAT(full_hint(unknown.error()), HasSubstr(instruction_sets().front()));
}

TEST(Traffic, IsCountedAsStreamDoes) {
  const auto traffic = [](const char* name, Stores stores) {
    return traffic_per_step(spec_of(name, stores));
  };
  EXPECT_EQ(traffic("read", Stores::regular).counted(), 64u);
  EXPECT_EQ(traffic("copy", Stores::regular).counted(), 128u);
  EXPECT_EQ(traffic("copy", Stores::regular).with_allocate(), 192u);
  EXPECT_EQ(traffic("copy", Stores::non_temporal).with_allocate(), 128u);
  EXPECT_EQ(traffic("triad", Stores::regular).counted(), 192u);
  EXPECT_EQ(traffic("triad", Stores::regular).with_allocate(), 256u);
  EXPECT_EQ(traffic("update", Stores::regular).with_allocate(), 128u) << "it has read its line";
  EXPECT_EQ(traffic("mix", Stores::regular).read, 128u);
  EXPECT_EQ(traffic("mix", Stores::regular).written, 64u);
}

TEST(StreamKernel, NonTemporalStoresAreNeverFeigned) {
  ASSERT_TRUE(use_instruction_set(instruction_sets().back()));
  const Memory memory = memory_of(1024);
  const auto done =
      make_kernel(spec_of("copy", Stores::non_temporal))->prepare({memory.get(), 1024});
  EXPECT_EQ(done.has_value(), has_non_temporal_stores());
  if (!done) {
    EXPECT_EQ(done.error().kind, ErrorKind::unavailable);
  }
  ASSERT_TRUE(use_instruction_set(""));
}

TEST(StreamKernel, TooLittleMemoryIsRefused) {
  const auto kernel = make_kernel(spec_of("triad"));
  const Memory memory = memory_of(128);
  const auto done = kernel->prepare({memory.get(), 128});
  ASSERT_FALSE(done);
  EXPECT_THAT(full_text(done.error()), HasSubstr("--size"));
}

}  // namespace
}  // namespace numatlas
