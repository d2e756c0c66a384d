#include "run/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/terminal.h"

namespace numatlas {

Progress::Progress(bool shown, std::vector<double> weights,
                   std::function<void(std::size_t, std::size_t)> told)
    : told_(std::move(told)),
      shown_(shown && !told_),
      terminal_(isatty(STDERR_FILENO) == 1),
      weights_(std::move(weights)),
      total_weight_(std::accumulate(weights_.begin(), weights_.end(), 0.0)),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::expect(const std::vector<double>& weights) {
  weights_.resize(std::max(weights_.size(), weights.size()));
  std::ranges::copy(weights, weights_.begin());
  total_weight_ = std::accumulate(weights_.begin(), weights_.end(), 0.0);
}

void Progress::advance(std::size_t scenario, double part) {
  parts_.resize(weights_.size(), 0);
  done_weight_ += weights_[scenario] * (part - parts_[scenario]);
  parts_[scenario] = part;
}

void Progress::clear() {
  if (shown_ && terminal_) say("\r\033[K");
}

std::string Progress::time_left() const {
  if (done_weight_ <= 0) return "";
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  double left = seconds * (total_weight_ - done_weight_) / done_weight_;
  const double most = limit_ * (limit_is_of_all_ ? 1 : static_cast<double>(weights_.size()));
  if (limit_ > 0) left = std::min(left, std::max(0.0, most - seconds));
  return fmt::format(", about {:.0f} s left", left);
}

void Progress::phase(const Scenario& scenario, const std::string& phase) {
  if (told_) told_(current_, weights_.size());
  if (!shown_ || !terminal_) return;
  constexpr int width = 24;
  const int filled = total_weight_ > 0 ? static_cast<int>(width * done_weight_ / total_weight_) : 0;
  const std::string line =
      fmt::format("[{:#<{}}{:.<{}}] {}/{} {}: {}{}", "", filled, "", width - filled, current_ + 1,
                  weights_.size(), scenario.name, phase, time_left());
  say("\r\033[K" + cut_to_terminal(line, STDERR_FILENO));
}

void Progress::end(const Scenario& scenario, const std::string& outcome) {
  if (!told_of_.insert(current_).second) return;
  if (shown_ && !terminal_) {
    say(fmt::format("[{}/{}] {}: {}\n", current_ + 1, weights_.size(), scenario.name, outcome));
  }
}

}  // namespace numatlas
