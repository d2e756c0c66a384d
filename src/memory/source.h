// Where memory comes from: each source is a file in sources/. CMake makes the list of sources from
// the files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "memory/buffer.h"
#include "memory/library.h"

namespace numatlas {

/// The file system that regions of a source share.
struct Room {
  std::string name;     ///< the same for all that share it
  std::uint64_t bytes;  ///< all of it that regions may take
  std::string text;     ///< after its bytes in an error: "free on ext4"
};

/// One line of `numatlas features`: whether it is available, and what of it, or why not and what to
/// do.
struct SourceState {
  std::string name;
  bool available = false;
  std::string detail;
};

/// A source. Of its functions it names those that it needs.
struct MemorySource {
  /// What stands before the colon in --memory and in MemoryPlacement::source.
  std::string word;
  /// Its forms in help and error messages: {"memkind:KIND", "memkind:DIR"}. None: help does not
  /// name it.
  std::vector<std::string> forms = {};
  bool takes_pages = false;  ///< --pages has a say; else pages are as the source gives them
  bool on_host = true;       ///< it takes memory and addresses of the host
  bool persistent = false;   ///< what is stored there can be made to last

  /// The value of --memory -> as MemoryPlacement::source has it. Errors: usage. None: no value of
  /// --memory names this source.
  Expected<std::string> (*parse)(std::string_view value) = nullptr;
  /// Whether there is such a source here: its library, folder, kind. Errors are about "memory".
  Expected<void> (*probe)(const MemoryPlacement&) = [](const MemoryPlacement&) -> Expected<void> {
    return {};
  };
  /// What its regions share; nullopt: nothing that is limited, or nobody knows its size.
  std::optional<Room> (*room)(const MemoryPlacement&) =
      [](const MemoryPlacement&) -> std::optional<Room> { return std::nullopt; };
  /// What a region of so many bytes takes of it.
  std::uint64_t (*taken)(std::uint64_t bytes) = [](std::uint64_t bytes) { return bytes; };
  /// The memory, as allocate() promises it.
  Expected<std::unique_ptr<Buffer>> (*make)(const Region& region);
  /// What this machine has of it, for `numatlas features`; none: no line.
  SourceState (*describe)() = nullptr;
  /// Whether the memory is a file's or a GPU's, not the nodes'.
  bool (*on_device)(const MemoryPlacement&) = [](const MemoryPlacement&) { return true; };
  /// Whether it counts against the nodes' free memory; none: where it is not on a device.
  bool (*uses_nodes)(const MemoryPlacement&, const Machine&) = nullptr;
};

/// All of them, in the order of their files' names.
const std::vector<MemorySource>& memory_sources();

/// Of a source by a library that is named after it.
SourceState library_state(const std::string& word, const Library& library);

/// The source of a placement that parse_memory_spec or gpu_memory made.
const MemorySource& source_of(const MemoryPlacement& placement);
/// What stands after the colon of its text: a folder, a kind.
std::string source_value(const MemoryPlacement& placement);

/// Which forms of --memory an error's hint lists.
enum class HintsOf { nodes_and_sources, nodes };
/// Parses --memory with the forms of all sources; see placement.h.
Expected<MemorySpec> parse_memory_spec(std::string_view text,
                                       HintsOf hints = HintsOf::nodes_and_sources);
/// "local", "bind:", "pmem:": how the forms of --memory begin, for completion.
std::vector<std::string> memory_words();
/// The sources' forms for help: "memkind:KIND, pmem:DIR".
std::string source_forms();

/// Whether the memory is a file's or a GPU's, not the nodes'.
bool on_device(const MemoryPlacement& placement);

/// N of gpu:N; -1 for memory of the host.
int gpu_of(const MemoryPlacement& placement);
/// Memory of a GPU itself.
MemoryPlacement gpu_memory(int gpu);

}  // namespace numatlas
