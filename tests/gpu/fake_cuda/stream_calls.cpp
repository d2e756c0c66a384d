// Copies, streams and events.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fake.h"

using fake::Address;
using fake::Device;
using fake::Event;
using fake::Mark;
using fake::Operation;
using fake::Stream;

namespace {

/// The bits that each way of copying flips when it is to corrupt: no two undo each other.
constexpr unsigned char flip_in = 1, flip_out = 2, flip_between = 4;

std::string text_of(const Stream& stream, std::size_t bytes) {
  return "device=" + std::to_string(stream.device.index) +
         " stream=" + std::to_string(stream.number) + " bytes=" + std::to_string(bytes);
}

void copy_bytes(void* to, const void* from, std::size_t bytes, unsigned char flip) {
  std::memcpy(to, from, bytes);
  if (fake::settings().corrupt && bytes > 0) static_cast<unsigned char*>(to)[bytes / 2] ^= flip;
}

/// The device whose memory this is; nullptr: of none.
Device* owner_of(Address address, std::size_t bytes) {
  for (auto& device : fake::devices())
    if (device->holds(address, bytes)) return device.get();
  return nullptr;
}

void* pointer(Address address) { return reinterpret_cast<void*>(address); }

}  // namespace

namespace fake {

int stream_of(void* handle, Stream*& stream) {
  Device* const device = current();
  if (device == nullptr) return invalid_context;
  stream = static_cast<Stream*>(handle);
  if (stream == nullptr) {
    const std::lock_guard lock(device->mutex);
    if (!device->default_stream) device->default_stream = std::make_shared<Stream>(*device, 0);
    stream = device->default_stream.get();
  }
  return &stream->device == device ? 0 : invalid_handle;
}

}  // namespace fake

FAKE_CUDA cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void* handle) {
  Stream* stream = nullptr;
  if (const int code = fake::stream_of(handle, stream)) return code;
  if (const int code = fake::begin("cuMemcpyHtoDAsync", text_of(*stream, bytes), true)) return code;
  if (!stream->device.holds(to, bytes)) return fake::invalid_value;
  std::shared_ptr<std::vector<unsigned char>> staged;
  if (!fake::pinned().holds(from, bytes)) {
    const auto* const start = static_cast<const unsigned char*>(from);
    staged = std::make_shared<std::vector<unsigned char>>(start, start + bytes);
  }
  stream->push({Operation::Kind::copy, [=] {
                  copy_bytes(pointer(to), staged ? staged->data() : from, bytes, flip_in);
                  stream->device.in.pass(bytes);
                }});
  return 0;
}

FAKE_CUDA cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void* handle) {
  Stream* stream = nullptr;
  if (const int code = fake::stream_of(handle, stream)) return code;
  if (const int code = fake::begin("cuMemcpyDtoHAsync", text_of(*stream, bytes), true)) return code;
  if (!stream->device.holds(from, bytes)) return fake::invalid_value;
  stream->push({Operation::Kind::copy, [=] {
                  copy_bytes(to, pointer(from), bytes, flip_out);
                  stream->device.out.pass(bytes);
                }});
  if (!fake::pinned().holds(to, bytes)) stream->drain();
  return 0;
}

FAKE_CUDA cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, void* handle) {
  Stream* stream = nullptr;
  if (const int code = fake::stream_of(handle, stream)) return code;
  if (const int code = fake::begin("cuMemcpyDtoDAsync", text_of(*stream, bytes), true)) return code;
  Device* const source = owner_of(from, bytes);
  Device* const target = owner_of(to, bytes);
  if (source == nullptr || target == nullptr) return fake::invalid_value;
  stream->push({Operation::Kind::copy, [=] {
                  copy_bytes(pointer(to), pointer(from), bytes, flip_between);
                  if (source == target) return;
                  source->out.pass(bytes);
                  target->in.pass(bytes);
                }});
  return 0;
}

