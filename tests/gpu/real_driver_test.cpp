// What any CUDA driver with any GPU has to do: run with NVIDIA's own where there is one
// (on_device), and with the fake one.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>

#include "driver_test.h"
#include "gpu/device_kernel.h"
#include "kernels/stream.h"

namespace numatlas {
namespace {

class Real : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_state().devices.empty()) GTEST_SKIP() << full_text(*cuda_state().problem);
  }
};

/// Memory of the host that a GPU's kernels can reach.
template <class T, std::size_t count>
struct Mapped {
  int device;
  alignas(4096) std::array<T, count> words{};

  PinHandle pin = must(gpu(device).pin(words.data(), sizeof words, true));

  explicit Mapped(int device_) : device(device_) {}
  DeviceAddress address() { return must(gpu(device).mapped_address(words.data())); }
};

TEST_F(Real, RoundTrips) {
  for (std::size_t device = 0; device < cuda_state().devices.size(); ++device) {
    round_trip(static_cast<int>(device), true, 1);
    round_trip(static_cast<int>(device), false, 2);
  }
}

TEST_F(Real, EventsInOrder) {
  Timed copy{0};
  copy.submit(1 << 20);
  must(gpu(0).wait_for_event(copy.end));
  EXPECT_GT(copy.seconds(copy), 0.0);
}

TEST_F(Real, Chase) {
  constexpr std::size_t lines = 512, words = 8;
  for (std::size_t device = 0; device < cuda_state().devices.size(); ++device) {
    const int index = static_cast<int>(device);
    if (!gpu(index).info().maps_host_memory) continue;
    const auto memory = std::make_unique<Mapped<std::uint64_t, lines * words>>(index);
    // Line i leads to line i + 5: the host's addresses, as the chase of the CPUs has them.
    for (std::size_t i = 0; i < lines; ++i) {
      memory->words[i * words] =
          reinterpret_cast<std::uintptr_t>(&memory->words[(i + 5) % lines * words]);
    }
    const FunctionHandle function = must(gpu(index).kernel("chase"));
    const StreamHandle stream = must(gpu(index).create_stream());
    const MemoryHandle held = must(gpu(index).allocate(Bytes{sizeof(std::uint64_t)}));
    DeviceAddress result = address_of(held);
    auto start = reinterpret_cast<std::uintptr_t>(memory->words.data());
    std::uint64_t delta = memory->address() - start, loads = 700, end = 0;
    std::array<void*, 4> arguments{&delta, &start, &loads, &result};
    must(gpu(index).launch(stream, function, 1, 1, arguments.data()));
    must(gpu(index).copy(stream, CopyWay::device_to_host, result, &end, sizeof end));
    must(gpu(index).wait_for_stream(stream));
    EXPECT_EQ(end, reinterpret_cast<std::uintptr_t>(&memory->words[700 * 5 % lines * words]));
  }
}

TEST_F(Real, ZeroCopy) {
  // No multiple of what one launch covers in a pass, so that its last pass is a part of one.
  constexpr std::size_t count = 40'004;
  if (!gpu(0).info().maps_host_memory) GTEST_SKIP() << "GPU 0 maps no memory of the host";
  const auto from = std::make_unique<Mapped<std::uint32_t, count>>(0);
  const auto to = std::make_unique<Mapped<std::uint32_t, count>>(0);
  std::iota(from->words.begin(), from->words.end(), 1U);
  const FunctionHandle function = must(gpu(0).kernel("copy"));
  const StreamHandle stream = must(gpu(0).create_stream());
  DeviceAddress destination = to->address(), source = from->address();
  std::uint64_t words = count / 4 - 1;
  std::array<void*, 3> arguments{&destination, &source, &words};
  must(gpu(0).launch(stream, function, 7, 64, arguments.data()));
  must(gpu(0).wait_for_stream(stream));
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(to->words[i], i < count - 4 ? i + 1 : 0) << "word " << i;
}

