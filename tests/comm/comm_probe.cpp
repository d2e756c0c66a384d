// A small program for the tests of the ranks under real launchers: `comm_probe MODE`. Rank 0 says
// "probe: MODE ok" when everything held; any rank says what did not and ends all with code 1.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/signals.h"
#include "comm/comm.h"

namespace {

using namespace numatlas;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Ends as the real program does: one message, everyone's end.
[[noreturn]] void stop_all(Comm& comm, const Error& error) {
  if (comm.claim_report()) {
    std::fprintf(stderr, "probe: error (%s): %s\n", name_of(error.kind), full_text(error).c_str());
  }
  comm.abort(exit_code(error.kind));
  std::abort();  // gcc does not see that a virtual function never returns
}

template <class T>
T need(Comm& comm, Expected<T> value) {
  if (!value) stop_all(comm, value.error());
  if constexpr (!std::is_void_v<T>) return std::move(*value);
}

void check(bool held, const char* what, int line) {
  if (held) return;
  std::fprintf(stderr, "probe: line %d: does not hold: %s\n", line, what);
  std::fflush(nullptr);
  _exit(1);
}
#define CHECK(condition) check((condition), #condition, __LINE__)

/// Unequal on purpose: empty for rank 0 and every third, 1 MiB for rank 1, short otherwise.
std::string text_of(int rank) {
  if (rank % 3 == 0) return "";
  if (rank == 1) return std::string(1 << 20, 'b');
  return "rank " + std::to_string(rank) + std::string(1, '\0') + "end";
}

void check_words(Comm& comm) {
  const auto size = static_cast<std::size_t>(comm.size());
  const auto all = need(comm, comm.all_gather(text_of(comm.rank())));
  CHECK(all.size() == size);
  for (std::size_t i = 0; i < size; ++i) CHECK(all[i] == text_of(static_cast<int>(i)));
  const auto root = need(comm, comm.gather(text_of(comm.rank())));
  CHECK(root == (comm.rank() == 0 ? all : std::vector<std::string>{}));
  const std::string big(3 << 20, 'x');
  for (const std::string& text : {std::string(), std::string("one\ntwo"), big}) {
    CHECK(need(comm, comm.broadcast(comm.rank() == 0 ? text : "mine")) == text);
  }
}

void check_shared(Comm& comm) {
  for (std::size_t bytes : {std::size_t{4096}, std::size_t{100}}) {
    void* block = need(comm, comm.shared_block(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    const char* begin = static_cast<const char*>(block);
    CHECK(std::all_of(begin, begin + bytes, [](char c) { return c == 0; }));
    need(comm, comm.barrier());
    auto* sum = static_cast<std::atomic<int>*>(block);
    sum->fetch_add(comm.local_rank() + 1);
    need(comm, comm.barrier());
    CHECK(sum->load() == comm.local_size() * (comm.local_size() + 1) / 2);
  }
}

void check_layout(Comm& comm) {
  const HostLayout& layout = comm.layout();
  const auto me = static_cast<std::size_t>(comm.rank());
  CHECK(layout.host_of.size() == static_cast<std::size_t>(comm.size()));
  CHECK(layout.local_rank_of[me] == comm.local_rank());
  CHECK(layout.ranks_on(layout.host_of[me]) == comm.local_size());
  CHECK(static_cast<int>(comm.local_pids().size()) == comm.local_size());
  CHECK(comm.local_pids()[static_cast<std::size_t>(comm.local_rank())] == getpid());
  const char* hosts = std::getenv("NUMATLAS_TEST_HOSTS");
  const std::size_t expected = hosts == nullptr ? 1 : static_cast<std::size_t>(std::atoi(hosts));
  CHECK(layout.hosts.size() == expected);
  if (hosts != nullptr) CHECK(layout.hosts.back().ends_with("-" + std::to_string(expected - 1)));
}

/// A barrier holds everyone: nobody leaves it before the last has come.
void check_barrier(Comm& comm) {
  auto* arrived =
      static_cast<std::atomic<int>*>(need(comm, comm.shared_block(sizeof(std::atomic<int>))));
  for (int round = 1; round <= 10; ++round) {
    if (comm.local_rank() == 0) std::this_thread::sleep_for(milliseconds(5));
    arrived->fetch_add(1);
    need(comm, comm.barrier());
    CHECK(arrived->load() >= round * comm.local_size());
  }
}

/// The last rank goes; the others wait for it.
void lose_last(Comm& comm, bool cleanly_aborts) {
  need(comm, comm.barrier());
  if (comm.rank() == comm.size() - 1) {
    std::this_thread::sleep_for(milliseconds(200));
    if (!cleanly_aborts) ::raise(SIGKILL);
    std::fprintf(stderr, "probe: the last rank gives up\n");
    comm.abort(7);
  }
  auto waited = comm.barrier();
  CHECK(!waited);
  CHECK(!comm.barrier());  // stays broken, and does not wait again
  if (comm.rank() == 0) std::printf("saw: %s\n", full_text(waited.error()).c_str());
  stop_all(comm, waited.error());
}

/// As an engine between samples: no wait, only peer_failed.
void work_until_failure(Comm& comm) {
  need(comm, comm.barrier());
  if (comm.rank() == comm.size() - 1) ::raise(SIGKILL);
  const auto end = std::chrono::steady_clock::now() + seconds(10);
  while (!comm.peer_failed()) CHECK(std::chrono::steady_clock::now() < end);
  auto waited = comm.barrier();
  CHECK(!waited);
  stop_all(comm, waited.error());
}

/// Waits for a signal: from outside, or rank 1 sends it to itself alone.
int wait_for_signal(Comm& comm, bool to_one) {
  need(comm, comm.barrier());
  std::this_thread::sleep_for(milliseconds(200));  // until everyone has noticed the barrier's end
  if (to_one && comm.rank() == 1) ::raise(SIGTERM);
  if (comm.rank() == 0) {
    std::printf("ready\n");
    std::fflush(stdout);
  }
  if (comm.rank() == 0) {  // rank 0 works meanwhile, the others wait for it
    while (!stop_requested() && !comm.peer_failed()) std::this_thread::sleep_for(milliseconds(1));
  } else {
    auto waited = comm.barrier();
    CHECK(!waited);
    CHECK(waited.error().kind == ErrorKind::interrupted);
  }
  if (comm.claim_report()) std::fprintf(stderr, "probe: interrupted, signal %d\n", stop_signal());
  if (comm.rank() == 0) {  // the others wait in their farewell while rank 0 writes
    std::this_thread::sleep_for(milliseconds(300));
    std::printf("rank 0 has written what it has\n");
    std::fflush(stdout);
  }
  return 128 + stop_signal();
}

/// CPU time of the ranks that wait while rank 0 takes a second.
void check_waiting_sleeps(Comm& comm) {
  need(comm, comm.barrier());
  const std::clock_t before = std::clock();
  if (comm.rank() == 0) std::this_thread::sleep_for(seconds(1));
  need(comm, comm.barrier());
  const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  const auto all = need(comm, comm.gather(std::to_string(used)));
  if (comm.rank() == 0) std::printf("CPU seconds of a waiting rank: %s\n", all.back().c_str());
  CHECK(used < 0.5);  // spinning takes the whole second
}

int run(Comm& comm, const std::string& mode) {
  if (mode == "words")
    check_words(comm);
  else if (mode == "shared")
    check_shared(comm);
  else if (mode == "layout")
    check_layout(comm);
  else if (mode == "barrier")
    check_barrier(comm);
  else if (mode == "die")
    lose_last(comm, false);
  else if (mode == "abort")
    lose_last(comm, true);
  else if (mode == "work")
    work_until_failure(comm);
  else if (mode == "signal")
    return wait_for_signal(comm, false);
  else if (mode == "signal-one")
    return wait_for_signal(comm, true);
  else if (mode == "sleep")
    check_waiting_sleeps(comm);
  else if (mode != "hello")
    return 2;
  if (comm.rank() == 0) {
    std::printf("probe: %s ok, %d ranks, %s\n", mode.c_str(), comm.size(),
                comm.description().c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  install_signal_handlers();
  auto comm = connect_comm(argc > 2 ? argv[2] : "auto");
  if (!comm) {
    if (should_report(detect_launcher())) {
      std::fprintf(stderr, "probe: %s\nhint: %s\n", full_text(comm.error()).c_str(),
                   full_hint(comm.error()).c_str());
    }
    return exit_code(comm.error().kind);
  }
  return run(**comm, argc > 1 ? argv[1] : "hello");
}
