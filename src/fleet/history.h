// Runs of the same hosts at different times: how often each was slow, and who fell against itself.
// Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/slow_nodes.h"
#include "record/report.h"

namespace numatlas {

/// What a history keeps of a run: a figure for each host and kernel.
struct PastRun {
  struct Host {
    std::string name;
    std::size_t kind = 0;
    std::vector<std::optional<double>> rates;  ///< by kernel, bytes/s
    bool slow = false, judged = true;
    bool by_rounds = true;  ///< false: its rates are averages, which are not compared with medians
    friend bool operator==(const Host&, const Host&) = default;
  };
  std::string started;
  bool by_rounds = true;             ///< of all hosts
  std::vector<FleetKernel> kernels;  ///< with what was asked for: with other memory it is another
  std::vector<HostKind> kinds;
  std::vector<Host> hosts;
};
/// Nobody was judged where there are no verdicts (Fleet::slow).
PastRun past_run(const RunReport& report);

/// The same run, told by two files: copies, or one with rounds and one without.
bool same_run(const PastRun& a, const PastRun& b);

/// A host whose newest median lies below those of its own earlier runs, by the rule for slow nodes.
struct Fall {
  std::size_t host = 0;             ///< index into the newest fleet's hosts
  std::size_t runs = 0;             ///< earlier ones that it is compared with
  std::vector<SlowKernel> kernels;  ///< the largest drop first
  std::string changed;              ///< "" or what else is new since the run before
};

struct History {
  struct Count {
    std::size_t runs = 0, slow = 0, unjudged = 0;
    std::string last_slow;  ///< start of that run
  };
  std::map<std::string, Count> hosts;  ///< by name
  std::vector<Fall> falls;             ///< the largest drop first
  std::size_t judged = 0;              ///< hosts with enough earlier runs
  std::vector<std::size_t> unjudged;   ///< of the newest run, the others, ascending
};

/// By the rule of `newest`. `earlier`: in the order of their starts, the newest run not included.
/// Runs with other kernels, array sizes, memory, instruction set, processes or threads on a host
/// say nothing of it and are left out for it.
History history_of(const std::vector<PastRun>& earlier, const RunReport& newest);

/// "cn03: triad 9.1 % below the median of its own 6 earlier runs, 14.2 MAD, every round".
std::string to_text(const Fleet& newest, const Fall& fall);

}  // namespace numatlas
