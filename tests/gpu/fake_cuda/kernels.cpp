// The kernels of src/gpu/device/kernels.h, run by the host: one thread of the launch after the
// other.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "fake.h"

namespace {

using u64 = std::uint64_t;
struct Pair {
  u64 x, y;
};

thread_local u64 this_thread, threads_of_launch;
u64 first_word() { return this_thread; }
u64 all_threads() { return threads_of_launch; }

template <class Value>
Value at(u64 address) {
  Value value{};
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
u64 load_anew(u64 address) { return at<u64>(address); }
u64 load_cached(u64 address) { return at<u64>(address); }
u64 load_shared(u64 address) { return at<u64>(address); }
Pair load_pair_anew(u64 address) { return at<Pair>(address); }
Pair load_pair(u64 address) { return at<Pair>(address); }
void store(u64 address, u64 value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}
void store_pair(u64 address, Pair value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}
u64 fetch_add(u64 address) {
  const u64 before = load_anew(address);
  store(address, before + 1);
  return before;
}
// Two cycles a nanosecond.
u64 nanoseconds() { return static_cast<u64>(fake::now()); }
u64 cycles() { return 2 * nanoseconds(); }
double number(u64 value) { return std::bit_cast<double>(value); }
u64 bits(double value) { return std::bit_cast<u64>(value); }
double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }

#define KERNEL
#define DEVICE
#include "../../../src/gpu/device/kernels.h"

/// The first `count` arguments of a launch.
template <std::size_t count>
std::array<u64, count> values_of(void** arguments) {
  std::array<u64, count> values{};
  for (std::size_t i = 0; i < count; ++i) std::memcpy(&values[i], arguments[i], sizeof values[i]);
  return values;
}

template <std::size_t count, class Kernel>
std::function<void()> launch_of(Kernel kernel, void** arguments, u64 threads) {
  return [=, values = values_of<count>(arguments)] {
    threads_of_launch = threads;
    for (this_thread = 0; this_thread < threads; ++this_thread) std::apply(kernel, values);
  };
}

void flip(u64 address, u64 mask) { store(address, load_anew(address) ^ mask); }

/// Passes that differ in nothing take no time here: so many are done, and a read's sum counts for
/// the others.
constexpr u64 most_passes = 4;

template <class Kernel>
std::function<void()> series_of(Kernel kernel, void** arguments, u64 threads) {
  return [=, values = values_of<7>(arguments)]() mutable {
    auto& [to, from, other, pairs, passes, value, sums] = values;
    const u64 done = std::min(passes, most_passes), left = passes - done;
    passes = done;
    threads_of_launch = threads;
    for (this_thread = 0; this_thread < threads; ++this_thread) {
      const bool reads = sums != 0;
      const u64 place = sums + sizeof(u64) * this_thread;
      const u64 before = reads ? load_anew(place) : 0;
      std::apply(kernel, values);
      if (reads) store(place, load_anew(place) + (load_anew(place) - before) / done * left);
    }
    if (!fake::settings().corrupt || pairs == 0) return;
    flip(sums != 0 ? sums : to + pairs / 2 * sizeof(Pair), 1);
  };
}

}  // namespace

namespace fake {

const Function* function_named(const std::string& name) {
  static const std::array<Function, 11> all{
      Function{"numatlas_chase",
               [](void** arguments, u64 threads) -> std::function<void()> {
                 const u64 result = values_of<4>(arguments)[3];
                 return [=, run = launch_of<4>(numatlas_chase, arguments, threads)] {
                   run();
                   if (settings().corrupt) flip(result, 64);
                 };
               }},
      {"numatlas_copy",
       [](void** arguments, u64 threads) -> std::function<void()> {
         const auto values = values_of<3>(arguments);
         return [=, run = launch_of<3>(numatlas_copy, arguments, threads)] {
           run();
           if (settings().corrupt && values[2] > 0)
             flip(values[0] + values[2] / 2 * sizeof(Pair), 16);
         };
       }},
      {"numatlas_chase_cached",
       [](void** arguments, u64 threads) {
         return launch_of<3>(numatlas_chase_cached, arguments, threads);
       }},
      {"numatlas_chase_shared",
       [](void** arguments, u64 threads) {
         return launch_of<3>(numatlas_chase_shared, arguments, threads);
       }},
      {"numatlas_stream_read",
       [](void** arguments, u64 threads) {
         return series_of(numatlas_stream_read, arguments, threads);
       }},
      {"numatlas_stream_write",
       [](void** arguments, u64 threads) {
         return series_of(numatlas_stream_write, arguments, threads);
       }},
      {"numatlas_stream_copy",
       [](void** arguments, u64 threads) {
         return series_of(numatlas_stream_copy, arguments, threads);
       }},
      {"numatlas_stream_scale",
       [](void** arguments, u64 threads) {
         return series_of(numatlas_stream_scale, arguments, threads);
       }},
      {"numatlas_stream_add",
       [](void** arguments, u64 threads) {
         return series_of(numatlas_stream_add, arguments, threads);
       }},
      {"numatlas_stream_triad",
       [](void** arguments, u64 threads) {
         return series_of(numatlas_stream_triad, arguments, threads);
       }},
      {"numatlas_fetch_add", [](void** arguments, u64 threads) -> std::function<void()> {
         const u64 counters = values_of<3>(arguments)[0];
         return [=, run = launch_of<3>(numatlas_fetch_add, arguments, threads)] {
           run();
           if (settings().corrupt) flip(counters, 2);
         };
       }}};
  const auto found = std::ranges::find(all, name, [](const Function& one) { return one.name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace fake
