#include "gpu/machine_gpus.h"

#include <algorithm>
#include <string>

#include "gpu/runtime.h"

namespace numatlas {
namespace {

Gpu& gpu_at(Machine& machine, const std::string& address) {
  for (Gpu& gpu : machine.gpus) {
    if (!address.empty() && gpu.pci_address == address) return gpu;
  }
  Gpu& gpu = machine.gpus.emplace_back();
  gpu.pci_address = address;
  return gpu;
}

void number_recorded(Machine& machine) {
  const bool numbered = std::any_of(machine.gpus.begin(), machine.gpus.end(),
                                    [](const Gpu& gpu) { return gpu.index.has_value(); });
  if (numbered) return;
  int next = 0;
  for (Gpu& gpu : machine.gpus) {
    gpu.index = next++;
    if (gpu.name.empty()) gpu.name = gpu.vendor + " " + gpu.device_id;
  }
}

}  // namespace

Expected<void> add_devices(Machine& machine, bool live) {
  if (!live) {
    number_recorded(machine);
    if (machine.gpus.empty())
      return fail(
          ErrorKind::unavailable,
          "no GPU can be used: " + machine.none_or_unknown("gpus", "this machine has none"));
    return {};
  }
  int index = 0;
  for (const RuntimeState& state : device_runtimes()) {
    for (const Device& each : state.devices) {
      const DeviceInfo& device = each.info();
      Gpu& gpu = gpu_at(machine, device.pci_address);
      if (gpu.vendor.empty()) gpu.vendor = state.name == "cuda" ? "NVIDIA" : "AMD";
      gpu.runtime = state.name;
      gpu.index = index++;
      gpu.name = device.name;
      gpu.memory = device.memory;
      gpu.multiprocessors = device.multiprocessors;
      gpu.shared_cache = device.shared_cache;
      gpu.memory_bandwidth = device.peak_bandwidth;
      gpu.mig = device.mig;
    }
  }
  if (index > 0) return {};
  return fail(find_device(0).error());
}

const Gpu* find_gpu(const Machine& machine, int index) {
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.index == index) return &gpu;
  }
  return nullptr;
}

std::set<int> usable_gpus(const std::vector<Machine>& machines) {
  std::set<int> found;
  for (const Machine& machine : machines) {
    for (const Gpu& gpu : machine.gpus) {
      if (gpu.index) found.insert(*gpu.index);
    }
  }
  return found;
}

}  // namespace numatlas
