// Memory of the library memkind: memkind:KIND, and memkind:DIR for its kind of a file.
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "memory/folder.h"
#include "memory/library.h"
#include "memory/pools.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

/// A kind, which is opaque (memkind_t).
using Kind = struct memkind*;

/// MEMKIND_ERROR_MESSAGE_SIZE.
constexpr std::size_t message_size = 128;

/// The few functions that are used, declared here so that no headers are needed to build.
struct LibMemkind {
  int (*check_available)(Kind kind) = nullptr;
  int (*posix_memalign)(Kind kind, void** start, std::size_t alignment,
                        std::size_t bytes) = nullptr;
  void (*free)(Kind kind, void* start) = nullptr;
  int (*create_pmem)(const char* folder, std::size_t most, Kind* kind) = nullptr;
  int (*destroy_kind)(Kind kind) = nullptr;
  void (*error_message)(int error, char* message, std::size_t bytes) = nullptr;
  Library library{"libmemkind.so.0", "libmemkind0"};

  LibMemkind() {
    library.get(check_available, "memkind_check_available");
    library.get(posix_memalign, "memkind_posix_memalign");
    library.get(free, "memkind_free");
    library.get(create_pmem, "memkind_create_pmem");
    library.get(destroy_kind, "memkind_destroy_kind");
    library.get(error_message, "memkind_error_message");
  }
  /// The variable of a kind; nullptr where this library has none of that name. Its tables of
  /// functions (MEMKIND_HBW_OPS) are no kinds.
  Kind find_kind(const std::string& name) const {
    if (name.ends_with("_OPS")) return nullptr;
    const auto* const variable = static_cast<Kind*>(library.find("MEMKIND_" + name));
    return variable == nullptr ? nullptr : *variable;
  }
};

const LibMemkind& libmemkind() {
  static const LibMemkind table;
  return table;
}

/// The library's own numbers are negative.
std::string error_text(int error) {
  if (error > 0) return errno_text(error);
  char text[message_size] = "";
  libmemkind().error_message(error, text, sizeof text);
  return text;
}

/// A kind of a file in a folder, for as long as a buffer has memory of it. The file has no name
/// from the start. One a folder for all threads: each kind has four arenas a CPU, and the library
/// has some thousands in all.
Expected<std::shared_ptr<memkind>> folder_kind(const Region& region) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<memkind>> kinds;
  const std::lock_guard lock(mutex);
  const std::string folder = source_value(region.placement);
  std::weak_ptr<memkind>& known = kinds[folder];
  if (auto kind = known.lock()) return kind;
  Kind kind = nullptr;
  if (const int error = libmemkind().create_pmem(folder.c_str(), 0, &kind); error != 0) {
    return fail_about(ErrorKind::io, subject_of(region.placement),
                      fmt::format("memkind_create_pmem: {}", error_text(error)));
  }
  std::shared_ptr<memkind> made(kind, [](Kind mine) { libmemkind().destroy_kind(mine); });
  known = made;
  return made;
}

bool has_huge_pages(const std::string& kind) { return kind.find("TLB") != std::string::npos; }

/// What the library gives again may have been another thread's: its pages go back, so that they are
/// where their next first touch puts them. Not those of a pool, which may not come again.
void forget_pages(void* start, std::size_t bytes) {
  const std::size_t page = kernel::page_size();
  const std::size_t whole = bytes / page * page;
  if (whole > 0) (void)madvise(start, whole, MADV_DONTNEED);
}

/// Of a folder, not of a kind by its name.
bool is_folder(const MemoryPlacement& placement) {
  return source_value(placement).find('/') != std::string::npos;
}

Expected<void> check_memkind(const MemoryPlacement& placement) {
  TRY(libmemkind().library.check("memkind"));
  if (is_folder(placement)) return {};
  const std::string name = source_value(placement);
  const std::string subject = subject_of(placement);
  const Kind kind = libmemkind().find_kind(name);
  if (kind == nullptr) {
    return fail_usage(subject, "libmemkind has no such kind",
                      fmt::format("kinds are named as in memkind(3), such as DAX_KMEM and HBW; a "
                                  "folder has a slash in it: ./{}",
                                  name));
  }
  if (const int error = libmemkind().check_available(kind); error != 0) {
    return fail_about(ErrorKind::unavailable, subject, error_text(error));
  }
  return {};
}

/// What memkind takes of a file for so many bytes.
std::uint64_t file_bytes(std::uint64_t bytes) {
  // jemalloc has four sizes from one power of two to the next, and pads by a page; its own tables
  // of a folder's kind lie elsewhere.
  constexpr std::uint64_t pad = 64 * kib;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (bytes > most / 2) return most;
  std::uint64_t power = 4 * pad;
  while (power * 2 < bytes + pad) power *= 2;
  return (bytes + pad + power / 4 - 1) / (power / 4) * (power / 4);
}

Expected<std::unique_ptr<Buffer>> make_memkind(const Region& region) {
  TRY(check_memkind(region.placement));
  const std::string name = source_value(region.placement);
  const bool in_folder = is_folder(region.placement);
  std::shared_ptr<memkind> owner;
  if (in_folder) {
    TRY(check_fits({region}, running_nodes()));
    owner = TRY(folder_kind(region));
  }
  const Kind kind = in_folder ? owner.get() : libmemkind().find_kind(name);
  const bool huge = !in_folder && has_huge_pages(name);
  const std::size_t alignment =
      huge ? huge_page_size(PageKind::huge_2m).value : kernel::page_size();
  void* start = nullptr;
  const int error = libmemkind().posix_memalign(kind, &start, alignment, region.bytes.value);
  if (error != 0 || start == nullptr) {
    return fail_about(ErrorKind::resource, subject_of(region.placement),
                      fmt::format("memkind_posix_memalign of {} failed: {}",
                                  to_rounded_text(region.bytes), error_text(error)));
  }
  constexpr const char* call = "memkind_posix_memalign";
  Buffer::Functions functions{.free = [kind, owner, start] { libmemkind().free(kind, start); }};
  if (in_folder)
    return file_buffer(region, start, call, maps_directly(name).value_or(false),
                       std::move(functions));
  if (!huge) forget_pages(start, region.bytes.value);
  return std::make_unique<Buffer>(start, region.bytes.value, PolicyOutcome{call, ""},
                                  std::move(functions));
}

}  // namespace

MemorySource memkind_source() {
  return {.word = "memkind",
          .forms = {"memkind:KIND", "memkind:DIR"},
          .parse =
              [](std::string_view value) {
                const bool folder = value.find('/') != std::string_view::npos;
                return parse_path(folder ? value : trim(value), "memkind", "kind and no folder",
                                  "memkind:DAX_KMEM or memkind:/mnt/pmem0");
              },
          .probe = [](const MemoryPlacement& placement) -> Expected<void> {
            TRY(check_memkind(placement));
            return is_folder(placement) ? check_folder(placement) : Expected<void>();
          },
          .room = [](const MemoryPlacement& placement) -> std::optional<Room> {
            if (!is_folder(placement)) return std::nullopt;
            return folder_room(source_value(placement));
          },
          .taken = file_bytes,
          .make = make_memkind,
          .describe = [] { return library_state("memkind", libmemkind().library); },
          .on_device = is_folder,
          .uses_nodes =
              [](const MemoryPlacement& placement, const Machine& machine) {
                return !is_folder(placement) || is_node_memory(source_value(placement), machine);
              }};
}

}  // namespace numatlas
