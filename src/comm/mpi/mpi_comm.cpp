#include "comm/mpi/mpi_comm.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/signals.h"
#include "comm/host_layout.h"
#include "comm/mpi/plugin.h"

namespace numatlas {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Sleeps between two looks: the first is about a message's way, the last is little work for a
/// rank that waits for minutes while another one measures on the same cores.
constexpr Nanoseconds first_sleep = microseconds(20);
constexpr Nanoseconds last_sleep = milliseconds(1);
/// How long a rank that was stopped waits for the others: as long as it may take to write the
/// results, and not longer than a person waits after Ctrl-C.
constexpr Nanoseconds farewell_after_stop = seconds(5);
/// How long a failed rank lets the others of its host write what they have.
constexpr Nanoseconds grace_of_abort = seconds(2);
constexpr std::size_t cache_line = 64;

std::string error_text(const numatlas_mpi_table* mpi, int code) {
  char text[1024] = "";
  mpi->error_text(code, text, sizeof text);
  return text;
}

Nanoseconds now() { return Nanoseconds(monotonic_ns()); }

class Backoff {
 public:
  void sleep() {
    std::this_thread::sleep_for(next_);
    next_ = std::min(next_ * 2, last_sleep);
  }

 private:
  Nanoseconds next_ = first_sleep;
};

}  // namespace

/// Who waits where, in a wait of all ranks that lasts: of each host one rank that waits tells rank
/// 0, and the first rank of another host (`second_judge_`), each 4 s. So rank 0, and of its host
/// the other one, knows which host is silent: all of its ranks are at work, or stopped.
class MpiComm::LongWait {
 public:
  /// `for_hosts`: ranks of other hosts are waited for.
  LongWait(MpiComm& comm, bool for_hosts)
      : comm_(comm),
        hosts_(comm.layout_.hosts.size()),
        judges_(for_hosts && (comm.rank() == 0 || comm.rank() == comm.second_judge_)) {}
  ~LongWait() {
    for (std::size_t host = 0; host < named_.size(); ++host)
      if (named_[host]) note(host);
  }
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

  void go_on() {
    if (hosts_ < 2 || now() - begun_ < between_words) return;
    if (comm_.watch_->claim_word(between_words))
      for (const int to : {0, comm_.second_judge_})
        if (to != comm_.rank()) comm_.mpi_->tell(to);
    if (!judges_) return;
    // What was said in earlier waits says nothing of this one.
    if (heard_.empty()) {
      take_words();
      heard_.assign(hosts_, begun_);
      named_.assign(hosts_, false);
    }
    take_words();
    const Nanoseconds enough = patience + comm_.at_work_;
    const std::size_t own = host_of(comm_.rank()), first = host_of(0);
    for (std::size_t host = 0; host < hosts_; ++host) {
      const bool is_mine = host != own && (comm_.rank() == 0 || host == first);
      if (!is_mine || named_[host] || now() - heard_[host] < enough) continue;
      if (!comm_.silent_hosts_[host]) say_silent(text_of(comm_, host), enough);
      named_[host] = true;
    }
  }
  static std::string text_of(const MpiComm& comm, std::size_t host) {
    const std::string& name = comm.layout_.hosts[host];
    const int ranks = comm.layout_.ranks_on(static_cast<int>(host));
    if (ranks > 1) return fmt::format("each of the {} ranks on {}", ranks, name);
    return rank_text(comm.layout_.leader_of(static_cast<int>(host)), comm.leader_pids_[host], name);
  }

 private:
  static constexpr Nanoseconds between_words = seconds(4);

  std::size_t host_of(int rank) const {
    return static_cast<std::size_t>(comm_.layout_.host_of[static_cast<std::size_t>(rank)]);
  }
  void take_words() {
    for (int from = 0; comm_.mpi_->heard(&from) == 0 && from >= 0;) {
      if (heard_.empty()) continue;
      const std::size_t host = host_of(from);
      if (named_[host]) note(host);
      named_[host] = false;
      heard_[host] = now();
    }
  }
  void note(std::size_t host) {
    auto& silent = comm_.silent_hosts_[host];
    silent = std::max(silent.value_or(Nanoseconds(0)), now() - heard_[host]);
  }

