// What the ranks of one host know of each other's life, through a block of shared memory: who is
// here, who has left in good order, who failed, whether a signal came. So a rank that waits for one
// that died or is stopped notices, and one rank's error ends all with one message.
//
// Cost: the flags are loads from shared memory. Whether the others' processes exist is looked at
// by one rank of the host each half second, whoever waits first.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/process_stat.h"
#include "base/units.h"

namespace numatlas {

/// For so long a rank may keep the others waiting before they name it.
constexpr Nanoseconds patience = std::chrono::seconds(15);
/// "rank 1 (pid 7385) on node3".
std::string rank_text(int rank, int pid, const std::string& host);
/// On standard error, "numatlas: rank 1 (pid 7385) on node3 has not answered for 15 s".
void say_silent(const std::string& rank, Nanoseconds silent);
/// "rank 1 (pid 7385) on node3 did not answer for 42 s".
std::string silence_text(const std::string& rank, Nanoseconds silent);

/// A process that cannot be mistaken for a later one with the same number.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  ///< field 22 of /proc/PID/stat, clock ticks since boot
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};
/// nullopt for a process that does not exist or is a zombie. `stat`: what is to be known of it.
std::optional<ProcessIdentity> identify_process(pid_t pid, ProcessStat* stat = nullptr);

class HostWatch {
 public:
  /// Bytes of shared memory needed, zeroed, for so many ranks.
  static std::size_t bytes_for(int local_size);

  /// Enters this process. `block` outlives the watch. Everyone must have entered (a barrier) before
  /// `start`.
  HostWatch(void* block, int local_rank, int local_size, int global_rank, std::string host);
  /// Notes who can be watched: processes of another PID namespace (containers) cannot.
  void start();

  std::vector<int> pids() const;  ///< by local rank
  int leader() const;             ///< global rank of local rank 0

  /// Something that ends the run for everyone on this host: a declared failure or a dead peer.
  /// Looks at processes if that is due, or if `thoroughly`.
  std::optional<Error> failure(bool thoroughly = false);
  /// This rank ends the run. The first declaration counts; true for it.
  bool declare_failure(int exit_code, const std::string& message);
  /// This rank has declared the failure: its own or a death that it saw first.
  bool is_declarer() const { return is_declarer_; }
  /// Exit code of the failure that was declared first; nullopt if none was.
  std::optional<int> failure_code() const;
  /// True for the first rank of the host that asks.
  bool claim_report();
  /// The same, once in each `interval`.
  bool claim_word(Nanoseconds interval);

  /// Tells the others of a signal (0: a stop without one) / what the others were told.
  void tell_stop(int signal);
  std::optional<int> told_stop() const;

  /// Ranks of this host that ran no more for `patience` or longer since this was last asked: "rank
  /// 1 (pid 7385) on node3 did not answer for 42 s".
  std::vector<std::string> take_silences();

  void leave();  ///< about to end; waits for nobody any more
  void left();   ///< ends in good order: my end is not a failure
  /// All others of this host are leaving, have left or are dead.
  bool all_leaving();

 private:
  struct Member;
  struct Board;
  Board& board() const;
  Member& member(int local_rank) const;
  bool look_is_due();
  bool is_dead(int local_rank, ProcessStat* stat = nullptr) const;
  void look_at_processes();
  void note_silence(int local_rank, const ProcessStat& seen);

  void* block_;
  int local_rank_;
  int local_size_;
  std::string host_;
  bool is_declarer_ = false;
  std::vector<int> watched_;  ///< local ranks whose processes this one can see
  int look_group_ = 0;        ///< lowest local rank of this PID namespace: keeps the group's clock
};

}  // namespace numatlas
