// Internal: what the runtimes of all vendors do alike: calls with their errors in words, and the
// device that a call is for made current in the calling thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gpu/driver/calls.h"
#include "gpu/runtime.h"

namespace numatlas {

class VendorRuntime : public DeviceRuntime {
 public:
  std::string name() const override { return name_; }
  std::string description() const override { return description_; }
  const std::vector<DeviceInfo>& devices() const override { return devices_; }

 protected:
  VendorRuntime(std::string name, DriverWords words)
      : name_(std::move(name)), words_(std::move(words)) {}

  /// The driver's name of an error; nullptr where it has none.
  virtual const char* error_name(int code) const = 0;
  /// Makes a device that is there current in the calling thread.
  virtual Expected<void> make_current(int device) = 0;

  Error error_of(const char* symbol, int code) const {
    return call_error(words_, symbol, code, error_name(code));
  }
  /// One call for no device, or for the one that is current.
  template <class... Parameters, class... Arguments>
  Expected<void> call(const Entry<Parameters...>& entry, Arguments... arguments) const {
    if (entry.function == nullptr) return fail(no_entry(entry.symbol));
    const int code = entry.function(arguments...);
    if (code != 0) return fail(error_of(entry.symbol, code));
    return {};
  }
  /// One call for a device.
  template <class... Parameters, class... Arguments>
  Expected<void> call_on(int device, const Entry<Parameters...>& entry, Arguments... arguments) {
    TRY(enter(device));
    return call(entry, arguments...);
  }
  Expected<void> enter(int device) {
    TRY(check(device));
    CurrentDevice& current = current_device();
    if (current.driver == this && current.device == device) return {};
    current = {};
    TRY(make_current(device));
    current = {this, device};
    return {};
  }
  /// Pinning, by the call of the driver for it.
  Expected<void> pin_on(int device, const Entry<void*, std::size_t, unsigned>& entry, void* start,
                        std::size_t bytes, unsigned flags) {
    TRY(enter(device));
    const int code = entry.function(start, bytes, flags);
    if (code == 0) return {};
    Error error = error_of(entry.symbol, code);
    if (code == driver_code::invalid_value) {
      error.kind = ErrorKind::unavailable;
      error.hint = "the driver does not pin this memory; that of files and devices often is so";
    }
    return fail(std::move(error));
  }
  /// The current device reaches a peer; that it does so already is no error.
  template <class Peer>
  Expected<void> peer_on(const Entry<Peer, unsigned>& entry, Peer peer) const {
    if (entry.function == nullptr) return fail(no_entry(entry.symbol));
    const int code = entry.function(peer, 0);
    if (code == 0 || code == driver_code::peer_already) return {};
    return fail(error_of(entry.symbol, code));
  }
  /// A kernel of a module that was loaded; errors name it.
  Expected<FunctionHandle> kernel_of(const Entry<void**, void*, const char*>& entry, void* module,
                                     const std::string& name) const {
    const std::string symbol = kernel_prefix + name;
    FunctionHandle found = nullptr;
    if (auto got = call(entry, &found, module, symbol.c_str()); !got) {
      Error error = std::move(got).error();
      error.message += ": " + symbol;
      return fail(std::move(error));
    }
    return found;
  }
  Expected<void> check(int device) const {
    if (device >= 0 && device < static_cast<int>(devices_.size())) return {};
    return fail(ErrorKind::unavailable,
                words_.driver + ": it has no device " + std::to_string(device));
  }
  Error no_entry(const char* symbol) const {
    return {ErrorKind::unavailable, "the " + words_.driver + " has no " + call_name(symbol),
            "a later driver may have it"};
  }

  std::string name_, description_;
  DriverWords words_;
  std::vector<DeviceInfo> devices_;
};

/// "0000:41:00.0" of what a driver says ("00000000:41:00.0", "0000:C1:00.0"): as sysfs has it.
std::string sysfs_pci_address(std::string address);

/// The state of a driver that is there and cannot be used.
RuntimeState unusable(const std::string& name, std::string message, std::string hint);
/// What stands after a library's name when the dynamic linker does not find the file itself.
bool is_absent(const Library& library, const std::string& name);

}  // namespace numatlas
