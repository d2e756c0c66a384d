// AMD's runtime behind gpu/runtime.h, by the fake library and by the real one without a GPU.
#include <cstdint>
#include <vector>

#include "driver_test.h"

namespace numatlas {
namespace {

TEST(Probe, Hip) {
  ASSERT_EQ(hip().name, "hip");
  if (!hip().devices.empty()) GTEST_SKIP() << "there is an AMD GPU: " << hip().description;
  ASSERT_TRUE(hip().problem);
  EXPECT_EQ(hip().problem->kind, ErrorKind::unavailable);
  EXPECT_FALSE(full_hint(*hip().problem).empty());
  if (full_text(*hip().problem) == "libamdhip64.so.7, .6 or .5 was not found") {
    GTEST_SKIP() << "no libamdhip64 (Debian: libamdhip64-5)";
  }
  EXPECT_THAT(full_text(*hip().problem), StartsWith("hip"));
  EXPECT_THAT(full_hint(*hip().problem), HasSubstr("rocminfo"));
}

TEST(Hip, NoDevice) {
  ASSERT_TRUE(hip().problem);
  EXPECT_EQ(full_text(*hip().problem),
            "hipInit: hipErrorNoDevice (100): there is no GPU that this process may use");
  EXPECT_THAT(full_hint(*hip().problem), HasSubstr("/dev/kfd"));
}

TEST(Hip, TheirFacts) {
  ASSERT_FALSE(hip().devices.empty()) << full_text(*hip().problem);
  EXPECT_EQ(hip().description, "HIP runtime 6.3");
  ASSERT_EQ(hip().devices.size(), 2U);
  const DeviceInfo& second = gpu(1).info();
  EXPECT_EQ(second.name, "numatlas fake GPU 1 (test only)");
  EXPECT_EQ(second.pci_address, "0000:02:00.0");
  EXPECT_EQ(second.memory, Bytes{std::uint64_t{1} << 30});
  EXPECT_EQ(second.copy_engines, 2);
  EXPECT_TRUE(second.maps_host_memory);
  const int others = device_count() - 2;  // those of a CUDA driver come first
  EXPECT_EQ(must(find_device(others + 1)), &gpu(1));
}

TEST(Hip, Copies) {
  const CpuSet before = thread_affinity();
  for (int device : {0, 1, 0}) {
    round_trip(device, true, device);
    round_trip(device, false, device);
  }
  EXPECT_EQ(thread_affinity(), before);  // hipSetDevice of the fake takes all but one
  Timed copy{0};
  copy.submit(1 << 20);
  must(gpu(0).wait_for_event(copy.end));
  EXPECT_GE(copy.seconds(copy), 0.0);
}

TEST(Hip, BetweenThem) {
  auto source = pattern(4096);
  (void)send_around(source);
}

TEST(Hip, Memory) {
  std::vector<unsigned char> memory(4096);
  const PinHandle pin = must(gpu(0).pin(memory.data(), memory.size(), true));
  EXPECT_EQ(must(gpu(0).mapped_address(memory.data())),
            reinterpret_cast<std::uintptr_t>(memory.data()));
  EXPECT_EQ(full_text(refused(gpu(0).pin(memory.data(), memory.size(), true))),
            "hipHostRegister: hipErrorHostMemoryAlreadyRegistered (712)");
}

TEST(Hip, UsedUp) {
  const Error none = refused(gpu(0).allocate(Bytes{200000}));
  EXPECT_EQ(none.kind, ErrorKind::resource);
  EXPECT_EQ(full_text(none), "hipMalloc: hipErrorOutOfMemory (2)");
  EXPECT_THAT(full_hint(none), HasSubstr("rocm-smi"));
}

TEST(Hip, LostDevice) {
  std::vector<unsigned char> memory(4096);
  const StreamHandle stream = must(gpu(0).create_stream());
  const MemoryHandle there = must(gpu(0).allocate(Bytes{4096}));
  const Error lost = refused(gpu(0).copy(stream, CopyWay::device_to_host, address_of(there),
                                         memory.data(), memory.size()));
  EXPECT_EQ(lost.kind, ErrorKind::io);
  EXPECT_EQ(full_text(lost), "hipMemcpyDtoHAsync: hipErrorIllegalAddress (700)");
  EXPECT_THAT(full_hint(lost), HasSubstr("amdgpu"));
}

TEST(Hip, KernelsByName) {
  for (int device : {0, 1}) {
    const FunctionHandle chase = must(gpu(device).kernel("chase"));
    EXPECT_EQ(must(gpu(device).kernel("chase")), chase);
    const FunctionHandle copy = must(gpu(device).kernel("copy"));
    chase_and_copy(device, chase, copy);
  }
  EXPECT_EQ(full_text(refused(gpu(0).kernel("nothing"))),
            "hipModuleGetFunction: hipErrorNotFound (500): numatlas_nothing");
}

TEST(Hip, KernelsThatDoNotCompile) {
  const Error error = refused(gpu(0).kernel("chase"));
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_EQ(full_text(error),
            "hiprtcCompileProgram: HIPRTC_ERROR_COMPILATION (6): numatlas.hip:2:3: error: a test");
  round_trip(0, true, 1);
}

TEST(Hip, KernelsWithoutACompiler) {
  const Error error = refused(gpu(0).kernel("chase"));
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(error), HasSubstr("libhiprtc.so.7"));
  EXPECT_THAT(full_hint(error), HasSubstr("hiprtc, a part of ROCm"));
  round_trip(0, false, 1);
}

}  // namespace
}  // namespace numatlas
