#include "readers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "base/test_tree.h"
#include "base/test_tree_text.h"
#include "base/units.h"
#include "compare/results.h"
#include "kernels/chain.h"
#include "kernels/kernel.h"
#include "machine/memory_slots.h"
#include "machine/source.h"
#include "memory/source.h"
#include "placement/placement.h"
#include "published/table.h"
#include "scenario/scenario_file.h"

namespace numatlas::testing {
namespace {

[[noreturn]] void broken(const std::string& what) {
  std::fprintf(stderr, "BROKEN PROMISE: %s\n", what.c_str());
  std::abort();
}

/// An error has something to say.
template <class T>
void check(const Expected<T>& read) {
  if (!read && full_text(read.error()).empty()) broken("an error without a message");
}

/// A file of this content, in memory.
class TextFile {
 public:
  explicit TextFile(std::string_view text) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (file_ < 0) std::exit(1);
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t wrote = write(file_, text.data() + at, text.size() - at);
      if (wrote <= 0) std::exit(1);
      at += static_cast<std::size_t>(wrote);
    }
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { close(file_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

void read_sizes(std::string_view text) {
  check(parse_bytes(text));
  check(parse_bytes(text, mib));
  check(parse_sizes(text));
  check(parse_duration(text));
  check(parse_part(text));
  const auto size = parse_bytes(text);
  if (!size) return;
  const auto again = parse_bytes(to_text(*size));
  if (!again || *again != *size) broken("a size is not read as it is written");
}

void read_placement(std::string_view text) {
  check(parse_memory_spec(text));
  check(parse_cpu_spec(text));
  check(parse_page_kinds(text));
  check(parse_mix(text));
  check(parse_chain_order(text));
  check(parse_ordered_list(text));
  const auto cpus = parse_list<CpuId>(text);
  check(cpus);
  if (!cpus) return;
  const auto again = parse_list<CpuId>(to_list(*cpus));
  if (!again || !(*again == *cpus)) broken("a list is not read as it is written");
}

void read_scenarios_text(std::string_view text) { check(parse_scenarios(text, "fuzz.toml")); }

void read_result(std::string_view text) { check(stored_from_text(std::string(text), "fuzz.json")); }

/// A snapshot, hwloc's XML or a synthetic description: told apart by content.
void read_machine(std::string_view text) {
  const TextFile file(text);
  check(read_recorded_machine(file.path()));
}

/// Machines written as text (tests/trees): the first ones, as hwloc takes long for each.
void read_trees(std::string_view text) {
  const auto trees = trees_in(text);
  for (std::size_t i = 0; i < trees.size() && i < 4; ++i) {
    const RecordedTree tree;
    write_tree(tree, trees, trees[i]);
    const auto machine = read_live_machine(tree.root());
    check(machine);
    if (!machine) continue;
    const TextFile file(to_json(*machine).dump());
    const auto again = read_recorded_machine(file.path());
    if (!again) broken("a snapshot is not read as it is written: " + full_text(again.error()));
  }
}

void read_table(std::string_view text) { check(parse_published(text, "fuzz.csv")); }

void read_modules(std::string_view text) { (void)slots_of_smbios(std::string(text)); }

}  // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all{
      {"sizes", read_sizes},   {"placement", read_placement}, {"scenario", read_scenarios_text},
      {"result", read_result}, {"machine", read_machine},     {"modules", read_modules},
      {"tree", read_trees},    {"table", read_table}};
  return all;
}

const Reader* find_reader(std::string_view name) {
  const auto& all = readers();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Reader& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace numatlas::testing
