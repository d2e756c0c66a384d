// Looks for AMD's HIP runtime.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gpu/hip/hip_runtime.h"

#ifdef NUMATLAS_ADDRESS_SANITIZER
// AMD's library keeps some memory of each thread that ends. Only builds for the address sanitizer
// have this, which it asks for by name.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libamdhip64\n"; }
#endif

namespace numatlas {
namespace {

using hip::HipApi;
using hip::HipRuntime;

constexpr const char* hip_versions[] = {"7", "6", "5"};

DriverWords hip_words() {
  return {"HIP runtime",
          "the GPU no longer works for this process; see dmesg | grep -i amdgpu and rocm-smi. If a "
          "new run fails as well, reset it (rocm-smi --gpureset -d N) or reboot",
          "rocm-smi shows how much of the GPU's memory is used; free -h the host's"};
}

RuntimeState start_failed(const HipApi& api, const char* call, int code) {
  using namespace driver_code;
  const char* const name = api.error_name == nullptr ? nullptr : api.error_name(code);
  const std::string message = call_error(hip_words(), call, code, name).message;
  // Without /dev/kfd the runtime says the one or the other.
  if (code == no_device || code == invalid_device) {
    return unusable("hip", message + ": there is no GPU that this process may use",
                    "see rocminfo, ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES; /dev/kfd and "
                    "/dev/dri need the groups render and video, in a container --device as well");
  }
  if (code == insufficient_driver) {
    return unusable("hip", message + ": the kernel's amdgpu is too old for this library",
                    "update amdgpu, or take an older ROCm");
  }
  return unusable("hip", message + ": the HIP runtime does not start",
                  "see rocminfo and dmesg | grep -i amdgpu");
}

/// The first of them that can be loaded; or why the newest that is there cannot be.
std::optional<std::pair<Library, std::string>> load(std::string& problem) {
  for (const char* version : hip_versions) {
    const std::string name = std::string("libamdhip64.so.") + version;
    Library library(name.c_str(), "libamdhip64-5", true);
    if (library.problem().empty()) return std::pair(std::move(library), std::string(version));
    if (problem.empty() && !is_absent(library, name)) problem = library.problem();
  }
  return std::nullopt;
}

}  // namespace

RuntimeState probe_hip();
RuntimeState probe_hip() {
  std::string problem;
  const auto library = load(problem);
  if (!library && problem.empty()) {
    return unusable("hip", "libamdhip64.so.7, .6 or .5 was not found",
                    "AMD's ROCm is not installed, or LD_LIBRARY_PATH lacks its folder "
                    "(/opt/rocm/lib)");
  }
  if (!library) return unusable("hip", problem, "AMD's ROCm is only partly installed");
  auto api = std::make_unique<HipApi>(library->first);
  if (!api->symbols.missing().empty()) {
    return unusable("hip", fmt::format("libamdhip64 has no {}", api->symbols.missing()),
                    "requires a later ROCm");
  }
  if (const int code = api->init.function(0); code != 0) {
    return start_failed(*api, api->init.symbol, code);
  }
  int count = 0;
  if (const int code = api->device_count.function(&count); code != 0) {
    return start_failed(*api, api->device_count.symbol, code);
  }
  if (count == 0) return start_failed(*api, api->device_count.symbol, driver_code::no_device);
  return {"hip",
          std::make_unique<HipRuntime>(
              std::move(api), hip::Compiler(library->first, library->second), hip_words(), count),
          {}};
}

}  // namespace numatlas
