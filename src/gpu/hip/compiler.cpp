#include "gpu/hip/compiler.h"

#include <cstddef>
#include <memory>
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

/// Goes with its last copy.
using ProgramHandle = std::shared_ptr<void>;

std::string log_of(const RtcApi& api, const ProgramHandle& program) {
  std::size_t bytes = 0;
  if (!program || api.log_size.function(program.get(), &bytes) != 0 || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (api.log.function(program.get(), text.data()) != 0) return {};
  return text.c_str();
}

Expected<std::vector<char>> compiled(const RtcApi& api, const char* source) {
  ProgramHandle program;
  const auto failed = [&](const char* symbol, int code) {
    const char* const name = api.error_text == nullptr ? nullptr : api.error_text(code);
    const std::string told = first_error(log_of(api, program));
    return fail(ErrorKind::unavailable,
                fmt::format("{}: {} ({}){}{}", symbol, name == nullptr ? "error" : name, code,
                            told.empty() ? "" : ": ", told),
                "this ROCm cannot compile the kernels for the GPU; copies work without");
  };
  Program made = nullptr;
  int code = api.create.function(&made, source, "numatlas.hip", 0, nullptr, nullptr);
  if (code != 0) return failed(api.create.symbol, code);
  program = {made, [&](Program last) { (void)api.destroy.function(&last); }};
  // Without an option for it the code is for the current device.
  code = api.compile.function(made, 0, nullptr);
  if (code != 0) return failed(api.compile.symbol, code);
  std::size_t bytes = 0;
  code = api.code_size.function(made, &bytes);
  if (code != 0) return failed(api.code_size.symbol, code);
  std::vector<char> image(bytes);
  code = api.code.function(made, image.data());
  if (code != 0) return failed(api.code.symbol, code);
  return image;
}

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
  return compiled(api, source);
}

}  // namespace numatlas::hip
