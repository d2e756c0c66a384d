#include "advise/process_tree.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/process_stat.h"

namespace numatlas {
namespace {

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

std::vector<pid_t> processes_below(pid_t root) {
  std::vector<pid_t> all{root};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto children = children_of(all[i]).value_or(std::vector<pid_t>{});
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
  const Tree& system = running_system();
  const auto status = system.text(fmt::format("/proc/{}/status", process)).value_or("");
  ProcessState state;
  state.threads = std::atoi(value_of(status, "Threads").value_or("0").c_str());
  if (state.threads == 0) return std::nullopt;
  std::istringstream rollup(
      system.text(fmt::format("/proc/{}/smaps_rollup", process)).value_or(""));
  read_rollup(rollup, state);
  return state;
}

std::vector<CpuSet> thread_cpus(pid_t process) {
  const std::string tasks = fmt::format("/proc/{}/task/", process);
  std::vector<CpuSet> all;
  for (const std::string& task : running_system().names(tasks)) {
    const auto status = running_system().text(tasks + task + "/status").value_or("");
    const auto list = value_of(status, "Cpus_allowed_list");
    if (!list) continue;
    if (auto cpus = parse_list<CpuId>(*list)) all.push_back(*std::move(cpus));
  }
  return all;
}

bool has_mapped(pid_t process, const std::vector<std::string>& names) {
  const auto maps =
      running_system().text(fmt::format("/proc/{}/maps", process), whole_file).value_or("");
  return std::ranges::any_of(
      names, [&](const std::string& name) { return maps.find(name) != std::string::npos; });
}

}  // namespace numatlas
