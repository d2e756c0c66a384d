// For libFuzzer: the reader that NUMATLAS_FUZZ_READER names.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "readers.h"

namespace {
const numatlas::testing::Reader* reader = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  const char* const name = std::getenv("NUMATLAS_FUZZ_READER");
  reader = numatlas::testing::find_reader(name == nullptr ? "" : name);
  if (reader != nullptr) return 0;
  std::fprintf(stderr, "NUMATLAS_FUZZ_READER names none of the readers:");
  for (const auto& one : numatlas::testing::readers())
    std::fprintf(stderr, " %s", one.name.c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  reader->read(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
