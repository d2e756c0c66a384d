#include "gpu/buffers.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "placement/touch.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

/// A policy of the calling thread, for as long as it lives.
class ThreadPolicy {
 public:
  explicit ThreadPolicy(const MemoryPlacement& placement)
      : before_(kernel::task_policy()), outcome_(apply_to_process(placement)) {}
  ThreadPolicy(const ThreadPolicy&) = delete;
  ThreadPolicy& operator=(const ThreadPolicy&) = delete;
  ~ThreadPolicy() {
    if (before_) (void)kernel::set_task_policy(before_->mode, before_->mask);
  }
  const Expected<PolicyOutcome>& outcome() const { return outcome_; }

 private:
  std::optional<kernel::TaskPolicy> before_;
  Expected<PolicyOutcome> outcome_;
};

Expected<std::unique_ptr<Buffer>> allocate_on_gpu(const Region& region, int gpu) {
  const auto device = TRY(find_device(gpu));
  const auto address = device.runtime->allocate(device.device, region.bytes);
  if (address)
    return std::make_unique<Buffer>(
        reinterpret_cast<void*>(*address), region.bytes.value, PolicyOutcome{"GPU memory", ""},
        Buffer::Functions{
            // A lost device has nothing to give back.
            .free = [device, at = *address] { (void)device.runtime->free(device.device, at); },
            .residency = [](const ProcessMappings&) { return Residency{}; }});
  Error error = address.error();
  if (error.kind == ErrorKind::resource) {
    error.subject = "size";
    error.message = fmt::format("{} on GPU {}, which has {}: {}", to_rounded_text(region.bytes),
                                gpu, to_rounded_text(device.info().memory), error.message);
    error.hint = "request less; another process may be using its memory";
  }
  return fail(std::move(error));
}

Expected<std::unique_ptr<Buffer>> allocate_by_driver(const Region& region, const DeviceWork& work) {
  if (!region.placement.source.empty() || region.pages != PageKind::base) {
    return fail_about(ErrorKind::unavailable, fmt::format("--pin {}", name_of(work.pinning)),
                      fmt::format("the GPU driver allocates this memory and does not offer {}",
                                  region.pages != PageKind::base
                                      ? fmt::format("--pages {}", name_of(region.pages))
                                      : region.placement.text()),
                      "use --pin pinned");
  }
  const auto device = TRY(find_device(work.gpu));
  const bool managed = work.pinning == Pinning::managed;
  if (managed && !device.info().managed_memory)
    return fail_about(ErrorKind::unavailable, "--pin managed",
                      fmt::format("GPU {} has none", work.gpu));
  const ThreadPolicy policy(region.placement);
  if (!policy.outcome()) return fail(policy.outcome().error());
  const auto start = TRY(managed ? device.runtime->allocate_managed(device.device, region.bytes)
                                 : device.runtime->allocate_pinned(device.device, region.bytes));
  // Managed memory gets its pages when it is touched: while the policy holds.
  if (managed) touch_pages(static_cast<std::byte*>(start), region.bytes.value);
  const auto free = [device, start, managed] {
    (void)(managed ? device.runtime->free_managed(device.device, start)
                   : device.runtime->free_pinned(device.device, start));
  };
  return std::make_unique<Buffer>(start, region.bytes.value, *policy.outcome(),
                                  Buffer::Functions{.free = free});
}

}  // namespace

Expected<std::unique_ptr<Buffer>> allocate_for_gpu(const Region& region, const DeviceWork& work) {
  const int gpu = gpu_of(region.placement);
  if (gpu >= 0) return allocate_on_gpu(region, gpu);
  const bool by_driver = work.pinning == Pinning::driver || work.pinning == Pinning::managed;
  return by_driver ? allocate_by_driver(region, work) : allocate(region);
}

}  // namespace numatlas
