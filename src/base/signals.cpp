#include "base/signals.h"

#include <unistd.h>
#include <csignal>
#include <cstddef>
#include <initializer_list>

#include <array>
#include <atomic>

namespace numatlas {
namespace {

std::atomic<bool> stop{false};
std::atomic<int> received{0};
std::atomic<int> interrupts{0};
std::atomic<int> shared{0};  ///< process group
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "the handler may only touch lock-free atomics");

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP, SIGXCPU};

void on_signal(int signal) {
  // Only the second that a person sent: a stop passed on by another rank is none.
  if (signal == SIGINT && interrupts.fetch_add(1) > 0) {
    if (const int group = shared.load(); group > 0) kill(-group, SIGKILL);
    _exit(128 + SIGINT);
  }
  received.store(signal);
  stop.store(true);
}

void on_suspend(int) {
  const int group = shared.load();
  if (group > 0) kill(-group, SIGSTOP);
  kill(getpid(), SIGSTOP);  // and here it goes on after a SIGCONT
  if (group > 0) kill(-group, SIGCONT);
}

}  // namespace

void share_stops_with(int group) {
  shared.store(group);
  struct sigaction action {
  }, before{};
  sigaction(SIGTSTP, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  action.sa_handler = group > 0 ? on_suspend : SIG_DFL;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTSTP, &action, nullptr);
}

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (int signal : stop_signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // nohup(1) ignores the hangup for its program.
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);
}

KeptSignals::KeptSignals() {
  for (std::size_t i = 0; i < stop_signals.size(); ++i)
    sigaction(stop_signals[i], nullptr, &before_[i]);
}

KeptSignals::~KeptSignals() {
  for (std::size_t i = 0; i < stop_signals.size(); ++i)
    sigaction(stop_signals[i], &before_[i], nullptr);
}

bool stop_requested() { return stop.load(std::memory_order_relaxed); }
int stop_signal() { return received.load(std::memory_order_relaxed); }
void request_stop(int signal) {
  if (signal != 0) received.store(signal);
  stop.store(true);
}
void reset_stop_for_tests() {
  received.store(0);
  stop.store(false);
}

}  // namespace numatlas
