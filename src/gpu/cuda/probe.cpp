// Looks for the CUDA driver.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "gpu/cuda/management.h"
#include "gpu/driver/driver_api.h"
#include "gpu/kernel_sources.h"

namespace numatlas {
namespace {

constexpr const char* cuda_library = "libcuda.so.1";

DriverWords cuda_words() {
  return {
      "CUDA driver",
      "the GPU no longer works for this process; see dmesg | grep -i xid and nvidia-smi. If a new "
      "run fails as well, reset it (nvidia-smi --gpu-reset) or reboot",
      "nvidia-smi shows who uses the GPU's memory; free -h the host's"};
}

/// Why cuInit may fail, in words: the reason and what to do.
std::pair<std::string, std::string> init_words(int code) {
  using namespace driver_code;
  switch (code) {
    case stub_library:
      return {"the toolkit's stub of libcuda.so.1 was loaded instead of the driver",
              "remove the folder .../stubs from LD_LIBRARY_PATH"};
    case no_device:
      return {"there is no GPU that this process may use",
              "see nvidia-smi and CUDA_VISIBLE_DEVICES; a container needs --gpus all and "
              "nvidia-container-toolkit"};
    case mismatch:
      return {"the driver's library and its kernel module are of different versions",
              "after an update of the driver the kernel still has the old module: reboot, or "
              "rmmod and modprobe nvidia"};
    case compat:
      return {"the compatibility library (cuda-compat) does not support this GPU",
              "remove its folder from LD_LIBRARY_PATH"};
    case not_ready:
      return {"the GPUs are not ready yet",
              "systems with NVSwitch need its service: systemctl status nvidia-fabricmanager"};
    case device_unavailable:
      return {"the GPU is busy, or another process holds it exclusively",
              "see nvidia-smi: processes and compute mode"};
    case out_of_memory:
      return {"no memory is left to start the driver", "see free -h and nvidia-smi"};
    case operating_system:
    case unknown:
      return {"the driver cannot talk to its kernel module",
              "see dmesg, nvidia-smi, ls -l /dev/nvidia* and modprobe nvidia-uvm"};
    default: return {"the driver does not start", "see nvidia-smi and dmesg"};
  }
}

}  // namespace

RuntimeState probe_cuda() {
  const Library library(cuda_library, "libcuda1");
  if (is_absent(library, cuda_library)) {
    return unusable("cuda", fmt::format("{} was not found", cuda_library),
                    "NVIDIA's driver is not installed, or the container was started without it "
                    "(--gpus all)");
  }
  if (!library.problem().empty()) {
    return unusable("cuda", library.problem(), "NVIDIA's driver is only partly installed");
  }
  Vendor vendor;
  vendor.name = "cuda";
  vendor.library = cuda_library;
  vendor.call_names = CallNames::cuda;
  vendor.words = cuda_words();
  vendor.later_version = "requires a later NVIDIA driver";
  vendor.attributes = {.copy_engines = 40,
                       .maps_host_memory = 19,
                       .multiprocessors = 16,
                       .threads = 39,
                       .shared_cache = 38,
                       .memory_clock = 36,
                       .bus_width = 37};
  // 12040 is 12.4.
  vendor.version_text = [](int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  };
  vendor.start_problem = init_words;
  vendor.kernels = [] {
    // The driver wants the text's end.
    return std::vector<char>(kernels_ptx, kernels_ptx + std::strlen(kernels_ptx) + 1);
  };
  const auto management = std::make_shared<cuda::Management>();
  vendor.state = [management](const std::string& address) { return management->state(address); };
  vendor.is_slice = [management](const std::string& address) { return management->mig(address); };
  return start_driver(library, std::move(vendor));
}

}  // namespace numatlas
