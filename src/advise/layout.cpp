#include "advise/layout.h"

#include <sys/prctl.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/text.h"
#include "placement/policy.h"

namespace numatlas {
namespace {

using Words = std::vector<std::string>;

constexpr const char* tunables_name = "GLIBC_TUNABLES";
constexpr std::string_view heap_setting = "glibc.malloc.hugetlb=";

/// That programs started from here have unless their layout says otherwise.
std::string tunables_now() {
  const char* value = environment_variable(tunables_name);
  return value == nullptr ? "" : value;
}

Expected<void> put_pages_in_force(PageKind pages) {
  const bool off = pages == PageKind::base;
  // Inherited by what this process becomes; no privilege is needed for either way.
  if (prctl(PR_SET_THP_DISABLE, off ? 1UL : 0UL, 0UL, 0UL, 0UL) != 0) {
    const int code = errno;
    return fail_about(code == EPERM ? ErrorKind::permission : ErrorKind::unavailable, "--pages",
                      "prctl(PR_SET_THP_DISABLE): " + errno_text(code));
  }
  const std::string tunables = tunables_with(tunables_now(), pages);
  if (tunables.empty())
    unsetenv(tunables_name);
  else
    setenv(tunables_name, tunables.c_str(), 1);
  return {};
}

std::string list_of(const MemoryPlacement& memory) { return to_list(memory.node_set()); }

/// numactl's word for a placement; nullopt where it has none.
std::optional<std::string> numactl_memory(const MemoryPlacement& memory) {
  switch (memory.mode) {
    case MemoryMode::inherit: return std::nullopt;
    case MemoryMode::local: return "--localalloc";
    case MemoryMode::bind: return "--membind=" + list_of(memory);
    case MemoryMode::prefer:
      return (memory.nodes.size() == 1 ? "--preferred=" : "--preferred-many=") + list_of(memory);
    case MemoryMode::interleave: return "--interleave=" + list_of(memory);
    case MemoryMode::weighted: return "--weighted-interleave=" + list_of(memory);
  }
  return std::nullopt;
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

std::string line_of(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

/// "--cpus", "0-3", "--memory", "bind:0". Without the environment.
Words exec_options(const ProgramLayout& layout) {
  Words words;
  if (layout.cpus) append(words, {"--cpus", to_list(*layout.cpus)});
  if (layout.memory) append(words, {"--memory", layout.memory->text()});
  if (layout.pages) append(words, {"--pages", name_of(*layout.pages)});
  return words;
}

/// NAME=VALUE of the layout's own variables.
Words environment_words(const ProgramLayout& layout) {
  Words words;
  for (const auto& [name, value] : layout.environment) words.push_back(name + "=" + value);
  return words;
}

/// Variables that ask for these pages, beside what they say now; nullopt where none can.
std::optional<Words> page_variables(const ProgramLayout& layout) {
  if (layout.pages == PageKind::base) return std::nullopt;  // takes a system call
  if (!layout.pages) return Words{};
  return Words{fmt::format("{}={}", tunables_name, tunables_with(tunables_now(), *layout.pages))};
}

/// Options of numactl for CPUs and memory; nullopt where it has none for them.
std::optional<Words> numactl_options(const ProgramLayout& layout) {
  Words words;
  if (layout.cpus) words.push_back("--physcpubind=" + to_list(*layout.cpus));
  if (layout.memory) {
    const auto memory = numactl_memory(*layout.memory);
    if (!memory) return std::nullopt;
    words.push_back(*memory);
  }
  if (words.empty()) return std::nullopt;
  return words;
}

}  // namespace

std::string tunables_with(const std::string& before, PageKind pages) {
  std::string kept;
  std::string_view rest = before;
  while (!rest.empty()) {
    const auto end = rest.find(':');
    const std::string_view one = rest.substr(0, end);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    if (one.empty() || one.starts_with(heap_setting)) continue;
    kept += (kept.empty() ? "" : ":") + std::string(one);
  }
  if (pages == PageKind::base) return kept;
  // 1: transparent huge pages; 2 would be pages of the system's default size, which is 512 MiB over
  // base pages of 64 KiB, so the size itself (glibc's manual, "Memory Allocation Tunables").
  return fmt::format("{}{}{}{}", kept, kept.empty() ? "" : ":", heap_setting,
                     pages == PageKind::thp ? 1 : huge_page_size(pages).value);
}

Expected<void> put_in_force(const ProgramLayout& layout) {
  if (layout.cpus) TRY(bind_thread(*layout.cpus));
  if (layout.memory) TRY(apply_to_process(*layout.memory));
  if (layout.pages) TRY(put_pages_in_force(*layout.pages));
  for (const auto& [name, value] : layout.environment) setenv(name.c_str(), value.c_str(), 1);
  return {};
}

std::vector<std::string> ready_lines(const ProgramLayout& layout, const Words& program) {
  std::vector<std::string> lines;
  const auto add = [&](Words tool, const Words& variables) {
    if (!variables.empty()) tool.push_back("env");
    append(tool, variables);
    append(tool, program);
    lines.push_back(line_of(tool));
  };
  const Words own = environment_words(layout);
  if (const Words options = exec_options(layout); !options.empty()) {
    Words exec{"numatlas", "exec"};
    append(exec, options);
    exec.push_back("--");
    add(exec, own);
  }
  const auto pages = page_variables(layout);
  if (!pages) return lines;
  Words variables = own;
  append(variables, *pages);
  if (const auto options = numactl_options(layout)) {
    Words numactl{"numactl"};
    append(numactl, *options);
    add(numactl, variables);
  } else if (!layout.cpus && !layout.memory && !variables.empty()) {
    add({}, variables);
  }
  return lines;
}

}  // namespace numatlas
