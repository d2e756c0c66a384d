// Who else uses the CPUs of a host while something is measured there: /proc/stat counts the CPU
// time of all, /proc/PID/stat that of our own processes, and what is left is others'.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/tree.h"

namespace numatlas {

/// A reading: CPU seconds since the host was booted.
struct CpuTimes {
  double at = 0;      ///< seconds, on a steady clock
  double busy = 0;    ///< of all processes and the kernel
  double stolen = 0;  ///< time in which the hypervisor ran something else
  double own = 0;     ///< of the processes that measure
  int cpus = 0;       ///< online
  /// In which the CPU quota of the own cgroup, or of one above, stopped it: of all its CPUs
  /// together, by the quota that stopped it most. Absent without a quota.
  std::optional<double> throttled = {};
};

/// `own`: process numbers of those that measure. Errors (unavailable) name the file: containers may
/// hide it, or hide the processes.
Expected<CpuTimes> read_cpu_times(const Tree& tree, const std::vector<int>& own);

/// What happened on a host between two readings.
struct CpuUse {
  double seconds = 0;            ///< between them
  int cpus = 0;                  ///< online; 0 unknown
  std::optional<double> own;     ///< CPUs that our own processes used, on average
  std::optional<double> others;  ///< CPUs that other processes and the kernel used, on average
  std::optional<double> stolen;  ///< CPUs that the hypervisor withheld, on average
  std::string reason;            ///< why these are absent; "" when they are not
  /// CPUs that a CPU quota withheld, on average; absent without a quota.
  std::optional<double> throttled = {};
  friend bool operator==(const CpuUse&, const CpuUse&) = default;
};

/// Pure. Absent, with the reason, where a reading is an error, or where the first does not count
/// what the processes themselves used (some sandboxes count nothing).
CpuUse cpu_use_between(const Expected<CpuTimes>& before, const Expected<CpuTimes>& after);

/// Watches a host from its making on.
class CpuWatch {
 public:
  /// `tree`: where /proc is read. `own`: as for read_cpu_times.
  CpuWatch(Tree tree, std::vector<int> own)
      : tree_(std::move(tree)), own_(std::move(own)), start_(read_cpu_times(tree_, own_)) {}

  /// What happened until now.
  CpuUse use() const;

 private:
  Tree tree_;
  std::vector<int> own_;
  Expected<CpuTimes> start_;
};

/// Hz that a CPU runs at; absent where the kernel does not tell, as in most virtual machines. May
/// take 10 ms on kernels before 5.18.
std::optional<double> cpu_frequency(const Tree& tree, CpuId cpu);

/// Whether others used, or the hypervisor or a CPU quota withheld, so much that it is seen in the
/// figures (docs/methods.md has the thresholds).
bool is_disturbed(const CpuUse& use);
/// The same, where it is so much that they are not to be trusted.
bool is_unreliable(const CpuUse& use);

/// "other programs used 1.0 of 2 CPUs", "the hypervisor withheld 0.5 of 2 CPUs", "the CPU quota
/// withheld 0.5 CPUs", or several of these; what is too little to matter is not told. "" where
/// nothing is.
std::string disturbance_text(const CpuUse& use);

/// What disturbed the hosts that count, given with their names, and what helps: "other programs
/// used 1.2 of 2 CPUs; run again when it is quiet"; "" where none does.
std::string cpu_use_warning(const std::vector<std::pair<std::string, CpuUse>>& by_host,
                            bool (*counts)(const CpuUse&) = is_disturbed);

/// What happened on one host in several stretches of time, taken together.
CpuUse use_of_all(const std::vector<CpuUse>& parts);

/// Inverse of each other. Reading takes null, and files without these fields, for "not known".
nlohmann::json to_json(const CpuUse& use);
CpuUse cpu_use_from_json(const nlohmann::json& value);

}  // namespace numatlas
