// Files on persistent memory, by libpmem: pmem:DIR.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/signals.h"
#include "memory/folder.h"
#include "memory/libpmem.h"

namespace numatlas {
namespace {

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

Expected<std::unique_ptr<Buffer>> make_pmem(const Region& region) {
  TRY(check_pmem());
  TRY(check_room(region, region.bytes.value));
  const std::string folder = source_value(region.placement);
  MappedFile file = map_file(folder, region.bytes.value, pmem_file_create | pmem_file_tmpfile);
  // Without O_TMPFILE libpmem takes the name off a new file before it gives it its size, which some
  // file systems refuse (9p: ENOENT); others refuse at once.
  const bool no_unnamed =
      errno == ENOTSUP || errno == EISDIR || errno == EINVAL || errno == ENOENT || errno == EIO;
  if (file.start == nullptr && no_unnamed) file = map_named_file(folder, region.bytes.value);
  if (file.start == nullptr) return file_error(region, "pmem_map_file", errno);
  const bool direct = maps_directly(folder).value_or(file.is_pmem != 0 && !pmem_is_forced());
  const bool is_pmem = file.is_pmem != 0;
  Buffer::Functions functions;
  functions.free = [file] { libpmem().unmap(file.start, file.bytes); };
  functions.residency = [start = file.start, bytes = region.bytes.value, folder,
                         direct](const ProcessMappings& mappings) {
    return file_residency(start, bytes, folder, direct, mappings);
  };
  functions.persist = [folder, is_pmem](const void* start, std::size_t bytes) -> Expected<void> {
    if (is_pmem) {
      libpmem().persist(start, bytes);
      return {};
    }
    if (libpmem().msync(start, bytes) == 0) return {};
    return fail_about(ErrorKind::io, folder, fmt::format("pmem_msync: {}", errno_text(errno)));
  };
  return std::make_unique<Buffer>(file.start, region.bytes.value,
                                  PolicyOutcome{"pmem_map_file", note_of(folder, is_pmem, direct)},
                                  std::move(functions));
}

SourceState libpmem_state() {
  if (const auto there = check_pmem(); !there)
    return {"libpmem (pmem:, dax:)", false, with_hint(libpmem().problem, there.error())};
  return {"libpmem (pmem:, dax:)", true,
          pmem_is_forced()
              ? "loaded; PMEM_IS_PMEM_FORCE=1 makes it treat any file as persistent memory"
              : "loaded"};
}

/// Of the options of a mount, separated by commas.
bool is_dax(const std::string& options) {
  std::istringstream words(options);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "dax" || (word.starts_with("dax=") && word != "dax=never")) return true;
  }
  return false;
}

SourceState file_system_state() {
  std::vector<std::string> found;
  for (const Mount& mount : mounts())
    if (is_dax(mount.options))
      found.push_back(fmt::format("{} ({} on {})", mount.folder, mount.type, mount.device));
  return {
      "DAX file systems", !found.empty(),
      found.empty() ? "none is mounted with -o dax" : fmt::format("{}", fmt::join(found, ", "))};
}

class PmemSource final : public MemorySource {
 public:
  PmemSource() : MemorySource({.word = "pmem", .forms = {"pmem:DIR"}, .persistent = true}) {}
  Expected<std::string> parse(std::string_view value) const override {
    return parse_path(value, "pmem", "folder", "pmem:/mnt/pmem0");
  }
  Expected<void> probe(const MemoryPlacement& placement) const override {
    TRY(check_pmem());
    return check_folder(placement);
  }
  Expected<std::optional<Room>> room(const MemoryPlacement& placement) const override {
    return folder_room(source_value(placement));
  }
  Expected<std::unique_ptr<Buffer>> make(const Region& region) const override {
    return make_pmem(region);
  }
  std::vector<SourceState> describe(const Machine&) const override {
    return {libpmem_state(), file_system_state()};
  }
  bool uses_nodes(const MemoryPlacement& placement, const Machine& machine) const override {
    return is_node_memory(source_value(placement), machine);
  }
};

}  // namespace

const MemorySource& pmem_source() {
  static const PmemSource source;
  return source;
}

}  // namespace numatlas
