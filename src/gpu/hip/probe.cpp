// Looks for AMD's HIP runtime.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/tree.h"
#include "gpu/driver/driver_api.h"
#include "gpu/hip/compiler.h"
#include "gpu/kernel_sources.h"
#include "machine/pci_link.h"

#ifdef NUMATLAS_ADDRESS_SANITIZER
// AMD's library keeps some memory of each thread that ends. Only builds for the address sanitizer
// have this, which it asks for by name.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libamdhip64\n"; }
#endif

namespace numatlas {
namespace {

constexpr const char* hip_versions[] = {"7", "6", "5"};

DriverWords hip_words() {
  return {"HIP runtime",
          "the GPU no longer works for this process; see dmesg | grep -i amdgpu and rocm-smi. If a "
          "new run fails as well, reset it (rocm-smi --gpureset -d N) or reboot",
          "rocm-smi shows how much of the GPU's memory is used; free -h the host's"};
}

/// Why hipInit may fail: the reason and what to do.
std::pair<std::string, std::string> start_problem(int code) {
  using namespace driver_code;
  // Without /dev/kfd the runtime says the one or the other.
  if (code == no_device || code == invalid_device) {
    return {"there is no GPU that this process may use",
            "see rocminfo, ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES; /dev/kfd and /dev/dri "
            "need the groups render and video, in a container --device as well"};
  }
  if (code == insufficient_driver) {
    return {"the kernel's amdgpu is too old for this library",
            "update amdgpu, or take an older ROCm"};
  }
  return {"the HIP runtime does not start", "see rocminfo and dmesg | grep -i amdgpu"};
}

/// The kernel's driver tells of the clock, and of what holds it down only in forms that differ from
/// one GPU to the next.
std::optional<DeviceState> state_of(const std::string& pci_address) {
  const auto frequency = gpu_frequency(running_system(), pci_address);
  return frequency ? std::optional(DeviceState{frequency, ""}) : std::nullopt;
}

/// The first of them that can be loaded; or why the newest that is there cannot be.
std::optional<std::pair<Library, std::string>> load(std::string& problem) {
  for (const char* version : hip_versions) {
    const std::string name = std::string("libamdhip64.so.") + version;
    Library library(name.c_str(), "libamdhip64-5");
    if (library.problem().empty()) return std::pair(std::move(library), std::string(version));
    if (problem.empty() && !is_absent(library, name)) problem = library.problem();
  }
  return std::nullopt;
}

}  // namespace

RuntimeState probe_hip() {
  std::string problem;
  const auto library = load(problem);
  if (!library && problem.empty()) {
    return unusable("hip", "libamdhip64.so.7, .6 or .5 was not found",
                    "AMD's ROCm is not installed, or LD_LIBRARY_PATH lacks its folder "
                    "(/opt/rocm/lib)");
  }
  if (!library) return unusable("hip", problem, "AMD's ROCm is only partly installed");
  Vendor vendor;
  vendor.name = "hip";
  vendor.library = "libamdhip64";
  vendor.call_names = CallNames::hip;
  vendor.words = hip_words();
  vendor.later_version = "requires a later ROCm";
  // The same numbers in ROCm 5, 6 and 7.
  vendor.attributes = {.copy_engines = 2,
                       .maps_host_memory = 3,
                       .multiprocessors = 63,
                       .threads = 57,
                       .shared_cache = 19,
                       .memory_clock = 60,
                       .bus_width = 59};
  // 50221153 is 5.2.21153: major * 10^7 + minor * 10^5 + patch.
  vendor.version_text = [](int version) {
    return fmt::format("{}.{}", version / 10'000'000, version / 100'000 % 100);
  };
  vendor.start_problem = start_problem;
  vendor.kernels = [compiler = hip::Compiler(library->first, library->second)] {
    return compiler.compile(kernels_hip);
  };
  vendor.state = state_of;
  return start_driver(library->first, std::move(vendor));
}

}  // namespace numatlas