/// The kernel of a spec in memory of GPU 0, after some launches and looks at what they left.
Expected<DeviceReport> ran(const KernelSpec& spec, Bytes bytes, std::uint64_t launches) {
  const MemoryHandle memory = must(gpu(0).allocate(bytes));
  auto made = make_device_kernel(spec, -1, 0);
  Expected<DeviceReport> report = fail(ErrorKind::internal, "not run");
  if (made) {
    DeviceKernel& kernel = **made;
    auto done = kernel.prepare({static_cast<std::byte*>(memory.get()), bytes.value});
    if (done) done = kernel.attach();
    if (done) kernel.run(launches);
    if (done) kernel.finish();
    kernel.detach();
    if (done) done = kernel.verify();
    report = done ? Expected<DeviceReport>(kernel.take_report()) : fail(done.error());
    made->reset();
  } else {
    report = fail(made.error());
  }
  return report;
}

KernelSpec stream_of(Operation operation, Bytes bytes, unsigned blocks) {
  DeviceStreamParameters stream;
  stream.gpu = 0;
  stream.operation = operation;
  stream.bytes = bytes;
  stream.passes = 3;
  stream.blocks = blocks;
  return {stream};
}

constexpr std::array all_operations{Operation::read,  Operation::write, Operation::copy,
                                    Operation::scale, Operation::add,   Operation::triad};

TEST_F(Real, StreamsInItsOwnMemory) {
  // Of one block's threads no multiple, of a period more than one, and one that is less than a line
  // of threads.
  for (const Bytes bytes : {Bytes{26'000'640}, Bytes{1 << 20}, Bytes{768}}) {
    for (const Operation operation : all_operations) {
      SCOPED_TRACE(name_of(operation));
      const auto report = ran(stream_of(operation, bytes, 0), bytes, 2);
      ASSERT_TRUE(report) << full_text(report.error());
      EXPECT_GE(report->steps.size(), 2U);
      ASSERT_TRUE(report->grid);
      EXPECT_GT(report->grid->blocks * report->grid->threads, 0U);
    }
  }
  const auto report = ran(stream_of(Operation::triad, Bytes{1 << 20}, 5), Bytes{1 << 20}, 1);
  ASSERT_TRUE(report) << full_text(report.error());
  EXPECT_EQ(report->grid->blocks, 5U);
}

TEST_F(Real, AtomicAdditions) {
  for (const Sharing sharing : all_sharings) {
    for (const std::uint64_t threads : {1U, 32U, 1024U}) {
      DeviceCounterParameters work;
      work.gpu = 0;
      work.sharing = sharing;
      work.threads = threads;
      work.adds = 100;
      const auto report = ran({work}, work.bytes(), 3);
      ASSERT_TRUE(report) << name_of(sharing) << ", " << full_text(report.error());
      EXPECT_GE(report->steps.size(), 3U);
    }
  }
}

TEST_F(Real, ChaseThroughItsOwnMemory) {
  for (const GpuLoads loads_by : all_gpu_loads) {
    for (const Bytes bytes : {Bytes{256}, Bytes{16 << 10}, Bytes{9 << 20}}) {
      DeviceChaseParameters chase;
      chase.gpu = 0;
      chase.loads = 1 << 12;
      chase.loads_by = loads_by;
      const auto report = ran({chase}, bytes, 3);
      ASSERT_TRUE(report) << full_text(report.error());
      ASSERT_EQ(report->steps.size(), 3U);
      // No GPU has an answer in less than a cycle.
      for (const DeviceStep& step : report->steps) EXPECT_GT(step.duration_ns, 1 << 10);
    }
  }
}

/// Only of the fake driver: each of its kernels and copies flips a bit.
TEST(Streams, Corrupted) {
  for (const Operation operation : all_operations) {
    const auto report = ran(stream_of(operation, Bytes{1 << 20}, 2), Bytes{1 << 20}, 1);
    ASSERT_FALSE(report) << name_of(operation);
    EXPECT_EQ(report.error().kind, ErrorKind::internal);
    EXPECT_THAT(report.error().message,
                operation == Operation::read ? HasSubstr("add up to") : HasSubstr("is wrong from"));
  }
}

}  // namespace
}  // namespace numatlas
