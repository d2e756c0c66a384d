// Files on persistent memory, by libpmem: pmem:DIR.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/environment.h"
#include "base/signals.h"
#include "memory/libpmem.h"
#include "memory/library.h"
#include "memory/sources.h"

namespace numatlas {
namespace {

LibPmem load_libpmem() {
  LibPmem table;
  Library library("libpmem.so.1", "libpmem1");
  library.get(table.map_file, "pmem_map_file");
  library.get(table.unmap, "pmem_unmap");
  library.get(table.persist, "pmem_persist");
  library.get(table.msync, "pmem_msync");
  table.problem = library.problem();
  table.hint = library.hint();
  return table;
}

/// A file, mapped by libpmem; it has no name any more.
class PmemBuffer final : public Buffer {
 public:
  PmemBuffer(void* start, std::size_t mapped, const Region& region, bool is_pmem, bool direct)
      : start_(static_cast<std::byte*>(start)),
        mapped_(mapped),
        bytes_(region.bytes.value),
        folder_(source_of(region.placement).name),
        is_pmem_(is_pmem),
        direct_(direct) {
    policy_.mechanism = "pmem_map_file";
  }
  ~PmemBuffer() override { libpmem().unmap(start_, mapped_); }
  PmemBuffer(const PmemBuffer&) = delete;
  PmemBuffer& operator=(const PmemBuffer&) = delete;

  std::byte* data() const override { return start_; }
  std::size_t bytes() const override { return bytes_; }
  Residency residency() const override { return file_residency(start_, bytes_, folder_, direct_); }
  const PolicyOutcome& policy() const override { return policy_; }
  Expected<void> persist(const void* start, std::size_t bytes) const override {
    if (is_pmem_) {
      libpmem().persist(start, bytes);
      return {};
    }
    if (libpmem().msync(start, bytes) == 0) return {};
    return fail_about(ErrorKind::io, folder_, fmt::format("pmem_msync: {}", errno_text(errno)));
  }
  bool persistent() const override { return true; }
  void note(std::string text) { policy_.note = std::move(text); }

 private:
  std::byte* start_;
  std::size_t mapped_, bytes_;
  std::string folder_;
  bool is_pmem_, direct_;
  PolicyOutcome policy_;
};

struct MappedFile {
  void* start = nullptr;
  std::size_t bytes = 0;
  int is_pmem = 0;
};

/// pmem_map_file; a file system may break off the search for blocks at any signal.
MappedFile map_once(const std::string& path, std::size_t bytes, int flags) {
  MappedFile file;
  errno = 0;
  file.start = libpmem().map_file(path.c_str(), bytes, flags, 0600, &file.bytes, &file.is_pmem);
  return file;
}
bool again(const MappedFile& file) {
  return file.start == nullptr && errno == EINTR && !stop_requested();
}

MappedFile map_file(const std::string& path, std::size_t bytes, int flags) {
  MappedFile file;
  do file = map_once(path, bytes, flags);
  while (again(file));
  return file;
}

/// A name that no other process uses, also on a file system that hosts share.
std::string own_name(const std::string& folder) {
  static std::atomic<unsigned> counter{0};
  utsname system{};
  (void)uname(&system);
  return fmt::format("{}/.numatlas-{}-{}-{}", folder, system.nodename, getpid(), counter++);
}

/// For file systems without unnamed files.
MappedFile map_named_file(const std::string& folder, std::size_t bytes) {
  MappedFile file;
  do {
    const std::string path = own_name(folder);  // a new one each time: the old one may stand yet
    file = map_once(path, bytes, pmem_file_create | pmem_file_excl);
    const int error = errno;
    // libpmem takes away what it made and could not map; not in all versions when space ran out.
    if (file.start != nullptr || error != EEXIST) (void)unlink(path.c_str());
    errno = error;
  } while (again(file));
  return file;
}

std::string note_of(const std::string& folder, bool is_pmem, bool direct) {
  const bool forced = pmem_is_forced();
  if (is_pmem && (direct || !forced)) return {};
  const std::string where = fmt::format("{} is not real persistent memory: ", folder);
  if (direct) {
    return where + "DAX on " + file_system_of(folder) +
           ", but libpmem does not treat it as such (no MAP_SYNC, or PMEM_IS_PMEM_FORCE=0)";
  }
  return page_cache_note(folder) +
         (is_pmem && forced ? ", which PMEM_IS_PMEM_FORCE=1 makes libpmem treat as such" : "");
}

}  // namespace

LibPmem& libpmem() {
  static LibPmem table = load_libpmem();
  return table;
}

bool pmem_is_forced() {
  const char* value = environment_variable("PMEM_IS_PMEM_FORCE");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

Expected<void> check_pmem() {
  const LibPmem& library = libpmem();
  if (library.problem.empty()) return {};
  return fail_about(ErrorKind::unavailable, "--memory pmem", "needs libpmem: " + library.problem,
                    library.hint);
}

Expected<std::unique_ptr<Buffer>> allocate_pmem(const Region& region) {
  if (auto there = check_pmem(); !there) return fail(there.error());
  if (auto room = check_room(region, region.bytes.value); !room) return fail(room.error());
  const std::string folder = source_of(region.placement).name;
  MappedFile file = map_file(folder, region.bytes.value, pmem_file_create | pmem_file_tmpfile);
  // Without O_TMPFILE libpmem takes the name off a new file before it gives it its size, which some
  // file systems refuse (9p: ENOENT); others refuse at once.
  const bool no_unnamed =
      errno == ENOTSUP || errno == EISDIR || errno == EINVAL || errno == ENOENT || errno == EIO;
  if (file.start == nullptr && no_unnamed) file = map_named_file(folder, region.bytes.value);
  if (file.start == nullptr) return file_error(region, "pmem_map_file", errno);
  const bool direct = maps_directly(folder).value_or(file.is_pmem != 0 && !pmem_is_forced());
  auto buffer =
      std::make_unique<PmemBuffer>(file.start, file.bytes, region, file.is_pmem != 0, direct);
  buffer->note(note_of(folder, file.is_pmem != 0, direct));
  return buffer;
}

}  // namespace numatlas
