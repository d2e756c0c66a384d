// Internal: hiprtc, which compiles kernels for AMD's GPUs at run time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "memory/library.h"

namespace numatlas::hip {

class Compiler {
 public:
  /// `runtime` is libamdhip64, of the version in the library's name: "7". hiprtc is libhiprtc.so of
  /// the same version, or in releases before there was one a part of the runtime itself. It is
  /// loaded when it is first needed.
  Compiler(Library runtime, std::string version)
      : runtime_(std::move(runtime)), version_(std::move(version)) {}

  /// The code for the device that is current in the calling thread. Error (unavailable): there is
  /// no hiprtc, or it cannot compile this; with the first error of its log.
  Expected<std::vector<char>> compile(const char* source) const;

 private:
  Library runtime_;
  std::string version_;
};

}  // namespace numatlas::hip
