#include "machine/cpu_use.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/environment.h"
#include "base/process_stat.h"
#include "machine/allowance.h"

namespace numatlas {
namespace {

using nlohmann::json;

// A twentieth of all CPUs, but half a CPU at most. Kernels and daemons of an idle machine use a
// hundredth of a CPU or so. One core can move a twentieth to a fifth of what a whole socket's
// memory gives, so half a busy core is seen in the figures however many CPUs there are.
constexpr double least_part = 0.05;
constexpr double least_cpus = 0.5;
// Figures are unreliable from a quarter of all CPUs on, or from one program that hardly ever waits.
constexpr double grave_part = 0.25;
constexpr double grave_cpus = 0.75;
// Kernels count CPU time by ticks of up to 10 ms: each CPU's time is known to one of them.
constexpr double tick_seconds = 0.01;
// Of what a process says it used, /proc/stat must count at least this part to be believed.
constexpr double least_counted = 0.5;

constexpr const char* quota_remedy =
    "; use no more threads (--threads) than the quota has CPUs (`numatlas topology`), or raise it "
    "(docker --cpus, Kubernetes limits.cpu, systemd CPUQuota=)";
constexpr const char* quiet_remedy = "; run again when it is quiet";

double ticks_per_second() {
  const long ticks = ::sysconf(_SC_CLK_TCK);
  return ticks > 0 ? static_cast<double>(ticks) : 100.0;
}

Error not_readable(const std::string& path) {
  return {ErrorKind::unavailable, path + " cannot be read", ""};
}

/// The line of all CPUs together: user nice system idle iowait irq softirq steal (man 5 proc_stat).
bool add_all_cpus(const std::string& line, CpuTimes& times) {
  std::istringstream fields(line.substr(4));
  std::array<double, 8> ticks{};
  for (double& one : ticks) {
    if (!(fields >> one)) return false;
  }
  times.busy = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / ticks_per_second();
  times.stolen = ticks[7] / ticks_per_second();
  return true;
}

/// Of the quota that stopped the process most. Version 1 counts nanoseconds, version 2
/// microseconds.
std::optional<double> throttled_seconds(const Tree& tree) {
  std::optional<double> most;
  for (const CpuQuota& quota : cpu_quotas(tree)) {
    std::istringstream stat(tree.text(quota.stat).value_or(""));
    double value = 0;
    for (std::string key; stat >> key >> value;) {
      if (key == "throttled_time") most = std::max(most.value_or(0), value * 1e-9);
      if (key == "throttled_usec") most = std::max(most.value_or(0), value * 1e-6);
    }
  }
  return most;
}

/// Whether others used, or were given, so many of the CPUs: `part` of them, or `most`.
bool reaches(const CpuUse& use, const std::optional<double>& cpus, double part, double most) {
  const double ticks = use.cpus * tick_seconds;
  return cpus && use.seconds > 0 && *cpus >= std::min(most, part * use.cpus) + ticks / use.seconds;
}

bool is_much(const CpuUse& use, const std::optional<double>& cpus) {
  return reaches(use, cpus, least_part, least_cpus);
}

/// Whether a quota has withheld such a part of what the processes would have used.
bool is_throttled(const CpuUse& use, double part = least_part) {
  return use.throttled && *use.throttled > 0 &&
         *use.throttled >= part * (use.own.value_or(0) + *use.throttled);
}

}  // namespace

Expected<CpuTimes> read_cpu_times(const Tree& tree, const std::vector<int>& own) {
  CpuTimes times;
  const auto stat = tree.text("/proc/stat");
  if (!stat) return fail(not_readable("/proc/stat"));
  bool found = false;
  for (const std::string& line : split_lines(*stat)) {
    if (line.starts_with("cpu ")) found = add_all_cpus(line, times);
    const std::string name = line.substr(0, line.find(' '));
    if (number_after(name, "cpu")) ++times.cpus;
  }
  if (!found || times.cpus == 0)
    return fail(ErrorKind::unavailable, "/proc/stat does not count CPU time");
  for (const int pid : own) {
    const auto its = read_process_stat(tree, pid);
    if (!its) return fail(not_readable(fmt::format("/proc/{}/stat", pid)));
    times.own += its->ticks / ticks_per_second();
  }
  times.throttled = throttled_seconds(tree);
  times.at =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return times;
}

CpuUse cpu_use_between(const Expected<CpuTimes>& before, const Expected<CpuTimes>& after) {
  CpuUse use;
  for (const auto* reading : {&before, &after}) {
    if (!*reading) {
      use.reason = full_text(reading->error());
      return use;
    }
  }
  use.seconds = after->at - before->at;
  use.cpus = after->cpus;
  const double busy = after->busy - before->busy, own = after->own - before->own;
  const double doubt = use.cpus * tick_seconds;
  if (!(use.seconds > 0) || busy < 0 || own < 0) {
    use.reason = "the CPU times of /proc went backwards";
    return use;
  }
  if (before->throttled && after->throttled)
    use.throttled = std::max(0.0, *after->throttled - *before->throttled) / use.seconds;
  if (busy + doubt < least_counted * own) {
    use.reason = "/proc/stat does not count the CPU time of this process";
  } else {
    use.own = own / use.seconds;
    // Ticks are not as exact as what a process is told of itself.
    use.others = std::max(0.0, busy - own) / use.seconds;
    use.stolen = std::max(0.0, after->stolen - before->stolen) / use.seconds;
  }
  return use;
}

CpuUse CpuWatch::use() const {
  CpuUse use = cpu_use_between(start_, read_cpu_times(tree_, own_));
  // Tests of anything but disturbances run beside other tests.
  if (environment_variable("NUMATLAS_TEST_QUIET") != nullptr) use.others = use.stolen = 0.0;
  return use;
}

std::optional<double> cpu_frequency(const Tree& tree, CpuId cpu) {
  const auto khz =
      tree.number(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu.value));
  return khz && *khz > 0 ? std::optional(static_cast<double>(*khz) * 1e3) : std::nullopt;
}

