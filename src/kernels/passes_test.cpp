// STREAM's passes over three arrays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t lines = 3000;  // more than a block that is made to last
constexpr std::size_t line_words = 8;

/// Memory for three arrays, and where they begin.
class Arrays {
 public:
  Arrays()
      : bytes_(stream_region_bytes(lines).value),
        memory_(static_cast<std::byte*>(::operator new (bytes_, std::align_val_t{64}))) {}
  ~Arrays() { ::operator delete (memory_, std::align_val_t{64}); }
  KernelMemory memory() const { return {memory_, bytes_}; }
  double* array(std::size_t index) const {
    return reinterpret_cast<double*>(memory_ + index * bytes_ / 3);
  }

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

KernelSpec passes_spec(std::vector<Operation> passes) {
  return {PassesParameters{std::move(passes), lines}};
}

TEST(Passes, AreRightWithEachWidth) {
  const std::vector<Operation> all{Operation::copy, Operation::scale, Operation::add,
                                   Operation::triad};
  for (const unsigned width : vector_widths()) {
    const Arrays arrays;
    const auto kernel = make_kernel(passes_spec(all));
    ASSERT_TRUE(kernel->prepare(arrays.memory()));
    EXPECT_EQ(kernel->loops(), all);
    for (const Operation one : all) kernel->use_width(one, width);
    kernel->run(8 * lines);
    EXPECT_TRUE(kernel->verify()) << width;
  }
}

TEST(Passes, DoWhatStreamSaysInTurn) {
  const Arrays arrays;
  const auto kernel = make_kernel(
      passes_spec({Operation::copy, Operation::scale, Operation::add, Operation::triad}));
  ASSERT_TRUE(kernel->prepare(arrays.memory()));
  EXPECT_EQ(kernel->steps_per_pass(), lines);
  const std::vector<double> first(arrays.array(0), arrays.array(0) + lines * line_words);
  constexpr double s = std::numbers::sqrt2 - 1;
  const auto expect = [&](double a, double b, double c) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      ASSERT_NEAR(arrays.array(0)[i], a * first[i], 1e-12) << i;
      ASSERT_NEAR(arrays.array(1)[i], b * first[i], 1e-12) << i;
      ASSERT_NEAR(arrays.array(2)[i], c * first[i], 1e-12) << i;
    }
  };
  expect(1, 2, 0);
  kernel->run(lines);
  expect(1, 2, 1);
  // In two parts, as any kernel may be run.
  kernel->run(lines / 3);
  kernel->run(lines - lines / 3);
  expect(1, s, 1);
  kernel->run(lines);
  expect(1, s, 1 + s);
  kernel->run(lines);
  expect(s + s * (1 + s), s, 1 + s);
  EXPECT_TRUE(kernel->verify());
}

TEST(Passes, AWrongWordOfAnyArrayIsFound) {
  for (std::size_t array = 0; array < 3; ++array) {
    const Arrays arrays;
    const auto kernel = make_kernel(
        passes_spec({Operation::copy, Operation::scale, Operation::add, Operation::triad}));
    ASSERT_TRUE(kernel->prepare(arrays.memory()));
    kernel->run(4 * lines);
    ASSERT_TRUE(kernel->verify());
    arrays.array(array)[lines * line_words - 1] *= 1 + 1e-9;
    const auto wrong = kernel->verify();
    ASSERT_FALSE(wrong) << array;
    EXPECT_THAT(full_text(wrong.error()),
                HasSubstr(std::string("stream: ") + "abc"[array] + "[23999]"));
  }
}

TEST(Passes, WordsOfTwoPlacesAreNotTakenForEachOther) {
  const Arrays arrays;
  const auto kernel = make_kernel(passes_spec({Operation::copy}));
  ASSERT_TRUE(kernel->prepare(arrays.memory()));
  kernel->run(lines);
  std::swap(arrays.array(2)[3], arrays.array(2)[64]);
  EXPECT_FALSE(kernel->verify());
}

