// CudaRuntime's memory, streams and events: a call of the driver each.
#include <cstddef>
#include <cstdint>

#include "gpu/cuda/cuda_runtime.h"

namespace numatlas::cuda {
namespace {

/// Addresses of managed memory are the same on both sides.
void* host_pointer(Address address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

Expected<DeviceAddress> CudaRuntime::allocate(int device, Bytes bytes) {
  Address address = 0;
  return call_on(device, api_->alloc, &address, bytes.value).map([&] { return address; });
}

Expected<void> CudaRuntime::free(int device, DeviceAddress address) {
  return call_on(device, api_->free, address);
}

Expected<void> CudaRuntime::pin(int device, void* start, std::size_t bytes, bool mapped) {
  const unsigned flags = register_portable | (mapped ? register_mapped : 0U);
  return pin_on(device, api_->host_register, start, bytes, flags);
}

Expected<void> CudaRuntime::unpin(int device, void* start) {
  return call_on(device, api_->host_unregister, start);
}

Expected<void*> CudaRuntime::allocate_pinned(int device, Bytes bytes) {
  void* start = nullptr;
  return call_on(device, api_->host_alloc, &start, bytes.value, alloc_portable | alloc_mapped)
      .map([&] { return start; });
}

Expected<void> CudaRuntime::free_pinned(int device, void* start) {
  return call_on(device, api_->host_free, start);
}

Expected<void*> CudaRuntime::allocate_managed(int device, Bytes bytes) {
  Address address = 0;
  return call_on(device, api_->managed_alloc, &address, bytes.value, managed_attach_global)
      .map([&] { return host_pointer(address); });
}

Expected<void> CudaRuntime::free_managed(int device, void* start) {
  return call_on(device, api_->free, static_cast<Address>(reinterpret_cast<std::uintptr_t>(start)));
}

Expected<DeviceAddress> CudaRuntime::mapped_address(int device, void* start) {
  Address address = 0;
  return call_on(device, api_->host_address, &address, start, 0U).map([&] { return address; });
}

Expected<StreamHandle> CudaRuntime::create_stream(int device) {
  Stream stream = nullptr;
  return call_on(device, api_->stream_create, &stream, stream_non_blocking).map([&] {
    return stream;
  });
}

Expected<void> CudaRuntime::destroy_stream(int device, StreamHandle stream) {
  return call_on(device, api_->stream_destroy, stream);
}

Expected<void> CudaRuntime::wait_for_stream(int device, StreamHandle stream) {
  return call_on(device, api_->stream_wait, stream);
}

Expected<void> CudaRuntime::copy(int device, StreamHandle stream, CopyWay way,
                                 DeviceAddress address, void* host, std::size_t bytes) {
  switch (way) {
    case CopyWay::host_to_device:
      return call_on(device, api_->to_device, address, host, bytes, stream);
    case CopyWay::device_to_host:
      return call_on(device, api_->to_host, host, address, bytes, stream);
    case CopyWay::within_device: break;
  }
  // The other side of a copy within the device is an address of it as well.
  const auto source = static_cast<Address>(reinterpret_cast<std::uintptr_t>(host));
  return call_on(device, api_->within, address, source, bytes, stream);
}

Expected<void> CudaRuntime::copy_between(int stream_device, StreamHandle stream, int to,
                                         DeviceAddress to_address, int from,
                                         DeviceAddress from_address, std::size_t bytes) {
  if (to == from && to == stream_device) {
    return call_on(to, api_->within, to_address, from_address, bytes, stream);
  }
  const auto to_context = TRY(context_of(to));
  const auto from_context = TRY(context_of(from));
  return call_on(stream_device, api_->peer_copy, to_address, to_context, from_address, from_context,
                 bytes, stream);
}

Expected<void> CudaRuntime::fill(int device, StreamHandle stream, DeviceAddress address,
                                 std::uint8_t byte, std::size_t bytes) {
  return call_on(device, api_->fill, address, byte, bytes, stream);
}

Expected<EventHandle> CudaRuntime::create_event(int device, bool sleeps) {
  Event event = nullptr;
  return call_on(device, api_->event_create, &event, sleeps ? event_blocking_sync : event_default)
      .map([&] { return event; });
}

Expected<void> CudaRuntime::destroy_event(int device, EventHandle event) {
  return call_on(device, api_->event_destroy, event);
}

Expected<void> CudaRuntime::record(int device, EventHandle event, StreamHandle stream) {
  return call_on(device, api_->event_record, event, stream);
}

Expected<void> CudaRuntime::wait_for_event(int device, EventHandle event) {
  return call_on(device, api_->event_wait, event);
}

Expected<void> CudaRuntime::stream_waits(int device, StreamHandle stream, EventHandle event) {
  return call_on(device, api_->stream_wait_event, stream, event, 0U);
}

Expected<double> CudaRuntime::elapsed(int device, EventHandle start, EventHandle end) {
  constexpr double seconds_in_one = 1e-3;
  float milliseconds = 0;
  return call_on(device, api_->event_elapsed, &milliseconds, start, end).map([&] {
    return static_cast<double>(milliseconds) * seconds_in_one;
  });
}

}  // namespace numatlas::cuda