bool is_disturbed(const CpuUse& use) {
  return is_much(use, use.others) || is_much(use, use.stolen) || is_throttled(use);
}

bool is_unreliable(const CpuUse& use) {
  return reaches(use, use.others, grave_part, grave_cpus) ||
         reaches(use, use.stolen, grave_part, grave_cpus) || is_throttled(use, grave_part);
}

std::string disturbance_text(const CpuUse& use) {
  std::vector<std::string> parts;
  // Within a short time the ticks of more than it may be counted.
  const auto of_all = [&](double cpus) {
    return fmt::format("{:.1f} of {} CPUs", std::min(cpus, static_cast<double>(use.cpus)),
                       use.cpus);
  };
  if (is_much(use, use.others)) parts.push_back("other programs used " + of_all(*use.others));
  if (is_much(use, use.stolen)) parts.push_back("the hypervisor withheld " + of_all(*use.stolen));
  if (is_throttled(use))
    parts.push_back(fmt::format("the CPU quota withheld {:.1f} CPUs", *use.throttled));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string cpu_use_warning(const std::vector<std::pair<std::string, CpuUse>>& by_host,
                            bool (*counts)(const CpuUse&)) {
  // A list of all would bury what else is said.
  constexpr std::size_t most_named = 3;
  std::vector<std::string> texts;
  bool throttled = false, busy = false;
  for (const auto& [host, use] : by_host) {
    if (!counts(use)) continue;
    throttled = throttled || is_throttled(use);
    busy = busy || is_much(use, use.others) || is_much(use, use.stolen);
    const std::string where = by_host.size() > 1 ? fmt::format("on {}, ", host) : "";
    texts.push_back(where + disturbance_text(use));
  }
  if (texts.empty()) return "";
  const std::size_t more = texts.size() > most_named ? texts.size() - most_named : 0;
  texts.resize(texts.size() - more);
  return fmt::format("{}{}{}{}", fmt::join(texts, "; "),
                     more > 0 ? fmt::format("; and {} more hosts", more) : "",
                     busy ? quiet_remedy : "", throttled ? quota_remedy : "");
}

CpuUse use_of_all(const std::vector<CpuUse>& parts) {
  CpuUse all;
  const auto add = [&](std::optional<double>& sum, const std::optional<double>& part,
                       double seconds) {
    if (part) sum = sum.value_or(0) + *part * seconds;
  };
  for (const CpuUse& part : parts) {
    all.seconds += part.seconds;
    all.cpus = std::max(all.cpus, part.cpus);
    add(all.own, part.own, part.seconds);
    add(all.others, part.others, part.seconds);
    add(all.stolen, part.stolen, part.seconds);
    add(all.throttled, part.throttled, part.seconds);
  }
  for (auto* sum : {&all.own, &all.others, &all.stolen, &all.throttled})
    if (*sum && all.seconds > 0) **sum /= all.seconds;
  return all;
}

json to_json(const CpuUse& use) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? json(*value) : json(nullptr);
  };
  return {{"seconds", use.seconds},
          {"cpus", use.cpus > 0 ? json(use.cpus) : json(nullptr)},
          {"own", optional(use.own)},
          {"other_processes", optional(use.others)},
          {"stolen", optional(use.stolen)},
          {"throttled", optional(use.throttled)},
          {"reason", use.reason.empty() ? json(nullptr) : json(use.reason)}};
}

CpuUse cpu_use_from_json(const json& value) {
  CpuUse use;
  if (!value.is_object()) return use;
  const auto number = [&](const char* name) -> std::optional<double> {
    const auto found = value.find(name);
    if (found == value.end() || !found->is_number()) return std::nullopt;
    const auto it = found->get<double>();
    return std::isfinite(it) && it >= 0 ? std::optional(it) : std::nullopt;
  };
  constexpr double most_cpus = 1 << 30;  // above any machine
  use.seconds = number("seconds").value_or(0);
  use.cpus = static_cast<int>(std::min(most_cpus, number("cpus").value_or(0)));
  use.own = number("own");
  use.others = number("other_processes");
  use.stolen = number("stolen");
  use.throttled = number("throttled");
  const auto reason = value.find("reason");
  if (reason != value.end() && reason->is_string()) use.reason = reason->get<std::string>();
  return use;
}

}  // namespace numatlas
