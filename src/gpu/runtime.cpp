#include "gpu/runtime.h"

#include <fmt/format.h>

#include "placement/kept_cpus.h"

namespace numatlas {
namespace {

std::vector<RuntimeState> probe_all() {
  const KeptCpus kept;
  return probe_runtimes();
}

}  // namespace

const std::vector<RuntimeState>& device_runtimes() {
  // Never destroyed: drivers have exit handlers of their own, which may run before ours.
  static const auto& states = *new std::vector<RuntimeState>(probe_all());
  return states;
}

int device_count() {
  int count = 0;
  for (const RuntimeState& state : device_runtimes()) {
    if (state.runtime) count += static_cast<int>(state.runtime->devices().size());
  }
  return count;
}

Expected<DeviceRef> find_device(int index) {
  int left = index;
  for (const RuntimeState& state : device_runtimes()) {
    if (!state.runtime || left < 0) continue;
    const int here = static_cast<int>(state.runtime->devices().size());
    if (left < here) return DeviceRef{state.runtime.get(), left};
    left -= here;
  }
  const int count = device_count();
  if (count > 0) {
    return fail_about(
        ErrorKind::unavailable, "--gpus",
        fmt::format("no GPU {}; available: {}", index,
                    count == 1 ? std::string("0") : fmt::format("0 to {}", count - 1)),
        "CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and the like hide GPUs");
  }
  // The first driver's reason, unless only its library is missing and another one is there.
  const Error* why = nullptr;
  for (const RuntimeState& state : device_runtimes()) {
    if (state.problem && why == nullptr) why = &*state.problem;
  }
  return fail(
      ErrorKind::unavailable,
      "no GPU can be used: " + (why != nullptr ? full_text(*why) : std::string("none found")),
      why != nullptr ? why->hint : "");
}

Expected<void> in_own_stream(const DeviceRef& device,
                             const std::function<Expected<void>(const StreamHandle&)>& work) {
  const auto stream = TRY(device.runtime->create_stream(device.device));
  TRY(work(stream));
  return device.runtime->wait_for_stream(device.device, stream);
}

}  // namespace numatlas