TEST(Passes, ReadsAndWritesAloneAreChecked) {
  const Arrays arrays;
  for (const Operation operation : {Operation::read, Operation::write}) {
    const auto kernel = make_kernel(passes_spec({operation}));
    ASSERT_TRUE(kernel->prepare(arrays.memory()));
    kernel->run(3 * lines);
    EXPECT_TRUE(kernel->verify()) << name_of(operation);
    arrays.array(0)[17] += 1;
    EXPECT_FALSE(kernel->verify()) << name_of(operation);
  }
}

/// Ranges that were made to last, in the order of the calls.
struct Lasting {
  std::vector<std::pair<const void*, std::size_t>> ranges;
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& range : ranges) sum += range.second;
    return sum;
  }
};

TEST(Passes, PersistWhatWasWrittenWhenTheModeSays) {
  const Arrays arrays;
  const std::size_t array_bytes = lines * 64;
  for (const Persist persist :
       {Persist::none, Persist::individual, Persist::collective, Persist::per_block}) {
    Lasting lasting;
    KernelSpec spec = passes_spec({Operation::triad});
    spec.as<PassesParameters>().persist = persist;
    const auto kernel = make_kernel(spec);
    KernelMemory memory = arrays.memory();
    memory.persist = [&](const void* start, std::size_t bytes) -> Expected<void> {
      lasting.ranges.emplace_back(start, bytes);
      return {};
    };
    ASSERT_TRUE(kernel->prepare(memory));
    EXPECT_EQ(kernel->persists_together(), persist == Persist::collective);
    EXPECT_TRUE(lasting.ranges.empty());
    kernel->run(lines);
    const bool by_itself = persist == Persist::individual || persist == Persist::per_block;
    EXPECT_EQ(lasting.bytes(), by_itself ? array_bytes : 0) << name_of(persist);
    if (persist == Persist::per_block) {
      EXPECT_GT(lasting.ranges.size(), 1u);
    }
    if (persist == Persist::collective) {
      kernel->persist();
      EXPECT_EQ(lasting.bytes(), array_bytes);
    }
    if (!lasting.ranges.empty()) {
      EXPECT_EQ(lasting.ranges.front().first, arrays.array(0));
    }
  }
}

TEST(Passes, AnySelectionStaysWithinBounds) {
  using enum Operation;
  for (const auto& passes :
       {std::vector{copy, scale, add, triad}, std::vector{scale, add, triad},
        std::vector{copy, scale, triad}, std::vector{copy, add, triad}, std::vector{add, triad},
        std::vector{scale, add}, std::vector{triad}}) {
    const Arrays arrays;
    const auto kernel = make_kernel(passes_spec(passes));
    ASSERT_TRUE(kernel->prepare(arrays.memory()));
    kernel->run(passes.size() * lines * 5000);
    const auto right = kernel->verify();
    EXPECT_TRUE(right) << full_text(right.error());
    EXPECT_LT(arrays.array(0)[0], 100);
    EXPECT_GT(arrays.array(0)[0], 0.01);
  }
}

TEST(Passes, MemoryThatCannotBeMadeToLastIsFoundWrong) {
  const Arrays arrays;
  KernelSpec spec = passes_spec({Operation::triad});
  spec.as<PassesParameters>().persist = Persist::individual;
  const auto kernel = make_kernel(spec);
  KernelMemory memory = arrays.memory();
  memory.persist = [](const void*, std::size_t) -> Expected<void> {
    return fail(ErrorKind::io, "no");
  };
  ASSERT_TRUE(kernel->prepare(memory));
  kernel->run(lines);
  ASSERT_FALSE(kernel->verify());
  EXPECT_EQ(full_text(kernel->verify().error()), "no");
}

TEST(Passes, TooLittleMemoryIsRefused) {
  const KernelSpec spec = passes_spec({Operation::copy});
  EXPECT_FALSE(check_size(spec, Bytes{stream_region_bytes(lines).value - 1}));
  EXPECT_TRUE(check_size(spec, stream_region_bytes(lines)));
}

}  // namespace
}  // namespace numatlas
