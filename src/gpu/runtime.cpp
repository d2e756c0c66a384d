#include "gpu/runtime.h"

#include <fmt/format.h>

#include "gpu/driver/driver_api.h"
#include "placement/kept_cpus.h"

namespace numatlas {

std::array<RuntimeState, 2>& device_runtimes() {
  // Never destroyed: drivers have exit handlers of their own, which may run before ours.
  static auto* const states = [] {
    const KeptCpus kept;
    return new std::array<RuntimeState, 2>{probe_cuda(), probe_hip()};
  }();
  return *states;
}

int device_count() {
  int count = 0;
  for (const RuntimeState& state : device_runtimes())
    count += static_cast<int>(state.devices.size());
  return count;
}

Expected<Device*> find_device(int index) {
  int left = index;
  for (RuntimeState& state : device_runtimes()) {
    for (Device& device : state.devices) {
      if (left-- == 0) return &device;
    }
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

}  // namespace numatlas