  MpiComm& comm_;
  std::size_t hosts_;
  bool judges_;
  Nanoseconds begun_ = now();
  std::vector<Nanoseconds> heard_;  ///< when last, by host
  std::vector<bool> named_;         ///< silent since, by host
};

MpiComm::MpiComm(const numatlas_mpi_table* mpi, const std::string& plugin)
    : mpi_(mpi),
      world_(*this, NUMATLAS_MPI_WORLD),
      host_(*this, NUMATLAS_MPI_HOST),
      leaders_(*this, NUMATLAS_MPI_LEADERS) {
  char version[1024] = "";  // room for the line that matters; the text may go on for pages
  mpi->library_version(version, sizeof version);
  description_ = short_library_name(version) + " (plug-in " + plugin + ")";
}

Expected<std::unique_ptr<MpiComm>> MpiComm::start(const numatlas_mpi_table* mpi,
                                                  const std::string& plugin, int pretend_hosts) {
  if (const int code = mpi->start(pretend_hosts); code != 0) {
    return fail(ErrorKind::unavailable,
                "MPI (plug-in " + plugin + ") does not start: " + error_text(mpi, code));
  }
  std::unique_ptr<MpiComm> comm(new MpiComm(mpi, plugin));
  TRY(comm->watch_host());
  TRY(comm->meet(pretend_hosts));
  return comm;
}

/// The shared block that tells the ranks of this host of each other's life.
Expected<void> MpiComm::watch_host() {
  auto block = TRY(shared_block(HostWatch::bytes_for(local_size())));
  auto watch = std::make_unique<HostWatch>(block, local_rank(), local_size(), rank(), host_name());
  TRY(host_.barrier());
  watch->start();
  watch_ = std::move(watch);
  local_pids_ = watch_->pids();
  return {};
}

/// Who stands where.
Expected<void> MpiComm::meet(int pretend_hosts) {
  std::string name = host_name();
  if (pretend_hosts > 1) {
    name += "-" + std::to_string(static_cast<long long>(rank()) * pretend_hosts / size());
  }
  auto texts =
      TRY(all_gather(fmt::format("{} {} {}", watch_->leader(), local_pids_.front(), name)));
  std::vector<HostClaim> claims;
  std::vector<int> pids;  // of the first rank of each rank's host
  for (const std::string& text : texts) {
    std::istringstream words(text);
    HostClaim claim;
    words >> claim.group >> pids.emplace_back() >> claim.name;
    claims.push_back(std::move(claim));
  }
  layout_ = make_host_layout(claims);
  for (std::size_t host = 0; host < layout_.hosts.size(); ++host)
    leader_pids_.push_back(
        pids[static_cast<std::size_t>(layout_.leader_of(static_cast<int>(host)))]);
  silent_hosts_.resize(layout_.hosts.size());
  if (layout_.hosts.size() > 1) second_judge_ = layout_.leader_of(1);
  return {};
}

std::optional<Error> MpiComm::reason_to_stop() {
  // A death comes first: the launcher answers it with a signal to the others, and the death is
  // what the user wants to hear of.
  if (peer_failed() || (stop_requested() && watch_)) {
    if (auto error = watch_->failure(stop_requested())) return error;
  }
  if (!stop_requested()) return std::nullopt;
  if (watch_) watch_->tell_stop(stop_signal());
  return Error{ErrorKind::interrupted, "stopped while waiting for the other ranks", ""};
}

Expected<MpiComm::OperationPtr> MpiComm::wait(OperationPtr operation, int start_code,
                                              const char* what, bool for_hosts) {
  if (start_code != 0) {
    broken_ = Error{ErrorKind::peer, std::string(what) + ": " + error_text(mpi_, start_code), ""};
    return fail(*broken_);
  }
  Backoff backoff;
  LongWait long_wait(*this, for_hosts);
  while (true) {
    int done = 0;
    if (const int code = mpi_->test(&operation->request, &done); code != 0) {
      broken_ = Error{ErrorKind::peer, std::string(what) + ": " + error_text(mpi_, code), ""};
    } else if (done) {
      return operation;
    } else {
      broken_ = reason_to_stop();
    }
    if (broken_) {
      abandoned_.push_back(std::move(operation));
      return fail(*broken_);
    }
    long_wait.go_on();
    backoff.sleep();
  }
}

