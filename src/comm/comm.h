// Ranks: who there is, words between them, and a block of memory shared by the ranks of a host.
//
// Waiting sleeps (it looks each 20 us at first, each 1 ms later) and ends with an error of kind
// `interrupted` after a stop (base/signals.h) and of kind `peer` when a rank of this host failed or
// died. A rank of another host that dies is the launcher's to notice: each mpirun does, srun only
// with --kill-on-bad-exit, and waits for the others otherwise. After such an error every later call
// gives the same error: the ranks are no longer in step. A rank that keeps the others waiting since
// it is stopped, or hangs, is named on standard error after 15 s.
//
// Ending: the destructor waits until all ranks end and finalizes MPI. After an interruption it
// waits for the others a few seconds at most and leaves without finalizing, since operations may
// still be under way; the launcher then ends who is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "comm/host_layout.h"
#include "comm/launcher.h"

namespace numatlas {

template <class T>
concept Plain = std::is_trivially_copyable_v<T>;

/// Ranks that talk to each other; all of them call the same functions in the same order.
class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Everyone waits for everyone.
  virtual Expected<void> barrier() = 0;
  /// Every rank's text, on every rank, by rank.
  virtual Expected<std::vector<std::string>> all_gather(const std::string& mine) = 0;
  /// Every rank's text on rank 0 (by rank); empty elsewhere.
  virtual Expected<std::vector<std::string>> gather(const std::string& mine) = 0;
  /// Rank 0's text on every rank.
  virtual Expected<std::string> broadcast(const std::string& from_root) = 0;
  /// The largest of all ranks' numbers, on every rank; no rank holds more than one of them.
  virtual Expected<std::uint64_t> largest(std::uint64_t mine) = 0;

  // Values go bit by bit: the ranks of one run are one program.

  /// Every rank's values on rank 0 (by rank, as many as each has); empty elsewhere.
  template <Plain T>
  Expected<std::vector<std::vector<T>>> gather_values(std::span<const T> mine) {
    const auto texts = TRY(gather(bytes_of(mine)));
    std::vector<std::vector<T>> all;
    for (const std::string& bytes : texts) all.push_back(from_bytes<T>(bytes));
    return all;
  }
  /// Rank 0's values on every rank.
  template <Plain T>
  Expected<std::vector<T>> broadcast_values(std::span<const T> from_root) {
    const auto bytes = TRY(broadcast(bytes_of(from_root)));
    return from_bytes<T>(bytes);
  }
  template <Plain T>
  Expected<T> broadcast_value(const T& from_root) {
    const auto bytes = TRY(broadcast(bytes_of(std::span<const T>(&from_root, 1))));
    T value = from_root;
    if (bytes.size() == sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  /// Whether one of the ranks says so, on every rank.
  Expected<bool> any(bool mine) { return TRY(largest(mine ? 1 : 0)) > 0; }

 private:
  template <Plain T>
  static std::string bytes_of(std::span<const T> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
  }
  template <Plain T>
  static std::vector<T> from_bytes(const std::string& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
};

/// All ranks.
class Comm : public Group {
 public:
  virtual int local_rank() const = 0;  ///< among the ranks that share memory (one host)
  virtual int local_size() const = 0;
  virtual const HostLayout& layout() const = 0;  ///< where all ranks stand
  /// Number of one of these ranks among all of the run.
  virtual int world_rank(int rank) const { return rank; }
  /// Process numbers of the ranks of this host, by local rank.
  virtual const std::vector<int>& local_pids() const = 0;
  /// "none", "Open MPI 4.1.4 (plug-in openmpi)".
  virtual std::string description() const = 0;

  /// The ranks of this host alone, by local rank.
  virtual Group& host() = 0;
  /// The first rank of each host, by host; nullptr on the other ranks.
  virtual Group* leaders() = 0;

  /// Zeroed memory shared by the ranks of this host, aligned to a cache line, valid until the Comm
  /// ends. Collective over the host.
  virtual Expected<void*> shared_block(std::size_t bytes) = 0;

  /// True once a rank of this host has failed or died, so that waiting for it makes no sense; the
  /// next wait tells which. A signal that reached another rank of this host is passed on here, as a
  /// stop. Cheap (a load; processes are looked at each half second): call it between samples.
  virtual bool peer_failed() = 0;
  /// Who says it: true for the first rank of this host that asks, false for all others. Ask before
  /// printing an error that several ranks may see. Always true without MPI.
  virtual bool claim_report() = 0;

  /// How long ranks of other hosts may be at work before they answer, beside the 15 s.
  virtual void allow(Nanoseconds at_work) = 0;
  /// The ranks that did not answer for 15 s or longer since this was last asked, as far as this
  /// rank knows: the first rank of a host those of its host, rank 0 and the first one of another
  /// host the silent hosts. "rank 1 (pid 7385) on node3 did not answer for 42 s".
  virtual std::vector<std::string> take_silences() = 0;

  /// Ends all ranks with this exit code, or with that of the rank of this host that failed first;
  /// does not return. Call after printing the message. The other ranks of this host see an error of
  /// kind `peer` and have 2 seconds to leave (to write what they have) before MPI ends them.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

/// One process alone.
std::unique_ptr<Comm> make_single_comm();

/// The ranks of this host of `world`, as if there were no others. `world` must outlive it and end
/// after it; whoever waits here waits for this host only.
std::unique_ptr<Comm> make_host_comm(Comm& world);

/// The ranks this process was launched with. `choice`: "auto" (by the launcher's variables),
/// "none", or the name of a plug-in ("openmpi", "mpich", ...); NUMATLAS_MPI in the environment
/// replaces "auto". A process that nobody launched, or launched alone, never loads MPI. Detects N
/// singletons under one launcher (several tasks, but MPI sees one) and an absent plug-in; both are
/// errors (kind unavailable) with the remedy, seen by every task: print where `should_report`.
/// NUMATLAS_TEST_HOSTS=N (for tests) treats the ranks of each host as N hosts.
Expected<std::unique_ptr<Comm>> connect_comm(const std::string& choice);

/// One MPI plug-in of this build.
struct MpiPlugin {
  std::string name;  ///< "openmpi"
  std::string path;
  std::string problem;  ///< why it cannot, or may not, be loaded; "" when it can
};
/// All plug-ins that there are, each loaded for a moment to see whether it can be.
std::vector<MpiPlugin> list_mpi_plugins();

}  // namespace numatlas