FAKE_CUDA cuMemsetD8Async(Address to, unsigned char byte, std::size_t bytes, void* handle) {
  Stream* stream = nullptr;
  if (const int code = fake::stream_of(handle, stream)) return code;
  if (const int code = fake::begin("cuMemsetD8Async", text_of(*stream, bytes), true)) return code;
  if (!stream->device.holds(to, bytes)) return fake::invalid_value;
  stream->push({Operation::Kind::copy, [=] { std::memset(pointer(to), byte, bytes); }});
  return 0;
}

FAKE_CUDA cuStreamCreate(void** handle, unsigned flags) {
  static std::atomic<int> made{0};
  const std::string text = "flags=" + std::to_string(flags);
  if (const int code = fake::begin("cuStreamCreate", text, true)) return code;
  Device& device = *fake::current();
  const auto stream = std::make_shared<Stream>(device, ++made);
  const std::lock_guard lock(device.mutex);
  device.streams.push_back(stream);
  *handle = stream.get();
  return 0;
}

FAKE_CUDA cuStreamDestroy_v2(void* handle) {
  Stream* stream = nullptr;
  if (const int code = fake::stream_of(handle, stream)) return code;
  // Of a lost device as well: nothing leaks.
  const int code = fake::begin("cuStreamDestroy", text_of(*stream, 0), true);
  if (handle == nullptr) return fake::invalid_handle;
  stream->drain();
  std::shared_ptr<Stream> kept;  // ended outside of the lock
  const std::lock_guard lock(stream->device.mutex);
  auto& all = stream->device.streams;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.get() == stream; });
  if (found == all.end()) return fake::invalid_handle;
  kept = std::move(*found);
  all.erase(found);
  return code;
}

FAKE_CUDA cuStreamSynchronize(void* handle) {
  Stream* stream = nullptr;
  if (const int code = fake::stream_of(handle, stream)) return code;
  if (const int code = fake::begin("cuStreamSynchronize", text_of(*stream, 0), true)) return code;
  stream->drain();
  return stream->device.lost;
}

FAKE_CUDA cuEventCreate(void** handle, unsigned flags) {
  static std::atomic<int> made{0};
  const std::string text = "flags=" + std::to_string(flags);
  if (const int code = fake::begin("cuEventCreate", text, true)) return code;
  auto* const event = new Event;
  event->number = ++made;
  *handle = event;
  return 0;
}

FAKE_CUDA cuEventDestroy_v2(void* handle) {
  auto* const event = static_cast<Event*>(handle);
  const int code = fake::begin("cuEventDestroy", "event=" + std::to_string(event->number), true);
  delete event;
  return code;
}

FAKE_CUDA cuEventRecord(void* handle, void* stream_handle) {
  Stream* stream = nullptr;
  if (const int code = fake::stream_of(stream_handle, stream)) return code;
  auto& event = *static_cast<Event*>(handle);
  const std::string text = text_of(*stream, 0) + " event=" + std::to_string(event.number);
  if (const int code = fake::begin("cuEventRecord", text, true)) return code;
  const auto mark = std::make_shared<Mark>();
  {
    const std::lock_guard lock(event.mutex);
    event.last = mark;
  }
  stream->push({Operation::Kind::mark, [mark] { mark->set(fake::now()); }});
  return 0;
}

FAKE_CUDA cuEventSynchronize(void* handle) {
  auto& event = *static_cast<Event*>(handle);
  const std::string text = "event=" + std::to_string(event.number);
  if (const int code = fake::begin("cuEventSynchronize", text, true)) return code;
  std::shared_ptr<Mark> last;
  {
    const std::lock_guard lock(event.mutex);
    last = event.last;
  }
  if (last) last->wait();
  return 0;
}

FAKE_CUDA cuEventElapsedTime(float* milliseconds, void* start_handle, void* end_handle) {
  if (const int code = fake::begin("cuEventElapsedTime", "", true)) return code;
  std::int64_t times[2] = {};
  int at = 0;
  for (void* handle : {start_handle, end_handle}) {
    auto& event = *static_cast<Event*>(handle);
    const std::lock_guard lock(event.mutex);
    if (!event.last) return fake::invalid_handle;
    if (!event.last->is_set()) return fake::not_ready;
    times[at++] = event.last->time();
  }
  *milliseconds = static_cast<float>(static_cast<double>(times[1] - times[0]) * 1e-6);
  return 0;
}
