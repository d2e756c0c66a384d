#include "advise/process_tree.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace numatlas {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> tasks_of(pid_t process) {
  std::vector<std::string> tasks;
  std::error_code code;
  fs::directory_iterator entry(fmt::format("/proc/{}/task", process), code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code))
    tasks.push_back(entry->path().string());
  return tasks;
}

/// The number after "Name:" in a line of it; nullopt in others.
std::optional<std::uint64_t> number_after(const std::string& line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  std::string_view rest = std::string_view(line).substr(name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return code == std::errc{} ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> all;
  for (const std::string& task : tasks_of(process)) {
    std::ifstream children(task + "/children");
    for (pid_t child = 0; children >> child;) all.push_back(child);
  }
  return all;
}

std::vector<pid_t> processes_below(pid_t root) {
  std::vector<pid_t> all{root};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto children = children_of(all[i]);
    all.insert(all.end(), children.begin(), children.end());
  }
  return all;
}

void read_rollup(std::istream& file, ProcessState& state) {
  for (std::string line; std::getline(file, line);) {
    // What several processes share counts once among them.
    if (const auto value = number_after(line, "Pss:")) state.resident.value += *value * kib;
    for (const char* name : {"AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:"})
      if (const auto value = number_after(line, name)) state.huge.value += *value * kib;
    for (const char* name : {"Shared_Hugetlb:", "Private_Hugetlb:"}) {
      // Pss has none of these.
      const auto value = number_after(line, name);
      if (!value) continue;
      state.huge.value += *value * kib;
      state.resident.value += *value * kib;
    }
  }
}

std::optional<ProcessState> read_state(pid_t process) {
  ProcessState state;
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);)
    if (const auto value = number_after(line, "Threads:")) state.threads = static_cast<int>(*value);
  if (state.threads == 0) return std::nullopt;
  std::ifstream rollup(fmt::format("/proc/{}/smaps_rollup", process));
  read_rollup(rollup, state);
  return state;
}

std::vector<CpuSet> thread_cpus(pid_t process) {
  constexpr std::string_view name = "Cpus_allowed_list:";
  std::vector<CpuSet> all;
  for (const std::string& task : tasks_of(process)) {
    std::ifstream status(task + "/status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with(name)) continue;
      if (auto cpus = parse_list<CpuId>(line.substr(name.size()))) all.push_back(*std::move(cpus));
    }
  }
  return all;
}

bool has_mapped(pid_t process, const std::vector<std::string>& names) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);)
    for (const std::string& name : names)
      if (line.find(name) != std::string::npos) return true;
  return false;
}

}  // namespace numatlas
