#include "kernels/device.h"

#include "kernels/kind.h"

namespace numatlas {

const char* name_of(Pinning pinning) {
  switch (pinning) {
    case Pinning::pinned: return "pinned";
    case Pinning::driver: return "driver";
    case Pinning::pageable: return "pageable";
    case Pinning::zero_copy: return "zero-copy";
    case Pinning::managed: return "managed";
  }
  return "pinned";
}

const char* name_of(HostCaches caches) { return caches == HostCaches::warm ? "warm" : "cold"; }

std::vector<KernelKind> DeviceCopyParameters::kinds() {
  return {{.usual = DeviceCopyParameters{},
           .traits = {.on_gpu = true, .takes_source = true},
           // Bytes count once, as they cross the link.
           .traffic = [](const KernelSpec& spec) -> Traffic {
             const auto& work = spec.as<DeviceCopyParameters>();
             return {work.bytes.value * work.copies, 0, 0};
           }}};
}

std::vector<KernelKind> DeviceChaseParameters::kinds() {
  return {{.usual = DeviceChaseParameters{},
           .traits = {.step = StepKind::chase, .on_gpu = true, .writes = false, .time = "latency"},
           .preparation = of_chain}};
}

}  // namespace numatlas
