#include "comm/host_clocks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace numatlas {
namespace {

double ratio(Nanoseconds part, Nanoseconds whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

Nanoseconds times(Nanoseconds time, double factor) {
  return Nanoseconds(std::llround(static_cast<double>(time.count()) * factor));
}

}  // namespace

void HostClock::add(const ClockOffset& seen) {
  error_ = seen.precision;
  if (last_) {
    const Nanoseconds off = std::chrono::abs(seen.offset - at(seen.at).offset);
    error_ = std::max(last_->precision, off + seen.precision);
    if (seen.at - last_->at >= least_apart) before_ = last_;
  }
  last_ = seen;
}

Nanoseconds HostClock::change() const {
  const Nanoseconds change = last_->offset - before_->offset;
  const bool known = std::chrono::abs(change) > last_->precision + before_->precision;
  return known ? change : Nanoseconds(0);
}

ClockOffset HostClock::at(Nanoseconds time) const {
  ClockOffset now = *last_;
  now.at = time;
  if (!before_) {
    now.precision += times(std::chrono::abs(time - last_->at), most_drift);
    return now;
  }
  // 0 at the last one, -1 at the one before.
  const double way = ratio(time - last_->at, last_->at - before_->at);
  const Nanoseconds left_out = std::chrono::abs(last_->offset - before_->offset - change());
  now.offset += times(change(), way);
  now.precision = times(last_->precision, std::abs(1 + way)) +
                  times(before_->precision + left_out, std::abs(way)) + Nanoseconds(1);
  return now;
}

double HostClock::drift() const { return before_ ? ratio(change(), last_->at - before_->at) : 0; }

Expected<void> HostClocks::measure() {
  if (comm_.layout().hosts.size() <= 1) return {};
  const Nanoseconds begun = clock_();
  const auto offsets = TRY(measure_clock_offsets(comm_, 50, clock_));
  hosts_.resize(offsets.size());
  for (std::size_t host = 1; host < hosts_.size(); ++host) {  // host 0 is rank 0's own
    hosts_[host].add(offsets[host]);
    error_ = std::max(error_, hosts_[host].error_since_last());
  }
  measured_ = begun;
  cost_ = clock_() - begun;
  return {};
}

bool HostClocks::due() const {
  constexpr Nanoseconds often_enough{5'000'000'000};
  constexpr int part_of_time = 100;
  return !hosts_.empty() && clock_() - measured_ >= std::max(often_enough, part_of_time * cost_);
}

ClockOffset HostClocks::at(int host, Nanoseconds time) const {
  if (host == 0) return {Nanoseconds(0), Nanoseconds(0), time};
  return hosts_[static_cast<std::size_t>(host)].at(time);
}

}  // namespace numatlas
