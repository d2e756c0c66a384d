#include "gpu/driver/calls.h"

#include <utility>

#include <fmt/format.h>

namespace numatlas {
namespace {

/// What a number means to who called; kinds as runtime.h promises them.
struct Meaning {
  ErrorKind kind = ErrorKind::internal;
  std::string hint;
};

/// After these a device does nothing more for this process.
bool device_is_lost(int code) {
  using namespace driver_code;
  switch (code) {
    case ecc:
    case nvlink:
    case illegal_address:
    case launch_timeout:
    case context_destroyed:
    case unknown: return true;
    default: return code >= hardware_stack && code <= launch_failed;
  }
}

Meaning meaning_of(const DriverWords& words, int code) {
  using namespace driver_code;
  if (device_is_lost(code)) return {ErrorKind::io, words.lost_hint};
  switch (code) {
    case out_of_memory: return {ErrorKind::resource, words.memory_hint};
    case device_unavailable:
      return {ErrorKind::unavailable,
              "another process holds the GPU exclusively, or its compute mode forbids access: "
              "nvidia-smi -q -d COMPUTE"};
    case too_many_peers:
      return {ErrorKind::unavailable, "this GPU already has its maximum number of peers"};
    case no_device:
    case not_supported:
    case peer_unsupported: return {ErrorKind::unavailable, "this GPU or its driver cannot do that"};
    case no_binary:
    case invalid_ptx:
    case no_jit:
    case ptx_version:
      return {ErrorKind::unavailable,
              "the driver cannot compile this program's kernels for the GPU"};
    case registered_already:
      return {ErrorKind::internal, "the memory, or a part of it, is already pinned"};
    case not_registered: return {ErrorKind::internal, "the memory was not pinned by this call"};
    case not_permitted:
      return {ErrorKind::permission,
              "the system or the container does not permit it: request more rights or devices"};
    case operating_system:
      return {ErrorKind::io,
              "the operating system refused the driver: the end of dmesg, ulimit -l"};
    default: return {};
  }
}

}  // namespace

std::string call_name(const char* symbol) {
  std::string name = symbol;
  if (name.ends_with("_v2")) name.resize(name.size() - 3);
  return name;
}

Error call_error(const DriverWords& words, const char* symbol, int code, const char* name) {
  Meaning meaning = meaning_of(words, code);
  return {meaning.kind,
          name == nullptr ? fmt::format("{}: error {}", call_name(symbol), code)
                          : fmt::format("{}: {} ({})", call_name(symbol), name, code),
          std::move(meaning.hint)};
}

}  // namespace numatlas
