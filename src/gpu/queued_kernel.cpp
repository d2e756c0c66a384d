#include "gpu/queued_kernel.h"

namespace numatlas {

tl::unexpected<Error> wrong_result(std::string message) {
  return fail(ErrorKind::internal, std::move(message),
              "a defect of this machine's memory, link, GPU or driver, or of numatlas");
}

Expected<void> Side::clear(std::uint64_t bytes) const {
  if (!gpu)
    return write(bytes / sizeof(std::uint64_t), [](std::uint64_t) { return std::uint64_t{0}; });
  // In its own stream and waited for: what stands there at the end the kernel has written.
  return in_own_stream(*gpu, [&](const StreamHandle& stream) {
    return gpu->runtime->fill(gpu->device, stream, address(), 0, bytes);
  });
}

Expected<void> Side::copy(CopyWay way, std::uint64_t first, Words& chunk) const {
  return in_own_stream(*gpu, [&](const StreamHandle& stream) {
    return gpu->runtime->copy(gpu->device, stream, way, address() + first * sizeof(std::uint64_t),
                              chunk.data(), chunk.size() * sizeof(std::uint64_t));
  });
}

Expected<void> QueuedKernel::prepare(const KernelMemory& memory) {
  TRY(queue_.open());
  memory_.data = memory.data;
  bytes_ = memory.bytes;
  start_ = memory_.address();
  return fill(memory);
}

Expected<void> QueuedKernel::attach() {
  DeviceRuntime& gpu = *device_.runtime;
  if (memory_.gpu) {
    TRY(queue_.reach(*memory_.gpu));
  } else {
    TRY(pin(memory_.data, true));
    start_ = TRY(gpu.mapped_address(device_.device, memory_.data));
  }
  TRY(find_kernel());
  if (results_.empty()) return {};
  result_ = TRY(gpu.allocate(device_.device, Bytes{results_.size() * sizeof(std::uint64_t)}));
  return copy_results(CopyWay::host_to_device);
}

Expected<void> QueuedKernel::pin(std::byte* host, bool mapped) {
  TRY(device_.runtime->pin(device_.device, host, bytes_, mapped));
  pinned_ = host;
  return {};
}

Expected<void> QueuedKernel::find_kernel() {
  function_ = TRY(device_.runtime->kernel(device_.device, name_));
  return {};
}

Expected<void> QueuedKernel::copy_results(CopyWay way) {
  DeviceRuntime& gpu = *device_.runtime;
  TRY(gpu.copy(device_.device, queue_.stream(), way, result_, results_.data(),
               results_.size() * sizeof(std::uint64_t)));
  return gpu.wait_for_stream(device_.device, queue_.stream());
}

void QueuedKernel::run(std::uint64_t steps) {
  queue_.run(steps, [this](const StreamHandle& stream) {
    ++launches_;
    return launch(stream);
  });
}

void QueuedKernel::finish() {
  queue_.finish();
  if (queue_.problem() || result_ == 0) return;
  if (const auto read = copy_results(CopyWay::device_to_host); !read)
    queue_.set_problem(read.error());
}

void QueuedKernel::detach() {
  if (result_ != 0) (void)device_.runtime->free(device_.device, result_);
  if (pinned_ != nullptr) (void)device_.runtime->unpin(device_.device, pinned_);
  result_ = 0;
  pinned_ = nullptr;
}

Expected<void> QueuedKernel::verify() const {
  if (queue_.problem()) return fail(*queue_.problem());
  return launches_ == 0 ? Expected<void>{} : compare();
}

}  // namespace numatlas
