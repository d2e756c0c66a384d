#include "gpu/device_kernel.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace numatlas {
namespace {

/// Whether kernels of a GPU may work on another one's memory.
Expected<void> check_reach(Device& device, int gpu, Device& owner, int peer) {
  if (gpu == peer) return {};
  if (owner.has_driver_of(device) && TRY(device.can_reach(owner))) return {};
  return fail(ErrorKind::unavailable,
              fmt::format("GPU {} cannot read the memory of GPU {} itself", gpu, peer),
              "copies between them are those of numatlas transfer --measure peer");
}

}  // namespace

tl::unexpected<Error> wrong_result(std::string message) {
  return fail(ErrorKind::internal, std::move(message),
              "a defect of this machine's memory, link, GPU or driver, or of numatlas");
}

Expected<void> Side::clear(std::uint64_t bytes) const {
  if (!gpu)
    return write(bytes / sizeof(std::uint64_t), [](std::uint64_t) { return std::uint64_t{0}; });
  // In its own stream and waited for: what stands there at the end the kernel has written.
  return gpu->in_own_stream(
      [&](const StreamHandle& stream) { return gpu->fill(stream, address(), 0, bytes); });
}

Expected<void> Side::copy(CopyWay way, std::uint64_t first, Words& chunk) const {
  return gpu->in_own_stream([&](const StreamHandle& stream) {
    return gpu->copy(stream, way, address() + first * sizeof(std::uint64_t), chunk.data(),
                     chunk.size() * sizeof(std::uint64_t));
  });
}

Expected<void> DeviceKernel::prepare(const KernelMemory& memory) {
  TRY(queue_.open());
  memory_.data = memory.data;
  bytes_ = memory.bytes;
  start_ = memory_.address();
  return fill(memory);
}

Expected<void> DeviceKernel::attach() {
  if (memory_.gpu) {
    TRY(queue_.reach(*memory_.gpu));
  } else {
    TRY(pin(memory_.data, true));
    start_ = TRY(device_.mapped_address(memory_.data));
  }
  TRY(find_kernel());
  if (results_.empty()) return {};
  result_ = TRY(device_.allocate(Bytes{results_.size() * sizeof(std::uint64_t)}));
  return copy_results(CopyWay::host_to_device);
}

Expected<void> DeviceKernel::pin(std::byte* host, bool mapped) {
  pinned_ = TRY(device_.pin(host, bytes_, mapped));
  return {};
}

Expected<void> DeviceKernel::find_kernel() {
  function_ = TRY(device_.kernel(name_));
  return {};
}

Expected<void> DeviceKernel::copy_results(CopyWay way) {
  TRY(device_.copy(queue_.stream(), way, address_of(result_), results_.data(),
                   results_.size() * sizeof(std::uint64_t)));
  return device_.wait_for_stream(queue_.stream());
}

void DeviceKernel::run(std::uint64_t steps) {
  queue_.run(steps, [this](const StreamHandle& stream) {
    ++launches_;
    return launch(stream);
  });
}

void DeviceKernel::finish() {
  queue_.finish();
  if (queue_.problem() || !result_) return;
  if (const auto read = copy_results(CopyWay::device_to_host); !read)
    queue_.set_problem(read.error());
}

void DeviceKernel::detach() {
  result_.reset();
  pinned_.reset();
}

Expected<void> DeviceKernel::verify() const {
  if (queue_.problem()) return fail(*queue_.problem());
  return launches_ == 0 ? Expected<void>{} : compare();
}

Expected<std::unique_ptr<Buffer>> allocate_on_gpu(Bytes bytes, int gpu) {
  Device& device = *TRY(find_device(gpu));
  const auto memory = device.allocate(bytes);
  if (memory)
    return std::make_unique<Buffer>(
        memory->get(), bytes.value, PolicyOutcome{"GPU memory", ""},
        Buffer::Functions{.free = [held = *memory]() mutable { held.reset(); },
                          .residency = [](const ProcessMappings&) { return Residency{}; }});
  Error error = memory.error();
  if (error.kind == ErrorKind::resource) {
    error.subject = "size";
    error.message = fmt::format("{} on GPU {}, which has {}: {}", to_rounded_text(bytes), gpu,
                                to_rounded_text(device.info().memory), error.message);
    error.hint = "request less; another process may be using its memory";
  }
  return fail(std::move(error));
}

Expected<std::unique_ptr<DeviceKernel>> make_device_kernel(const KernelSpec& spec, int from,
                                                           int to) {
  const auto& work = *spec.find<DeviceWork>();
  Device& device = *TRY(find_device(work.gpu));
  const bool copies = spec.find<DeviceCopyParameters>() != nullptr;
  if ((copies ? work.pinning == Pinning::zero_copy : to < 0) && !device.info().maps_host_memory) {
    return fail(ErrorKind::unavailable,
                fmt::format("GPU {} cannot read the host's memory itself", work.gpu));
  }
  Device* owner = nullptr;
  if (to >= 0) owner = TRY(find_device(to));
  if (copies && from >= 0 && owner && !owner->has_driver_of(device)) {
    return fail(ErrorKind::unavailable,
                fmt::format("GPUs {} and {} have different drivers, which cannot copy to each "
                            "other",
                            from, to));
  }
  if (copies) return make_device_copy(spec, device, from >= 0 ? &device : nullptr, owner);
  if (owner) TRY(check_reach(device, work.gpu, *owner, to));
  if (spec.find<DeviceStreamParameters>() != nullptr)
    return make_device_stream(spec, device, owner);
  if (spec.find<DeviceCounterParameters>() != nullptr)
    return make_device_counters(spec, device, owner);
  return make_device_chase(spec, device, owner);
}

}  // namespace numatlas
