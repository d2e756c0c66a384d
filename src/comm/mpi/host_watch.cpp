#include "comm/mpi/host_watch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/terminal.h"

namespace numatlas {
namespace {

/// A dead rank is noticed within this time: short against a person's patience, long against the
/// few microseconds that a look at one process costs.
constexpr Nanoseconds look_interval = std::chrono::milliseconds(500);

enum State : int { absent = 0, here, leaving, gone };
enum Slot : int { empty = 0, filling, full };

/// True for one of those that ask, once in each interval.
bool claim_time(std::atomic<Nanoseconds::rep>& next, Nanoseconds interval) {
  const Nanoseconds::rep now = monotonic_ns();
  Nanoseconds::rep due = next.load(std::memory_order_relaxed);
  return now >= due && next.compare_exchange_strong(due, now + interval.count());
}

std::uint64_t pid_namespace() {
  struct stat info {};
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

}  // namespace

/// One rank's line in the shared block.
struct alignas(64) HostWatch::Member {
  std::atomic<int> state;
  int global_rank;
  ProcessIdentity process;
  std::uint64_t pid_namespace;
  std::atomic<Nanoseconds::rep> next_look;
  // Written by who looks at processes, one rank at a time.
  std::atomic<double> ticks;                 ///< of CPU time, when last seen to run
  std::atomic<Nanoseconds::rep> last_ran;    ///< 0: not looked at yet
  std::atomic<Nanoseconds::rep> silent_for;  ///< the longest time that it ran no more
};

/// What concerns all ranks of the host.
struct alignas(64) HostWatch::Board {
  std::atomic<int> failure;  ///< Slot
  std::atomic<int> reported;
  std::atomic<int> stop;  ///< signal + 1; 0: none
  std::atomic<Nanoseconds::rep> next_word;
  int exit_code;
  char message[256];  ///< cut if longer: the rank that failed has printed the whole
};

static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<Nanoseconds::rep>::is_always_lock_free,
              "atomics between processes must not hide a lock");

std::string rank_text(int rank, int pid, const std::string& host) {
  return fmt::format("rank {} (pid {}) on {}", rank, pid, host);
}

void say_silent(const std::string& rank, Nanoseconds silent) {
  say(fmt::format("numatlas: {} has not answered for {:.0f} s\n", rank,
                  std::chrono::duration<double>(silent).count()));
}

std::string silence_text(const std::string& rank, Nanoseconds silent) {
  return fmt::format("{} did not answer for {:.0f} s", rank,
                     std::chrono::duration<double>(silent).count());
}

std::optional<ProcessIdentity> identify_process(pid_t pid, ProcessStat* stat) {
  const auto seen = read_process_stat(running_system(), pid);
  if (!seen || seen->has_ended() || seen->start_time == 0) return std::nullopt;
  if (stat != nullptr) *stat = *seen;
  return ProcessIdentity{pid, seen->start_time};
}

std::size_t HostWatch::bytes_for(int local_size) {
  return sizeof(Board) + static_cast<std::size_t>(local_size) * sizeof(Member);
}

HostWatch::Board& HostWatch::board() const { return *std::launder(static_cast<Board*>(block_)); }

HostWatch::Member& HostWatch::member(int local_rank) const {
  char* members = static_cast<char*>(block_) + sizeof(Board);
  return *std::launder(reinterpret_cast<Member*>(members) + local_rank);
}

HostWatch::HostWatch(void* block, int local_rank, int local_size, int global_rank, std::string host)
    : block_(block), local_rank_(local_rank), local_size_(local_size), host_(std::move(host)) {
  Member& mine = member(local_rank);
  mine.global_rank = global_rank;
  mine.process = identify_process(getpid()).value_or(ProcessIdentity{getpid(), 0});
  mine.pid_namespace = pid_namespace();
  mine.state.store(here);
}

void HostWatch::start() {
  const std::uint64_t my_namespace = member(local_rank_).pid_namespace;
  look_group_ = local_rank_;
  for (int other = 0; other < local_size_; ++other) {
    if (member(other).pid_namespace != my_namespace) continue;
    look_group_ = std::min(look_group_, other);
    if (other != local_rank_) watched_.push_back(other);
  }
}

std::vector<int> HostWatch::pids() const {
  std::vector<int> pids;
  for (int rank = 0; rank < local_size_; ++rank) pids.push_back(member(rank).process.pid);
  return pids;
}

int HostWatch::leader() const { return member(0).global_rank; }

bool HostWatch::look_is_due() { return claim_time(member(look_group_).next_look, look_interval); }

bool HostWatch::is_dead(int local_rank, ProcessStat* stat) const {
  const Member& other = member(local_rank);
  if (other.state.load() == gone) return false;
  const auto process = identify_process(other.process.pid, stat);
  if (process && *process == other.process) return false;
  // It may have left in good order between the two looks.
  return other.state.load() != gone;
}

void HostWatch::look_at_processes() {
  for (int other : watched_) {
    ProcessStat stat;
    if (!is_dead(other, &stat)) {
      note_silence(other, stat);
      continue;
    }
    const Member& dead = member(other);
    declare_failure(exit_code(ErrorKind::peer),
                    rank_text(dead.global_rank, dead.process.pid, host_) + " died");
    return;
  }
}

/// One that sleeps may wait as others do; one that is stopped, or hangs in the kernel, answers
/// nobody.
void HostWatch::note_silence(int local_rank, const ProcessStat& seen) {
  Member& other = member(local_rank);
  const Nanoseconds::rep now = monotonic_ns();
  const bool is_halted = seen.state == 'T' || seen.state == 't' || seen.state == 'D';
  if (!is_halted || seen.ticks > other.ticks || other.last_ran == 0) {
    other.ticks = seen.ticks;
    other.last_ran = now;
    return;
  }
  const Nanoseconds::rep silent = now - other.last_ran;
  if (silent < patience.count()) return;
  if (other.silent_for.load() == 0)
    say_silent(rank_text(other.global_rank, other.process.pid, host_), patience);
  other.silent_for.store(std::max(other.silent_for.load(), silent));
}

std::vector<std::string> HostWatch::take_silences() {
  std::vector<std::string> texts;
  for (int rank = 0; rank < local_size_; ++rank) {
    Member& one = member(rank);
    const Nanoseconds silent{one.silent_for.exchange(0)};
    if (silent.count() > 0)
      texts.push_back(silence_text(rank_text(one.global_rank, one.process.pid, host_), silent));
  }
  return texts;
}

std::optional<Error> HostWatch::failure(bool thoroughly) {
  if (board().failure.load(std::memory_order_acquire) == empty) {
    if (!thoroughly && !look_is_due()) return std::nullopt;
    look_at_processes();
  }
  if (board().failure.load(std::memory_order_acquire) != full) return std::nullopt;
  return Error{ErrorKind::peer, board().message, ""};
}

bool HostWatch::declare_failure(int exit_code, const std::string& message) {
  int expected = empty;
  if (!board().failure.compare_exchange_strong(expected, filling)) return false;
  board().exit_code = exit_code;
  std::strncpy(board().message, message.c_str(), sizeof(board().message) - 1);
  board().failure.store(full, std::memory_order_release);
  is_declarer_ = true;
  return true;
}

std::optional<int> HostWatch::failure_code() const {
  if (board().failure.load(std::memory_order_acquire) != full) return std::nullopt;
  return board().exit_code;
}

bool HostWatch::claim_report() { return board().reported.exchange(1) == 0; }

bool HostWatch::claim_word(Nanoseconds interval) { return claim_time(board().next_word, interval); }

void HostWatch::tell_stop(int signal) {
  int expected = 0;
  board().stop.compare_exchange_strong(expected, signal + 1);
}

std::optional<int> HostWatch::told_stop() const {
  const int stop = board().stop.load(std::memory_order_relaxed);
  return stop == 0 ? std::nullopt : std::optional(stop - 1);
}

void HostWatch::leave() { member(local_rank_).state.store(leaving); }

void HostWatch::left() { member(local_rank_).state.store(gone); }

bool HostWatch::all_leaving() {
  for (int other = 0; other < local_size_; ++other) {
    if (other == local_rank_ || member(other).state.load() >= leaving) continue;
    const bool seen = std::find(watched_.begin(), watched_.end(), other) != watched_.end();
    if (!seen || !is_dead(other)) return false;
  }
  return true;
}

}  // namespace numatlas
