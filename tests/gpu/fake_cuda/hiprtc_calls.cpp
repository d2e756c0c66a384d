// A libhiprtc.so.7 of our own, for the fake libamdhip64.so.7: its "code" is the source itself.
// NUMATLAS_FAKE_CUDA_RTC=CODE (fake.h) makes it fail.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int compilation_failed = 6, invalid_program = 4;
constexpr const char* error_log =
    "numatlas.hip:1:1: warning: a test\nnumatlas.hip:2:3: error: a test\n";

struct Program {
  std::string source, image, log;
};

int copy_out(const std::string& text, char* out) {
  std::memcpy(out, text.c_str(), text.size() + 1);
  return 0;
}

}  // namespace

#define FAKE_RTC extern "C" __attribute__((visibility("default"))) int

FAKE_RTC hiprtcCreateProgram(void** program, const char* source, const char*, int, const char**,
                             const char**) {
  *program = new Program{source, {}, {}};
  return 0;
}
FAKE_RTC hiprtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return 0;
}
FAKE_RTC hiprtcCompileProgram(void* handle, int options, const char**) {
  auto& program = *static_cast<Program*>(handle);
  const char* const code = std::getenv("NUMATLAS_FAKE_CUDA_RTC");
  if (code != nullptr || options != 0) {
    program.log = error_log;
    return code != nullptr ? std::atoi(code) : compilation_failed;
  }
  program.image = "fake code object " + program.source;
  return 0;
}
FAKE_RTC hiprtcGetCodeSize(void* handle, std::size_t* bytes) {
  const std::string& image = static_cast<Program*>(handle)->image;
  *bytes = image.size() + 1;
  return image.empty() ? invalid_program : 0;
}
FAKE_RTC hiprtcGetCode(void* handle, char* code) {
  return copy_out(static_cast<Program*>(handle)->image, code);
}
FAKE_RTC hiprtcGetProgramLogSize(void* handle, std::size_t* bytes) {
  *bytes = static_cast<Program*>(handle)->log.size() + 1;
  return 0;
}
FAKE_RTC hiprtcGetProgramLog(void* handle, char* log) {
  return copy_out(static_cast<Program*>(handle)->log, log);
}
extern "C" __attribute__((visibility("default"))) const char* hiprtcGetErrorString(int code) {
  return code == compilation_failed ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR_INTERNAL_ERROR";
}
