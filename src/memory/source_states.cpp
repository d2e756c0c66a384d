#include "memory/source_states.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <sstream>

#include "memory/libpmem.h"
#include "memory/sources.h"

namespace numatlas {
namespace {

SourceState libpmem_state() {
  if (const auto there = check_pmem(); !there)
    return {"libpmem (pmem:, dax:)", false, with_hint(libpmem().problem, there.error())};
  return {"libpmem (pmem:, dax:)", true,
          pmem_is_forced()
              ? "loaded; PMEM_IS_PMEM_FORCE=1 makes it treat any file as persistent memory"
              : "loaded"};
}

SourceState memkind_state() {
  const auto kinds = available_kinds();
  if (!kinds) return {"memkind", false, with_hint(kinds.error().message, kinds.error())};
  return {"memkind", true, fmt::format("kinds available: {}", fmt::join(*kinds, ", "))};
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
  std::ifstream mounts("/proc/self/mountinfo");
  // "36 35 259:0 / /mnt/pmem0 rw,noatime shared:1 - ext4 /dev/pmem0 rw,dax=always": see proc(5).
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string word, folder, type, device, options;
    for (int field = 0; field < 5; ++field) words >> folder;
    while (words >> word && word != "-") {
    }
    if (words >> type >> device >> options && is_dax(options))
      found.push_back(fmt::format("{} ({} on {})", folder, type, device));
  }
  return {
      "DAX file systems", !found.empty(),
      found.empty() ? "none is mounted with -o dax" : fmt::format("{}", fmt::join(found, ", "))};
}

SourceState device_state(const Machine& machine) {
  std::vector<std::string> good, bad;
  for (const PersistentMemory& memory : machine.persistent_memory) {
    if (memory.mode != "devdax") continue;
    MemoryPlacement placement;
    placement.source = "dax:/dev/" + memory.name;
    const auto device = find_dax(placement);
    if (device) {
      good.push_back(fmt::format("/dev/{} {}", memory.name, to_rounded_text(Bytes{device->size})));
    } else {
      bad.push_back(fmt::format("/dev/{}: {}", memory.name, device.error().message));
    }
  }
  std::vector<std::string> all = good;
  all.insert(all.end(), bad.begin(), bad.end());
  return {"DAX devices", !good.empty(),
          all.empty() ? "no device in mode devdax" : fmt::format("{}", fmt::join(all, ", "))};
}

}  // namespace

std::vector<SourceState> source_states(const Machine& machine) {
  return {libpmem_state(), memkind_state(), file_system_state(), device_state(machine)};
}

}  // namespace numatlas
