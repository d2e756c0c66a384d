// CUDA's driver behind gpu/runtime.h, by the fake library: each test wants its own environment and
// has a process of its own (CMakeLists.txt).
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "driver_test.h"
#include "gpu/cuda/management.h"

namespace numatlas {
namespace {

void expect_problem(const char* message, const char* hint) {
  ASSERT_TRUE(cuda_state().devices.empty());
  ASSERT_TRUE(cuda_state().problem);
  EXPECT_EQ(cuda_state().problem->kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(*cuda_state().problem), HasSubstr(message));
  EXPECT_THAT(full_hint(*cuda_state().problem), HasSubstr(hint));
  const Error none = refused(find_device(0));
  EXPECT_EQ(none.kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(none), AllOf(StartsWith("no GPU can be used: "), HasSubstr(message)));
}

TEST(Probe, NoLibrary) {
  if (!cuda_state().problem || full_text(*cuda_state().problem) != "libcuda.so.1 was not found") {
    GTEST_SKIP() << "an NVIDIA driver is installed here";
  }
  expect_problem("libcuda.so.1 was not found", "--gpus all");
}

TEST(Probe, Stub) {
  expect_problem("cuInit: CUDA_ERROR_STUB_LIBRARY (34): the toolkit's", "stubs");
}
TEST(Probe, NoDevice) { expect_problem("cuInit: CUDA_ERROR_NO_DEVICE (100): ", "nvidia-smi"); }
TEST(Probe, NoDeviceCounted) { expect_problem("CUDA_ERROR_NO_DEVICE (100): ", "CUDA_VISIBLE"); }
TEST(Probe, Mismatch) { expect_problem("SYSTEM_DRIVER_MISMATCH (803): ", "reboot"); }
TEST(Probe, Unnamed) { expect_problem("cuInit: error 12345: the driver does not start", "dmesg"); }
TEST(Probe, CountFails) { expect_problem("cuDeviceGetCount: CUDA_ERROR_UNKNOWN (999)", "dmesg"); }

TEST(Probe, NotALibrary) { expect_problem("libcuda.so.1: ", "only partly installed"); }

TEST(Devices, TheirFacts) {
  ASSERT_FALSE(cuda_state().devices.empty()) << full_text(*cuda_state().problem);
  EXPECT_FALSE(cuda_state().problem);
  EXPECT_EQ(cuda_state().name, "cuda");
  EXPECT_EQ(cuda_state().description, "CUDA driver 12.4");
  ASSERT_EQ(cuda_state().devices.size(), 12U);
  const DeviceInfo& last = cuda_state().devices.back().info();
  EXPECT_EQ(last.name, "numatlas fake GPU 11 (test only)");
  EXPECT_EQ(last.pci_address, "0000:0c:00.0");
  EXPECT_EQ(last.memory, Bytes{std::uint64_t{1} << 30});
  EXPECT_EQ(last.copy_engines, 2);
  EXPECT_TRUE(last.maps_host_memory);
}

TEST(Devices, Found) {
  EXPECT_GE(device_count(), 2);
  const Device* const second = must(find_device(1));
  ASSERT_EQ(second, &gpu(1));
  EXPECT_EQ(second->info().pci_address, "0000:02:00.0");
  for (int index : {-1, 500}) {
    const Error none = refused(find_device(index));
    EXPECT_EQ(none.kind, ErrorKind::unavailable);
    EXPECT_THAT(full_text(none),
                HasSubstr("no GPU " + std::to_string(index) + "; available: 0 to "));
    EXPECT_THAT(full_hint(none), HasSubstr("CUDA_VISIBLE_DEVICES"));
  }
}

TEST(Devices, OneSaysNothing) {
  // The second call of cuDeviceGet is for GPU 1, and so is that of its name.
  ASSERT_EQ(cuda_state().devices.size(), 3U);
  EXPECT_THAT(gpu(0).info().name, StartsWith("numatlas fake GPU 0"));
  EXPECT_THAT(gpu(1).info().name, HasSubstr("does not tell"));
  EXPECT_EQ(gpu(1).info().pci_address, "");
  EXPECT_THAT(gpu(2).info().name, StartsWith("numatlas fake GPU 2"));
  must(gpu(1).allocate(Bytes{64}));  // asked again when it is used
}

TEST(Devices, ThreadsCpusStay) {
  const CpuSet before = thread_affinity();
  must(gpu(0).create_stream());
  EXPECT_EQ(thread_affinity(), before);
}

TEST(Copy, ThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index) {
    threads.emplace_back([index] {
      for (int round = 0; round < 4; ++round)
        round_trip((index + round) % 2, round % 2 == 0, index);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Copy, WithinAndBetween) {
  constexpr std::size_t bytes = 4096;
  auto source = pattern(bytes);
  EXPECT_FALSE(must(gpu(1).can_reach(gpu(1))));
  const MemoryHandle other = send_around(source);
  std::vector<unsigned char> target(bytes);
  const StreamHandle there = must(gpu(1).create_stream());
  must(gpu(1).copy(there, CopyWay::device_to_device, address_of(other) + bytes / 2, other.get(),
                   bytes / 2));
  must(gpu(1).copy(there, CopyWay::device_to_host, address_of(other), target.data(), bytes));
  must(gpu(1).wait_for_stream(there));
  EXPECT_EQ(target[bytes / 2 + 5], source[5]);
}

TEST(Copy, Corrupted) {
  constexpr std::size_t bytes = 4096;
  auto source = pattern(bytes);
  std::vector<unsigned char> target(bytes);
  const StreamHandle stream = must(gpu(0).create_stream());
  const MemoryHandle memory = must(gpu(0).allocate(Bytes{bytes}));
  must(gpu(0).copy(stream, CopyWay::host_to_device, address_of(memory), source.data(), bytes));
  must(gpu(0).copy(stream, CopyWay::device_to_host, address_of(memory), target.data(), bytes));
  must(gpu(0).wait_for_stream(stream));
  EXPECT_NE(source, target);
}

TEST(Memory, PinAndUnpin) {
  std::vector<unsigned char> memory(1 << 16);
  unsigned char* const start = memory.data();
  PinHandle pin = must(gpu(0).pin(start, memory.size(), true));
  EXPECT_EQ(must(gpu(0).mapped_address(start)), reinterpret_cast<std::uintptr_t>(start));
  const Error twice = refused(gpu(1).pin(start, memory.size(), true));
  EXPECT_EQ(full_text(twice), "cuMemHostRegister: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED (712)");
  EXPECT_THAT(full_hint(twice), HasSubstr("already pinned"));
  pin.reset();
  must(gpu(1).pin(start, memory.size(), true));
  const Error not_memory = refused(gpu(0).pin(nullptr, 4096, false));
  EXPECT_EQ(not_memory.kind, ErrorKind::unavailable);
  EXPECT_THAT(full_hint(not_memory), HasSubstr("does not pin this memory"));
}

TEST(Memory, UsedUp) {
  MemoryHandle most = must(gpu(0).allocate(Bytes{60000}));
  const Error none = refused(gpu(0).allocate(Bytes{60000}));
  EXPECT_EQ(none.kind, ErrorKind::resource);
  EXPECT_EQ(full_text(none), "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)");
  EXPECT_THAT(full_hint(none), HasSubstr("nvidia-smi"));
  most.reset();
  must(gpu(0).allocate(Bytes{60000}));
}

TEST(Events, OrderAndTimes) {
  // 4 MiB a second: 64 KiB take 1/64 s, as the fake promises.
  Timed copy{0};
  copy.submit(1 << 16);
  must(gpu(0).wait_for_event(copy.end));
  EXPECT_GE(copy.seconds(copy), 0.99 / 64);
  EXPECT_LE(must(gpu(0).elapsed(copy.end, copy.start)), 0.0);
}

TEST(Events, NotYet) {
  Timed copy{0};
  const Error never = refused(gpu(0).elapsed(copy.start, copy.end));
  EXPECT_EQ(full_text(never), "cuEventElapsedTime: CUDA_ERROR_INVALID_HANDLE (400)");
  must(gpu(0).wait_for_event(copy.end));  // nobody waits for what was never recorded
}

TEST(Events, SerialNeverOverlaps) {
  // Queued crosswise by two threads; of two copies one begins when the other has ended.
  Timed first{0}, second{0};
  for (int round = 0; round < 5; ++round) {
    std::thread beside([&] { second.submit(1 << 14); });
    first.submit(1 << 14);
    beside.join();
    must(gpu(0).wait_for_stream(first.stream));
    must(gpu(0).wait_for_stream(second.stream));
    const double second_after_first = must(gpu(0).elapsed(first.end, second.start));
    const double first_after_second = must(gpu(0).elapsed(second.end, first.start));
    EXPECT_TRUE(second_after_first >= 0 || first_after_second >= 0)
        << second_after_first << " " << first_after_second;
  }
}

TEST(Failure, OnceOnly) {
  // A code that says nothing of the device: the next call is served.
  std::vector<unsigned char> memory(4096);
  const Error planted = refused(gpu(0).pin(memory.data(), memory.size(), false));
  EXPECT_EQ(planted.kind, ErrorKind::permission);
  EXPECT_EQ(full_text(planted), "cuMemHostRegister: CUDA_ERROR_NOT_PERMITTED (800)");
  must(gpu(0).pin(memory.data(), memory.size(), false));
}

TEST(Failure, LostDevice) {
  const auto source = pattern(4096);
  const StreamHandle stream = must(gpu(0).create_stream());
  const MemoryHandle memory = must(gpu(0).allocate(Bytes{4096}));
  const auto copy = [&] {
    return gpu(0).copy(stream, CopyWay::host_to_device, address_of(memory),
                       const_cast<unsigned char*>(source.data()), source.size());
  };
  must(copy());
  const Error lost = refused(copy());
  EXPECT_EQ(lost.kind, ErrorKind::io);
  EXPECT_EQ(full_text(lost), "cuMemcpyHtoDAsync: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_THAT(full_hint(lost), AllOf(HasSubstr("xid"), HasSubstr("nvidia-smi")));
  const Error still = refused(gpu(0).allocate(Bytes{64}));
  EXPECT_EQ(still.kind, ErrorKind::io);
  EXPECT_EQ(full_text(still), "cuMemAlloc: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_EQ(refused(gpu(0).wait_for_stream(stream)).kind, ErrorKind::io);
  round_trip(1, true, 1);  // the other one goes on
}

TEST(Failure, OfTheContext) {
  const Error taken = refused(gpu(0).allocate(Bytes{64}));
  EXPECT_EQ(full_text(taken), "cuDevicePrimaryCtxRetain: CUDA_ERROR_DEVICE_UNAVAILABLE (46)");
  EXPECT_EQ(taken.kind, ErrorKind::unavailable)
      << "another process has exclusive use of it: nothing is lost";
  must(gpu(0).allocate(Bytes{64}));  // it is asked for again
}

TEST(State, ClocksAndWhatHoldsThemDown) {
  EXPECT_TRUE(gpu(1).info().mig);
  const auto state = gpu(1).state();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->frequency, 1980e6);
  EXPECT_EQ(state->slowed_by, "power limit, heat");
}

TEST(State, LibraryThatDoesNotStart) { EXPECT_FALSE(gpu(0).state()); }
TEST(State, NoLibrary) {
  EXPECT_FALSE(gpu(0).state());
  EXPECT_FALSE(gpu(0).info().mig);
}

TEST(State, ReasonsInWords) {
  EXPECT_EQ(cuda::slowdown_text(0), "");
  EXPECT_EQ(cuda::slowdown_text(0x01 | 0x02 | 0x100), "") << "idle, set so, display";
  EXPECT_EQ(cuda::slowdown_text(0x04), "power limit");
  EXPECT_EQ(cuda::slowdown_text(0x20), "heat");
  EXPECT_EQ(cuda::slowdown_text(0x08), "hardware slowdown");
  EXPECT_EQ(cuda::slowdown_text(0x08 | 0x40), "heat");
  EXPECT_EQ(cuda::slowdown_text(0x08 | 0x80), "power brake");
  EXPECT_EQ(cuda::slowdown_text(0x40 | 0x80), "heat, power brake");
}

TEST(Kernels, ByName) {
  const FunctionHandle chase = must(gpu(0).kernel("chase"));
  const FunctionHandle copy = must(gpu(0).kernel("copy"));
  EXPECT_EQ(must(gpu(0).kernel("chase")), chase);
  chase_and_copy(0, chase, copy);
  const Error unknown = refused(gpu(0).kernel("nothing"));
  EXPECT_EQ(full_text(unknown),
            "cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500): numatlas_nothing");
}

TEST(Kernels, CompiledOnce) {
  must(gpu(0).kernel("chase"));
  must(gpu(0).kernel("copy"));
  must(gpu(1).kernel("copy"));
  const char* const name = std::getenv("NUMATLAS_FAKE_CUDA_LOG");
  ASSERT_NE(name, nullptr);
  std::ifstream log(name);
  int loads = 0, contexts = 0;
  for (std::string line; std::getline(log, line);) {
    loads += line == "cuModuleLoadData" ? 1 : 0;
    contexts += line.starts_with("cuDevicePrimaryCtxRetain ") ? 1 : 0;
  }
  EXPECT_EQ(loads, 2);
  EXPECT_EQ(contexts, 2);
}

TEST(Features, OldDriver) {
  round_trip(0, true, 1);
  std::vector<unsigned char> memory(64);
  for (const Error& error :
       {refused(gpu(0).can_reach(gpu(1))), refused(gpu(0).reach(gpu(1))),
        refused(gpu(0).kernel("chase")), refused(gpu(0).launch(nullptr, nullptr, 1, 1, nullptr)),
        refused(gpu(0).mapped_address(memory.data()))}) {
    EXPECT_EQ(error.kind, ErrorKind::unavailable) << full_text(error);
    EXPECT_THAT(full_text(error), StartsWith("the CUDA driver has no cu"));
  }
}

}  // namespace
}  // namespace numatlas
