// Internal: GPUs by AMD's HIP runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "gpu/driver/vendor_runtime.h"
#include "gpu/hip/compiler.h"
#include "gpu/hip/hip_api.h"

namespace numatlas::hip {

/// Its kernels are compiled by hiprtc when the first of them is asked for.
class HipRuntime final : public VendorRuntime {
 public:
  /// The library has been initialised and has that many devices.
  HipRuntime(std::unique_ptr<HipApi> api, Compiler compiler, DriverWords words, int count);

  Expected<DeviceAddress> allocate(int device, Bytes bytes) override;
  Expected<void> free(int device, DeviceAddress address) override;
  Expected<void> pin(int device, void* start, std::size_t bytes, bool mapped) override;
  Expected<void> unpin(int device, void* start) override;
  Expected<void*> allocate_pinned(int device, Bytes bytes) override;
  Expected<void> free_pinned(int device, void* start) override;
  Expected<void*> allocate_managed(int device, Bytes bytes) override;
  Expected<void> free_managed(int device, void* start) override;
  Expected<DeviceAddress> mapped_address(int device, void* start) override;

  Expected<StreamHandle> create_stream(int device) override;
  Expected<void> destroy_stream(int device, StreamHandle stream) override;
  Expected<void> wait_for_stream(int device, StreamHandle stream) override;
  Expected<void> copy(int device, StreamHandle stream, CopyWay way, DeviceAddress address,
                      void* host, std::size_t bytes) override;
  Expected<void> copy_between(int stream_device, StreamHandle stream, int to,
                              DeviceAddress to_address, int from, DeviceAddress from_address,
                              std::size_t bytes) override;
  Expected<void> fill(int device, StreamHandle stream, DeviceAddress address, std::uint8_t byte,
                      std::size_t bytes) override;

  Expected<EventHandle> create_event(int device, bool sleeps) override;
  Expected<void> destroy_event(int device, EventHandle event) override;
  Expected<void> record(int device, EventHandle event, StreamHandle stream) override;
  Expected<void> wait_for_event(int device, EventHandle event) override;
  Expected<void> stream_waits(int device, StreamHandle stream, EventHandle event) override;
  Expected<double> elapsed(int device, EventHandle start, EventHandle end) override;

  Expected<bool> can_reach_peer(int device, int peer) override;
  Expected<void> reach_peer(int device, int peer) override;
  std::optional<DeviceState> state(int device) override;
  Expected<FunctionHandle> kernel(int device, const std::string& name) override;
  Expected<void> launch(int device, StreamHandle stream, FunctionHandle function, unsigned blocks,
                        unsigned threads, void** arguments) override;

 private:
  const char* error_name(int code) const override;
  Expected<void> make_current(int device) override;
  void read_device(int index);

  struct Loaded {
    std::mutex mutex;
    Module module = nullptr;  ///< of the kernels
  };

  std::unique_ptr<HipApi> api_;
  Compiler compiler_;
  std::deque<Loaded> loaded_;  // by device; never moved: mutexes
};

}  // namespace numatlas::hip
