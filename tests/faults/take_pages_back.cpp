// Loaded first (LD_PRELOAD): pages of the pool can be mapped, but the first touch ends in SIGBUS,
// as below a limit of a control group that counts faults and not reservations. They are a mapping
// beyond the end of a file.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

extern "C" void* mmap(void* at, std::size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
  using Mmap = void* (*)(void*, std::size_t, int, int, int, off_t);
  static const auto real = reinterpret_cast<Mmap>(dlsym(RTLD_NEXT, "mmap"));
  if ((flags & MAP_HUGETLB) == 0) return real(at, bytes, protection, flags, file, offset);
  const int empty = memfd_create("empty", 0);
  void* const mapped = real(at, bytes, protection, MAP_PRIVATE, empty, 0);
  close(empty);
  return mapped;
}

extern "C" void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file,
                        off64_t offset) noexcept {
  return mmap(at, bytes, protection, flags, file, offset);
}
