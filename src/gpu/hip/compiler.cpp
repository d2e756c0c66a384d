#include "gpu/hip/compiler.h"

#include <cstddef>
#include <sstream>

#include <fmt/format.h>

#include "gpu/driver/calls.h"

namespace numatlas::hip {
namespace {

using Program = void*;

/// hiprtc in declarations of our own; its functions are the same in ROCm 5, 6 and 7.
struct RtcApi {
  explicit RtcApi(const Library& library) : symbols(library) {}

  Symbols symbols;
  Entry<Program*, const char*, const char*, int, const char**, const char**> create{
      symbols, "hiprtcCreateProgram"};
  Entry<Program, int, const char**> compile{symbols, "hiprtcCompileProgram"};
  Entry<Program, std::size_t*> code_size{symbols, "hiprtcGetCodeSize"};
  Entry<Program, char*> code{symbols, "hiprtcGetCode"};
  Entry<Program, std::size_t*> log_size{symbols, "hiprtcGetProgramLogSize"};
  Entry<Program, char*> log{symbols, "hiprtcGetProgramLog"};
  Entry<Program*> destroy{symbols, "hiprtcDestroyProgram"};
  const char* (*error_text)(int) =
      reinterpret_cast<const char* (*)(int)>(symbols.find("hiprtcGetErrorString", Need::feature));
};

/// The first line of a log that is an error; else its first line.
std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error:") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

/// A program of hiprtc, for as long as it is compiled.
class Compilation {
 public:
  explicit Compilation(const RtcApi& api) : api_(api) {}
  ~Compilation() {
    if (program_ != nullptr) (void)api_.destroy.function(&program_);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  Expected<std::vector<char>> run(const char* source) {
    int code = api_.create.function(&program_, source, "numatlas.hip", 0, nullptr, nullptr);
    if (code != 0) return failed(api_.create.symbol, code);
    // Without an option for it the code is for the current device.
    code = api_.compile.function(program_, 0, nullptr);
    if (code != 0) return failed(api_.compile.symbol, code);
    std::size_t bytes = 0;
    code = api_.code_size.function(program_, &bytes);
    if (code != 0) return failed(api_.code_size.symbol, code);
    std::vector<char> image(bytes);
    code = api_.code.function(program_, image.data());
    if (code != 0) return failed(api_.code.symbol, code);
    return image;
  }

 private:
  std::string log() const {
    std::size_t bytes = 0;
    if (program_ == nullptr || api_.log_size.function(program_, &bytes) != 0 || bytes == 0)
      return {};
    std::string text(bytes, '\0');
    if (api_.log.function(program_, text.data()) != 0) return {};
    text.resize(text.find('\0') == std::string::npos ? bytes : text.find('\0'));
    return text;
  }
  tl::unexpected<Error> failed(const char* symbol, int code) const {
    const char* const name = api_.error_text == nullptr ? nullptr : api_.error_text(code);
    const std::string told = first_error(log());
    return fail(ErrorKind::unavailable,
                fmt::format("{}: {} ({}){}{}", symbol, name == nullptr ? "error" : name, code,
                            told.empty() ? "" : ": ", told),
                "this ROCm cannot compile the kernels for the GPU; copies work without");
  }

  const RtcApi& api_;
  Program program_ = nullptr;
};

}  // namespace

Expected<std::vector<char>> Compiler::compile(const char* source) const {
  const std::string name = "libhiprtc.so." + version_;
  const Library own(name.c_str(), "libhiprtc-builtins5");
  const RtcApi api(own.problem().empty() ? own : runtime_);
  if (!api.symbols.missing().empty()) {
    return fail(ErrorKind::unavailable,
                own.problem().empty() ? fmt::format("{} has no {}", name, api.symbols.missing())
                                      : own.problem(),
                "kernels for AMD's GPUs need hiprtc, a part of ROCm; copies work without");
  }
  return Compilation(api).run(source);
}

}  // namespace numatlas::hip
