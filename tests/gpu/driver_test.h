// What the tests of the drivers share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "gpu/runtime.h"
#include "placement/policy.h"

namespace numatlas {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// CUDA's state: the problem, or the devices.
inline RuntimeState& cuda_state() { return device_runtimes().front(); }
inline RuntimeState& hip() { return device_runtimes().back(); }
/// A device of the driver of the test's suite.
inline Device& gpu(int number) {
  static const bool is_hip =
      std::strcmp(testing::UnitTest::GetInstance()->current_test_suite()->name(), "Hip") == 0;
  return (is_hip ? hip() : cuda_state()).devices.at(static_cast<std::size_t>(number));
}

template <class T>
T must(Expected<T> got) {
  EXPECT_TRUE(got.has_value()) << (got ? "" : full_text(got.error()));
  return got ? *got : T{};
}
inline void must(const Expected<void>& done) {
  EXPECT_TRUE(done.has_value()) << (done ? "" : full_text(done.error()));
}
template <class T>
Error refused(const Expected<T>& got) {
  EXPECT_FALSE(got.has_value());
  return got ? Error{} : got.error();
}

inline std::vector<unsigned char> pattern(std::size_t bytes, int seed = 7) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t at = 0; at < bytes; ++at) {
    data[at] = static_cast<unsigned char>(at * 31 + at / 251 + static_cast<std::size_t>(seed));
  }
  return data;
}

/// To the GPU and back, over memory that is pinned and memory that is not.
inline void round_trip(int device, bool pinned, int seed) {
  constexpr std::size_t bytes = 1 << 20;
  auto source = pattern(bytes, seed);
  std::vector<unsigned char> target(bytes);
  const PinHandle pins[] = {pinned ? must(gpu(device).pin(source.data(), bytes, false)) : nullptr,
                            pinned ? must(gpu(device).pin(target.data(), bytes, true)) : nullptr};
  const StreamHandle stream = must(gpu(device).create_stream());
  const MemoryHandle held = must(gpu(device).allocate(Bytes{bytes}));
  const DeviceAddress memory = address_of(held);
  must(gpu(device).copy(stream, CopyWay::host_to_device, memory, source.data(), bytes));
  must(gpu(device).copy(stream, CopyWay::device_to_host, memory, target.data(), bytes));
  must(gpu(device).wait_for_stream(stream));
  EXPECT_EQ(source, target);
  must(gpu(device).fill(stream, memory, 0x5a, bytes / 2));
  must(gpu(device).copy(stream, CopyWay::device_to_host, memory, target.data(), bytes));
  must(gpu(device).wait_for_stream(stream));
  EXPECT_EQ(target[bytes / 2 - 1], 0x5a);
  EXPECT_EQ(target[bytes / 2], source[bytes / 2]);
}

/// Through two memories of GPU 0 and one of GPU 1, which is returned, and back to the host.
inline MemoryHandle send_around(std::vector<unsigned char>& source) {
  const std::size_t bytes = source.size();
  std::vector<unsigned char> target(bytes);
  EXPECT_TRUE(must(gpu(0).can_reach(gpu(1))));
  must(gpu(0).reach(gpu(1)));
  must(gpu(0).reach(gpu(1)));  // being so already is no error
  const StreamHandle stream = must(gpu(0).create_stream());
  const MemoryHandle first = must(gpu(0).allocate(Bytes{bytes}));
  const MemoryHandle second = must(gpu(0).allocate(Bytes{bytes}));
  const MemoryHandle other = must(gpu(1).allocate(Bytes{bytes}));
  must(gpu(0).copy(stream, CopyWay::host_to_device, address_of(first), source.data(), bytes));
  must(gpu(0).copy(stream, CopyWay::device_to_device, address_of(second), first.get(), bytes));
  must(gpu(0).copy(stream, CopyWay::device_to_device, address_of(other), second.get(), bytes));
  must(gpu(0).wait_for_stream(stream));
  const StreamHandle there = must(gpu(1).create_stream());
  must(gpu(1).copy(there, CopyWay::device_to_host, address_of(other), target.data(), bytes));
  must(gpu(1).wait_for_stream(there));
  EXPECT_EQ(source, target);
  return other;
}

/// Launches both kernels in memory of the host, and looks at what they leave.
inline void chase_and_copy(int device, FunctionHandle chase, FunctionHandle copy) {
  const StreamHandle stream = must(gpu(device).create_stream());
  std::uint64_t chain[] = {16, 0, 24, 8};  // 0 -> 16 -> 24 -> 8 -> 0
  std::uint64_t base = reinterpret_cast<std::uintptr_t>(chain), start = 0, loads = 6, end = 99;
  std::uint64_t out = reinterpret_cast<std::uintptr_t>(&end);
  void* arguments[] = {&base, &start, &loads, &out};
  must(gpu(device).launch(stream, chase, 1, 1, arguments));
  loads = 0;  // taken at the call
  must(gpu(device).wait_for_stream(stream));
  EXPECT_EQ(end, 24U);
  std::uint64_t target[4] = {};
  std::uint64_t to = reinterpret_cast<std::uintptr_t>(target), words = 2;
  void* of_copy[] = {&to, &base, &words};
  must(gpu(device).launch(stream, copy, 2, 32, of_copy));
  must(gpu(device).wait_for_stream(stream));
  EXPECT_THAT(target, testing::ElementsAreArray(chain));
}

/// Start event, a copy, end event on a stream of a device.
struct Timed {
  int device;
  StreamHandle stream = must(gpu(device).create_stream());
  EventHandle start = must(gpu(device).create_event(false));
  EventHandle end = must(gpu(device).create_event(true));
  MemoryHandle memory = must(gpu(device).allocate(Bytes{1 << 20}));
  std::vector<unsigned char> host = std::vector<unsigned char>(1 << 20, 3);
  PinHandle pin = must(gpu(device).pin(host.data(), host.size(), false));

  explicit Timed(int its_device) : device(its_device) {}
  void submit(std::size_t bytes) {
    must(gpu(device).record(start, stream));
    must(gpu(device).copy(stream, CopyWay::host_to_device, address_of(memory), host.data(), bytes));
    must(gpu(device).record(end, stream));
  }
  double seconds(const Timed& from) { return must(gpu(device).elapsed(from.start, end)); }
};

}  // namespace numatlas
