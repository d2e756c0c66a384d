#include "comm/clock_offset.h"

#include <ctime>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

namespace numatlas {
namespace {

using Clock = std::function<Nanoseconds()>;

/// Rank 0's side: ask, and note the time before and after.
Expected<ClockOffset> ask_host(Comm& comm, int leader, int round_trips, const Clock& clock) {
  std::vector<RoundTrip> trips;
  for (int i = 0; i < round_trips; ++i) {
    RoundTrip trip;
    trip.sent = clock();
    const char question = '?';
    TRY(comm.send(leader, &question, 1));
    Nanoseconds::rep answer = 0;
    TRY(comm.receive(leader, &answer, sizeof answer));
    trip.received = clock();
    trip.remote = Nanoseconds(answer);
    trips.push_back(trip);
  }
  const auto estimate = estimate_clock_offset(trips);
  if (!estimate) {
    return fail(ErrorKind::internal, "clock offset of the host of rank " + std::to_string(leader) +
                                         ": no usable round trip");
  }
  return *estimate;
}

/// The host leader's side: the time, as soon as the question is here.
Expected<void> answer_root(Comm& comm, int round_trips, const Clock& clock) {
  for (int i = 0; i < round_trips; ++i) {
    char question = 0;
    TRY(comm.receive(0, &question, 1));
    const Nanoseconds::rep now = clock().count();
    TRY(comm.send(0, &now, sizeof now));
  }
  return {};
}

}  // namespace

std::optional<ClockOffset> estimate_clock_offset(std::span<const RoundTrip> trips) {
  const RoundTrip* best = nullptr;
  for (const RoundTrip& trip : trips) {
    if (trip.received < trip.sent) continue;
    if (!best || trip.received - trip.sent < best->received - best->sent) best = &trip;
  }
  if (!best) return std::nullopt;
  // Half the trip first, then added: the sum of two times of a clock could overflow.
  const Nanoseconds half = (best->received - best->sent) / 2;
  // Rounded up, so that the bound stays a bound for odd trips.
  const Nanoseconds precision = best->received - best->sent - half;
  const Nanoseconds middle = best->sent + half;
  return ClockOffset{best->remote - middle, precision, middle};
}

Nanoseconds monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

Expected<std::vector<ClockOffset>> measure_clock_offsets(Comm& comm, int round_trips,
                                                         const Clock& clock) {
  const HostLayout& layout = comm.layout();
  std::vector<ClockOffset> offsets(layout.hosts.size());
  if (offsets.size() <= 1) return offsets;
  round_trips = std::max(round_trips, 1);
  const int my_host = layout.host_of[static_cast<std::size_t>(comm.rank())];
  if (comm.rank() == 0) {
    for (std::size_t host = 1; host < offsets.size(); ++host) {  // host 0 is rank 0's own
      offsets[host] =
          TRY(ask_host(comm, layout.leader_of(static_cast<int>(host)), round_trips, clock));
    }
  } else if (my_host != 0 && comm.local_rank() == 0) {
    if (auto answered = answer_root(comm, round_trips, clock); !answered) {
      return fail(answered.error());
    }
  }
  std::string packed(offsets.size() * sizeof(ClockOffset), '\0');
  std::memcpy(packed.data(), offsets.data(), packed.size());
  auto everywhere = TRY(comm.broadcast(packed));
  if (everywhere.size() != packed.size()) {
    return fail(ErrorKind::internal, "clock offsets: the ranks disagree about the hosts");
  }
  std::memcpy(offsets.data(), everywhere.data(), packed.size());
  return offsets;
}

}  // namespace numatlas
