// What any CUDA driver with any GPU has to do: run with NVIDIA's own where there is one
// (on_device), and with the fake one.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>

#include "driver_test.h"

namespace numatlas {
namespace {

class Real : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_state().runtime == nullptr) GTEST_SKIP() << full_text(*cuda_state().problem);
  }
};

/// Memory of the host that a GPU's kernels can reach.
template <class T, std::size_t count>
struct Mapped {
  int device;
  alignas(4096) std::array<T, count> words{};

  explicit Mapped(int device_) : device(device_) {
    must(gpu().pin(device, words.data(), sizeof words, true));
  }
  ~Mapped() { must(gpu().unpin(device, words.data())); }
  DeviceAddress address() { return must(gpu().mapped_address(device, words.data())); }
};

TEST_F(Real, RoundTrips) {
  for (std::size_t device = 0; device < gpu().devices().size(); ++device) {
    round_trip(static_cast<int>(device), true, 1);
    round_trip(static_cast<int>(device), false, 2);
  }
}

TEST_F(Real, DriversMemory) {
  constexpr Bytes bytes{1 << 20};
  void* const pinned = must(gpu().allocate_pinned(0, bytes));
  std::memset(pinned, 1, bytes.value);
  must(gpu().free_pinned(0, pinned));
  if (!gpu().devices()[0].managed_memory) return;
  void* const managed = must(gpu().allocate_managed(0, bytes));
  std::memset(managed, 1, bytes.value);
  must(gpu().free_managed(0, managed));
}

TEST_F(Real, EventsInOrder) {
  Timed first{0}, second{0};
  std::memset(first.host, 3, 1 << 20);
  std::memset(second.host, 3, 1 << 20);
  first.submit(1 << 20);
  must(gpu().stream_waits(0, second.stream, first.end));
  second.submit(1 << 20);
  must(gpu().wait_for_event(0, second.end));
  EXPECT_GT(first.seconds(first), 0.0);
  EXPECT_GE(must(gpu().elapsed(0, first.end, second.start)), 0.0);
}

TEST_F(Real, Chase) {
  constexpr std::size_t lines = 512, words = 8;
  for (std::size_t device = 0; device < gpu().devices().size(); ++device) {
    const int index = static_cast<int>(device);
    if (!gpu().devices()[device].maps_host_memory) continue;
    const auto memory = std::make_unique<Mapped<std::uint64_t, lines * words>>(index);
    // Line i leads to line i + 5: the host's addresses, as the chase of the CPUs has them.
    for (std::size_t i = 0; i < lines; ++i) {
      memory->words[i * words] =
          reinterpret_cast<std::uintptr_t>(&memory->words[(i + 5) % lines * words]);
    }
    const FunctionHandle function = must(gpu().kernel(index, kernel_name::chase));
    const StreamHandle stream = must(gpu().create_stream(index));
    DeviceAddress result = must(gpu().allocate(index, Bytes{sizeof(std::uint64_t)}));
    auto start = reinterpret_cast<std::uintptr_t>(memory->words.data());
    std::uint64_t delta = memory->address() - start, loads = 700, end = 0;
    std::array<void*, 4> arguments{&delta, &start, &loads, &result};
    must(gpu().launch(index, stream, function, 1, 1, arguments.data()));
    must(gpu().copy(index, stream, CopyWay::device_to_host, result, &end, sizeof end));
    must(gpu().wait_for_stream(index, stream));
    EXPECT_EQ(end, reinterpret_cast<std::uintptr_t>(&memory->words[700 * 5 % lines * words]));
    must(gpu().destroy_stream(index, stream));
    must(gpu().free(index, result));
  }
}

TEST_F(Real, ZeroCopy) {
  // No multiple of what one launch covers in a pass, so that its last pass is a part of one.
  constexpr std::size_t count = 40'004;
  if (!gpu().devices()[0].maps_host_memory) GTEST_SKIP() << "GPU 0 maps no memory of the host";
  const auto from = std::make_unique<Mapped<std::uint32_t, count>>(0);
  const auto to = std::make_unique<Mapped<std::uint32_t, count>>(0);
  std::iota(from->words.begin(), from->words.end(), 1U);
  const FunctionHandle function = must(gpu().kernel(0, kernel_name::copy));
  const StreamHandle stream = must(gpu().create_stream(0));
  DeviceAddress destination = to->address(), source = from->address();
  std::uint64_t words = count / 4 - 1;
  std::array<void*, 3> arguments{&destination, &source, &words};
  must(gpu().launch(0, stream, function, 7, 64, arguments.data()));
  must(gpu().wait_for_stream(0, stream));
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(to->words[i], i < count - 4 ? i + 1 : 0) << "word " << i;
  must(gpu().destroy_stream(0, stream));
}

}  // namespace
}  // namespace numatlas
