// What the tests of the drivers share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "gpu/runtime.h"
#include "placement/policy.h"

namespace numatlas {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// CUDA's state: the problem, or the runtime.
inline const RuntimeState& cuda_state() { return device_runtimes().front(); }
inline const RuntimeState& hip() { return device_runtimes().back(); }
/// The runtime of the test's suite.
inline DeviceRuntime& gpu() {
  static const bool is_hip =
      std::strcmp(testing::UnitTest::GetInstance()->current_test_suite()->name(), "Hip") == 0;
  return is_hip ? *hip().runtime : *cuda_state().runtime;
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
  if (pinned) {
    must(gpu().pin(device, source.data(), bytes, false));
    must(gpu().pin(device, target.data(), bytes, true));
  }
  const StreamHandle stream = must(gpu().create_stream(device));
  const DeviceAddress memory = must(gpu().allocate(device, Bytes{bytes}));
  must(gpu().copy(device, stream, CopyWay::host_to_device, memory, source.data(), bytes));
  must(gpu().copy(device, stream, CopyWay::device_to_host, memory, target.data(), bytes));
  must(gpu().wait_for_stream(device, stream));
  EXPECT_EQ(source, target);
  must(gpu().fill(device, stream, memory, 0x5a, bytes / 2));
  must(gpu().copy(device, stream, CopyWay::device_to_host, memory, target.data(), bytes));
  must(gpu().wait_for_stream(device, stream));
  EXPECT_EQ(target[bytes / 2 - 1], 0x5a);
  EXPECT_EQ(target[bytes / 2], source[bytes / 2]);
  if (pinned) {
    must(gpu().unpin(device, source.data()));
    must(gpu().unpin(device, target.data()));
  }
  must(gpu().free(device, memory));
}

/// Start event, a copy, end event on a stream of a device.
struct Timed {
  int device;
  StreamHandle stream = must(gpu().create_stream(device));
  EventHandle start = must(gpu().create_event(device, false));
  EventHandle end = must(gpu().create_event(device, true));
  DeviceAddress memory = must(gpu().allocate(device, Bytes{1 << 20}));
  std::vector<unsigned char> host = std::vector<unsigned char>(1 << 20, 3);

  explicit Timed(int its_device) : device(its_device) {
    must(gpu().pin(device, host.data(), host.size(), false));
  }
  ~Timed() {
    must(gpu().free(device, memory));
    must(gpu().unpin(device, host.data()));
  }
  void submit(std::size_t bytes) {
    must(gpu().record(device, start, stream));
    must(gpu().copy(device, stream, CopyWay::host_to_device, memory, host.data(), bytes));
    must(gpu().record(device, end, stream));
  }
  double seconds(const Timed& from) { return must(gpu().elapsed(device, from.start, end)); }
};

}  // namespace numatlas
