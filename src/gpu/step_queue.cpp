#include "gpu/step_queue.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/signals.h"
#include "base/tree.h"
#include "machine/pci_link.h"

namespace numatlas {
namespace {

// Steps kept, of 16 bytes each: the last ones of very long runs, half of these at least.
constexpr std::size_t most_steps = 1 << 20;
// Tries to record an event between two looks at the clock, and how near is near enough.
constexpr int clock_tries = 16;
constexpr std::int64_t near_enough_ns = 10'000;
// Looks at the link while it is busy: links that slept take some milliseconds to come up, and a
// look reads the device's registers, so there are few.
constexpr int most_looks = 5;
constexpr std::int64_t between_looks_ns = 30'000'000;
// What a failed device is left alone for, so that who waits for it does not spin.
constexpr timespec pause{0, 1'000'000};

std::int64_t whole_ns(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

Expected<void> StepQueue::reach(Device& owner) {
  if (&owner == &device_) return {};
  report_.route = "direct";
  return device_.reach(owner);
}

Expected<void> StepQueue::open() {
  stream_ = TRY(device_.create_stream());
  report_.steps.reserve(1 << 12);
  (void)device_.state();  // the first time takes long
  slots_.resize(static_cast<std::size_t>(depth_));
  for (Slot& slot : slots_) {
    for (EventHandle* event : {&slot.start, &slot.end}) {
      // Nobody waits for a start.
      *event = TRY(device_.create_event(sleeps_ && event == &slot.end));
    }
  }
  base_ = TRY(moment_now());
  report_.clock_error_ns = base_.error_ns;
  return {};
}

/// An event of an idle stream comes between the call that records it and the end of the wait for
/// it.
Expected<StepQueue::Moment> StepQueue::moment_now() {
  Moment best;
  for (int i = 0; i < clock_tries && (i == 0 || best.error_ns > near_enough_ns / 2); ++i) {
    const auto event = TRY(device_.create_event(false));
    const std::int64_t before = monotonic_ns();
    TRY(device_.record(event, stream_));
    TRY(device_.wait_for_event(event));
    const std::int64_t half = (monotonic_ns() - before) / 2;
    if (i == 0 || half < best.error_ns) best = {event, before + half, half};
  }
  return best;
}

/// The two clocks do not run at quite the same pace: what they are apart at the end is shared out
/// over the steps.
Expected<void> StepQueue::correct_for_drift() {
  const auto end = TRY(moment_now());
  const auto by_gpu = TRY(device_.elapsed(base_.event, end.event));
  const std::int64_t length = end.time_ns - base_.time_ns;
  const auto drift = static_cast<double>(length - whole_ns(by_gpu));
  for (DeviceStep& step : report_.steps) {
    const double part =
        static_cast<double>(step.start_ns - base_.time_ns) / static_cast<double>(length);
    step.start_ns += std::llround(drift * part);
  }
  report_.clock_error_ns = std::max(base_.error_ns, end.error_ns);
  return {};
}

void StepQueue::keep(std::int64_t start_ns, std::int64_t duration_ns) {
  std::vector<DeviceStep>& steps = report_.steps;
  if (steps.size() == most_steps) steps.erase(steps.begin(), steps.begin() + most_steps / 2);
  steps.push_back({start_ns, duration_ns});
}

Expected<void> StepQueue::collect(Slot& slot) {
  slot.under_way = false;
  TRY(device_.wait_for_event(slot.end));
  const auto start = TRY(device_.elapsed(base_.event, slot.start));
  const auto length = TRY(device_.elapsed(slot.start, slot.end));
  keep(base_.time_ns + whole_ns(start), whole_ns(length));
  return {};
}

Expected<void> StepQueue::queue(Slot& slot, const Work& work) {
  TRY(device_.record(slot.start, stream_));
  TRY(work(stream_));
  TRY(device_.record(slot.end, stream_));
  slot.under_way = true;
  return {};
}

void StepQueue::look_at_link(std::int64_t now_ns) {
  if (looks_ == most_looks || now_ns < next_look_ns_) return;
  const bool first = next_look_ns_ == 0;
  next_look_ns_ = now_ns + between_looks_ns;
  if (first) return;  // nothing has been under way for long
  ++looks_;
  const auto link = read_link(running_system(), device_.info().pci_address);
  if (!link) {
    looks_ = most_looks;
    return;
  }
  const bool faster = !report_.link || report_.link->speed.value_or(0) < link->speed.value_or(0);
  if (faster) report_.link = link;
}

Expected<void> StepQueue::run_one(const Work& work) {
  Slot& slot = slots_[next_];
  next_ = (next_ + 1) % slots_.size();
  if (slot.under_way) {
    TRY(collect(slot));
  }
  TRY(queue(slot, work));
  // One at a time: it is over when the call is.
  return slots_.size() == 1 ? collect(slot) : Expected<void>{};
}

void StepQueue::run(std::uint64_t steps, const Work& work) {
  if (!filled_ && slots_.size() > 1) steps += slots_.size();
  filled_ = true;
  for (std::uint64_t i = 0; i < steps && !problem_ && !stop_requested(); ++i) {
    if (auto done = run_one(work); !done) problem_ = done.error();
  }
  if (problem_) {
    nanosleep(&pause, nullptr);
  } else {
    look_at_link(monotonic_ns());
  }
}

void StepQueue::finish() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[(next_ + i) % slots_.size()];
    if (!slot.under_way || problem_) continue;
    if (auto done = collect(slot); !done) problem_ = done.error();
  }
  if (stream_ == nullptr) return;
  auto done = device_.wait_for_stream(stream_);
  if (done && !problem_) done = correct_for_drift();
  if (!done && !problem_) problem_ = done.error();
  // Clocks stay as they are for much longer than this is after the last step.
  if (!problem_) report_.state = device_.state();
}

}  // namespace numatlas
