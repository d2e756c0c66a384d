// Internal: what the drivers of all vendors share: entry points looked up by name, errors in words.
// CUDA's and HIP's error numbers mean the same.
#pragma once

#include <string>

#include "base/error.h"
#include "memory/library.h"

namespace numatlas {

enum class Need { all, feature };  ///< of everything; of what it names alone

/// A library's entry points, and the first one missing that everything needs.
class Symbols {
 public:
  explicit Symbols(const Library& library) : library_(library) {}
  /// nullptr for a `symbol` of nullptr, which nothing needs.
  void* find(const char* symbol, Need need) {
    if (symbol == nullptr) return nullptr;
    void* const found = library_.find(symbol);
    if (found == nullptr && need == Need::all && missing_.empty()) missing_ = symbol;
    return found;
  }
  const std::string& missing() const { return missing_; }

 private:
  Library library_;  // a copy: it is never closed
  std::string missing_;
};

/// One function of a driver; 0 is success with all of them.
template <class... Parameters>
struct Entry {
  Entry(Symbols& symbols, const char* its_symbol, Need need = Need::all)
      : symbol(its_symbol),
        function(reinterpret_cast<int (*)(Parameters...)>(symbols.find(its_symbol, need))) {}
  const char* symbol;
  int (*function)(Parameters...);
};

/// How errors of one vendor's driver read.
struct DriverWords {
  std::string driver;       ///< "CUDA driver"
  std::string lost_hint;    ///< where to look when a device is lost
  std::string memory_hint;  ///< where to look when its memory is used up
};

/// "cuMemAlloc" of "cuMemAlloc_v2": as the driver's documents name it.
std::string call_name(const char* symbol);
/// "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)", its kind and what to do.
Error call_error(const DriverWords& words, const char* symbol, int code, const char* name);

/// Error numbers that CUDA and HIP share.
namespace driver_code {
inline constexpr int invalid_value = 1, out_of_memory = 2, stub_library = 34,
                     insufficient_driver = 35, device_unavailable = 46, no_device = 100,
                     invalid_device = 101, no_binary = 209, ecc = 214, peer_unsupported = 217,
                     too_many_peers = 711, invalid_ptx = 218, nvlink = 220, no_jit = 221,
                     ptx_version = 222, operating_system = 304, not_found = 500,
                     illegal_address = 700, launch_timeout = 702, peer_already = 704,
                     context_destroyed = 709, registered_already = 712, not_registered = 713,
                     hardware_stack = 714, invalid_pc = 718, launch_failed = 719,
                     not_permitted = 800, not_supported = 801, not_ready = 802, mismatch = 803,
                     compat = 804, unknown = 999;
}  // namespace driver_code

}  // namespace numatlas
