// Looks for the CUDA driver.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "gpu/cuda/cuda_runtime.h"

namespace numatlas {
namespace {

using cuda::CudaRuntime;
using cuda::DriverApi;

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

RuntimeState init_failed(const DriverApi& api, const char* call, int code) {
  const char* name = nullptr;
  if (api.error_name.function(code, &name) != 0) name = nullptr;
  const auto [why, hint] = init_words(code);
  const Error error = call_error(cuda_words(), call, code, name);
  return unusable("cuda", fmt::format("{}: {}", error.message, why), hint);
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
  auto api = std::make_unique<DriverApi>(library);
  if (!api->symbols.missing().empty()) {
    return unusable("cuda", fmt::format("{} has no {}", cuda_library, api->symbols.missing()),
                    "requires a later NVIDIA driver");
  }
  if (const int code = api->init.function(0); code != 0) {
    return init_failed(*api, api->init.symbol, code);
  }
  int count = 0;
  if (const int code = api->device_count.function(&count); code != 0) {
    return init_failed(*api, api->device_count.symbol, code);
  }
  if (count == 0) return init_failed(*api, api->device_count.symbol, driver_code::no_device);
  return {"cuda", std::make_unique<CudaRuntime>(std::move(api), cuda_words(), count), {}};
}

}  // namespace numatlas