std::vector<std::string> MpiComm::take_silences() {
  std::vector<std::string> texts;
  if (watch_ && local_rank() == 0) texts = watch_->take_silences();
  for (std::size_t host = 0; host < silent_hosts_.size(); ++host)
    if (const auto silent = std::exchange(silent_hosts_[host], std::nullopt))
      texts.push_back(silence_text(LongWait::text_of(*this, host), *silent));
  return texts;
}

Expected<void*> MpiComm::shared_block(std::size_t bytes) {
  if (broken_) return fail(*broken_);
  // MPI_Win_allocate_shared blocks; after this barrier everyone is on the way to it.
  TRY(host_.barrier());
  void* base = nullptr;
  if (const int code = mpi_->share(bytes + cache_line, &base); code != 0) {
    return fail(ErrorKind::resource, "MPI_Win_allocate_shared of " + std::to_string(bytes) +
                                         " bytes: " + error_text(mpi_, code));
  }
  // The first rank aligns for all: the block starts at one offset in its pages everywhere.
  std::uint64_t skip = 0;
  if (local_rank() == 0) {
    skip = (cache_line - reinterpret_cast<std::uintptr_t>(base) % cache_line) % cache_line;
    std::memset(base, 0, bytes + cache_line);
  }
  TRY(host_.broadcast_bytes(&skip, sizeof skip));
  return static_cast<void*>(static_cast<char*>(base) + skip);
}

bool MpiComm::peer_failed() {
  if (!watch_) return false;
  if (const auto signal = watch_->told_stop(); signal && !stop_requested()) {
    request_stop(*signal);
  }
  return watch_->failure().has_value();
}

bool MpiComm::claim_report() { return !watch_ || watch_->claim_report(); }

void MpiComm::abort(int exit_code) {
  std::fflush(nullptr);
  if (!watch_) {
    mpi_->abort(exit_code);
    _exit(exit_code);
  }
  watch_->declare_failure(
      exit_code, "rank " + std::to_string(rank()) + " on " + host_name() + " stopped the run");
  watch_->claim_report();  // this rank has said why; the others need not
  watch_->leave();
  Backoff backoff;
  const Nanoseconds end = now() + grace_of_abort;
  while (!watch_->all_leaving() && now() < end) backoff.sleep();
  // One rank calls MPI_Abort; the launcher then ends the others. Were all to call it, the user
  // would read MPI's notice as many times.
  while (!watch_->is_declarer() && now() < end) backoff.sleep();
  const int code = watch_->failure_code().value_or(exit_code);
  mpi_->abort(code);
  _exit(code);
}

bool MpiComm::say_farewell() {
  if (!watch_ || watch_->failure()) return false;
  if (stop_requested()) watch_->tell_stop(stop_signal());
  watch_->leave();
  auto operation = std::make_unique<Operation>();
  const std::uint64_t under_way = abandoned_.size();
  operation->out.resize(sizeof under_way);
  std::memcpy(operation->out.data(), &under_way, sizeof under_way);
  operation->in.resize(sizeof under_way * static_cast<std::size_t>(size()));
  if (mpi_->all_gather(NUMATLAS_MPI_FAREWELL, operation->out.data(), sizeof under_way,
                       operation->in.data(), &operation->request) != 0) {
    return false;
  }
  Backoff backoff;
  std::optional<Nanoseconds> end;
  int done = 0;
  while (mpi_->test(&operation->request, &done) == 0 && !done) {
    if (!end && (stop_requested() || broken_)) end = now() + farewell_after_stop;
    if (peer_failed() || (end && now() > *end)) break;
    backoff.sleep();
  }
  if (!done) {
    abandoned_.push_back(std::move(operation));
    return false;
  }
  // Words that came too late for any wait.
  for (int from = 0; mpi_->heard(&from) == 0 && from >= 0;) {
  }
  // Finalizing with an operation under way is wrong, and all must finalize or none.
  return std::all_of(operation->in.begin(), operation->in.end(), [](char c) { return c == 0; });
}

MpiComm::~MpiComm() {
  const bool in_step = say_farewell();
  if (watch_) watch_->left();
  watch_.reset();
  if (in_step) {
    mpi_->finish();
    return;
  }
  for (OperationPtr& operation : abandoned_) static_cast<void>(operation.release());
}

}  // namespace numatlas
