// Rows: the figures of a report one by one, each with whose it is, what was asked for and what it
// gave. Results are kept as rows once their file is read, and judged by them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine.h"
#include "record/estimate.h"
#include "record/report.h"

namespace numatlas {

/// How much a row stands for.
enum class RowLevel {
  whole,      ///< a total, or the median over flows asked the same: what is shown at first
  lone_flow,  ///< the only one that was asked this: stands for its case
  flow,       ///< one flow (`--all`)
  derived,    ///< follows from another figure of the same case: only where it is named
  host,       ///< over the flows of one of several hosts: only to judge hosts
  machine     ///< a pilot: the machine as a whole, told beside the cases
};

/// Where a figure was measured, as it was observed. Empty: not known, or there is no such thing.
struct Observed {
  /// Parts of the memory on each node ("0"; "from 0" of what is read from where that is apart).
  std::map<std::string, double> nodes;
  /// Parts of the memory in pages of each kind ("4 KiB", "THP").
  std::map<std::string, double> pages;
  std::map<std::string, int> cpu_nodes;  ///< node of the worker's CPU -> workers
  std::map<std::string, int> gpus;       ///< name of the GPU -> flows of it
  friend bool operator==(const Observed&, const Observed&) = default;
};

struct Row {
  // What was asked for. Two rows are of the same where their keys are: nothing in a key was
  // measured.
  std::string key;
  /// The case alone: one that was skipped has no flows, and its key says nothing of them.
  std::string case_key;
  std::string command, name, of, figure;  ///< for people; `of`: which flow, "" for totals
  Unit unit;
  std::string kernel{};
  Bytes memory{};  ///< of all measured workers; 0 where it has none
  /// Of one host among several: its index, and the key that the same row of others has.
  std::optional<std::size_t> host{};
  std::string host_key{};
  std::string on{};  ///< whose it is, where hosts are compared with themselves: "n1"
  RowLevel level = RowLevel::whole;
  bool is_median = false;  ///< over the flows of one place, which `of` names

  // What it gave.
  std::optional<Estimate> estimate{};
  std::string problem{};  ///< why there is no comparing with it; "" for none
  Observed observed{};
  /// What else used the host while it was measured: "other programs used 1.0 of 2 CPUs"; "" where
  /// nothing is known of it.
  std::string disturbed{};
  /// Rates of a host's rounds, where it was measured in these; 0 for one that did not end.
  std::vector<double> rounds{};
  std::optional<double> again{};   ///< the rate when the host ran once more (--retest)
  bool guest = false;              ///< it was measured on a virtual machine
  std::vector<double> launches{};  ///< the value of each, in their order; empty for one
  /// Of the logarithm in a launch of the same program on the same host; absent where too few hosts
  /// tell.
  std::optional<Uncertain> launch_spread{};
  /// Over the pilots around its visits; absent where its run has none.
  std::optional<Estimate> relative{};
  std::string pilot{};  ///< which these are: comparable only with the same ones

  /// A case without any flow: skipped, or failed before it began.
  bool is_empty() const { return figure.empty(); }
  friend bool operator==(const Row&, const Row&) = default;
};

/// What hosts must have in common to be compared with each other.
struct HostKind {
  std::string cpu_model;
  std::string os;  ///< "Linux 6.1.0-18-amd64"
  int cpus = 0, nodes = 0;
  /// Of all nodes, rounded to whole GiB: what the firmware keeps differs by some MiB.
  Bytes memory;
  int processes = 0, workers = 0;  ///< of the run on this host; workers: threads of all processes
  friend bool operator==(const HostKind&, const HostKind&) = default;
};

/// Whether hosts of these kinds can be compared: the same but for 2 % of the memory, of which
/// firmware keeps more here and less there.
bool alike(const HostKind& a, const HostKind& b);
/// The kind of a host that runs so many processes and workers.
HostKind kind_of(const Machine& machine, int processes, int workers);
/// "AMD EPYC 7742, 256 CPUs, 8 nodes, 503 GiB, Linux 5.14.0".
std::string hardware_text(const HostKind& kind);
/// The same with ", 8 processes x 16 threads" where these are known.
std::string to_text(const HostKind& kind);

/// A figure of a run beside what others of its kind measured (published/normal.h).
struct Normal {
  enum class Verdict { ok, low, none };
  std::string what;  ///< "read", "GPU 0: copies to it"
  Unit unit;
  Estimate value;
  Verdict verdict = Verdict::none;
  std::string reason{};                  ///< why there is no verdict; "" where there is one
  std::string group{};                   ///< "aws, EPYC 7R13, 8 CPUs"
  std::size_t count = 0;                 ///< of the others; 0: nothing below is known
  double median = 0, low = 0, high = 0;  ///< theirs
  std::optional<double> limit{};         ///< that the value has to reach; of times, not to exceed
  std::string against{};                 ///< "published figures", "the memory's peak"
  std::string source{};                  ///< "Spare Cores, 2026-08, CC BY-SA 4.0"
  std::string first{};  ///< what explains it: "its link runs at Gen5 x8 of Gen5 x16"
  std::string more{};   ///< what else is known: "80 % of 614 GB/s (16 x DDR5-4800)"
};
/// "LOW", "ok", "not judged".
std::string to_text(Normal::Verdict verdict);
/// "read 34.2 GB/s ±1.0 %: 0.97 of the median of 12 like it (31.0 to 36.0 GB/s; aws, EPYC 7R13,
/// 8 CPUs)"; what explains it stands first, what keeps it from a verdict last.
std::string to_text(const Normal& one);

/// One run of one command.
struct Rows : RunHead {
  std::string file;
  std::vector<std::string> slowed_gpus;  ///< "the clocks of GPU 0 were held down (heat)", once each
  std::vector<std::string> worker_cpus;  ///< kernel lists, by worker
  std::vector<HostKind> kinds;           ///< by host
  std::vector<Identity> identities;      ///< by host; empty: nothing is known of them
  std::vector<Row> rows;
  std::vector<Normal> normal{};  ///< filled by those who judge by it
  std::string machine_type{};    ///< that its survey was told (--machine-type)

  bool is_unreliable() const { return trust == "unreliable"; }
  std::string why_incomplete() const {
    return complete                    ? ""
           : incomplete_reason.empty() ? "it did not run to its end"
                                       : incomplete_reason;
  }
};

/// Of a report of a benchmark.
Rows rows_of(const RunReport& report);

// Figures of passes on hosts (record/report.h).

/// Figure of a case whose passes hosts made: bytes of one process in one pass, as counted.
inline constexpr const char* pass_bytes_key = "pass_size";

/// Bytes that all processes of a host move in one pass of a case, as counted.
double bytes_of_host(const RunReport& report, const Case& one, int host);

/// Bytes a second of each of the passes that count; 0 for one that took no time.
std::vector<double> rates_of(const RunReport& report, const Case& one, int host,
                             const std::vector<PassTimes>& passes);

/// "bandwidth" of a host: the median of these rates, with their interval; without an estimate where
/// there are none.
Figure bandwidth_of(std::vector<double> rates);

/// Gives rows with equal keys numbers, in their order.
void number_doubles(std::vector<Row>& rows);

/// Why two figures were not measured at the same place: "memory on node 0, now on 1"; "" where
/// nothing speaks against it.
std::string place_difference(const Observed& base, const Observed& now);

/// Why a figure is not known well enough for a verdict: what its interval leaves open is as much as
/// the figure itself. "" where it is, or has no interval.
std::string width_problem(const Estimate& figure);

}  // namespace numatlas
