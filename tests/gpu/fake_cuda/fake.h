// A libcuda.so.1 of our own, for tests without a GPU: "device memory" is memory of the host,
// streams are threads, copies are memcpy. It shows the program's logic; no time of it is a
// measurement.
//
// Environment (read at the first call):
//   NUMATLAS_FAKE_CUDA_DEVICES=N      devices, 2 unless set
//   NUMATLAS_FAKE_CUDA_INIT=CODE      cuInit returns CODE: 34 stub, 100 no device, 803 mismatch
//   NUMATLAS_FAKE_CUDA_MEMORY=BYTES   memory of each device, 1 GiB unless set
//   NUMATLAS_FAKE_CUDA_RATE=BYTES     a second, for each device and direction: a copy takes at
//   least
//                                     so long, and copies of one direction wait for each other
//   NUMATLAS_FAKE_CUDA_SERIAL=1       one thread runs all streams of all devices: no two copies
//                                     overlap. What a stream has queued up to the event after its
//                                     next copy stays together
//   NUMATLAS_FAKE_CUDA_FAIL=NAME:N[:CODE][,...]
//                                     the Nth call (from 1) of NAME ("cuMemAlloc": no _v2) fails
//                                     with CODE, 700 unless said. After 700, 719 or 999 the device
//                                     is lost: all that is asked of it returns the same
//   NUMATLAS_FAKE_CUDA_CORRUPT=1      each copy flips a bit in the middle of what it writes, each
//   way
//                                     another one, each kernel one of what it writes or adds up;
//                                     the chase through host memory ends 64 bytes off
//   NUMATLAS_FAKE_CUDA_RTC=CODE       the fake libhiprtc.so.7 compiles nothing: CODE, 6 is an error
//                                     in the source
//   NUMATLAS_FAKE_CUDA_CLOCK, _SLOWED, _SLOWED_CALLS: see nvml_calls.cpp
//   NUMATLAS_FAKE_CUDA_LOG=FILE       a line a call: name and main arguments; streams and events
//   are
//                                     numbered in the order of their making, from 1
// An event that nobody destroys is a leak that the address sanitizer tells of.
// Copies of memory that is not pinned: to the device it is taken at once, to the host the call
// waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace fake {

using Address = std::uint64_t;
inline constexpr int invalid_value = 1, out_of_memory = 2, invalid_device = 101,
                     invalid_image = 200, invalid_context = 201, invalid_handle = 400,
                     not_found = 500, not_ready = 600, peer_already = 704, registered_already = 712,
                     not_registered = 713;

struct Failure {
  std::string name;
  long call;
  int code;
};

struct Settings {
  int devices = 2, init = 0;
  std::uint64_t memory = std::uint64_t{1} << 30, rate = 0;
  bool serial = false, corrupt = false;
  std::vector<Failure> failures;
  std::string log;
};
const Settings& settings();

/// One recording of an event: done at a time, nanoseconds of CLOCK_MONOTONIC.
class Mark {
 public:
  void set(std::int64_t time);
  bool is_set() const;
  std::int64_t time() const;
  void wait() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool set_ = false;
  std::int64_t time_ = 0;
};

struct Event {
  int number;
  std::mutex mutex;
  std::shared_ptr<Mark> last;  ///< none before the first recording
};

/// Something queued.
struct Operation {
  enum class Kind { copy, mark } kind;
  std::function<void()> work;
  std::uint64_t number = 0;  ///< in the order of submission, of all streams
};

struct Device;

/// A queue of operations; run by a thread of its own, or by the one of all streams.
class Stream {
 public:
  Stream(Device& device, int number);
  ~Stream();  ///< after the last operation
  void push(Operation operation);
  void drain();

  Device& device;
  const int number;

 private:
  friend class SerialThread;
  void run();

  std::mutex own_mutex_;
  std::mutex& mutex_;  // of all streams where one thread runs them
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  bool busy_ = false, ends_ = false;
  std::thread thread_;
};

/// A direction of a device's link.
class Link {
 public:
  /// Returns when `bytes` more have had their time.
  void pass(std::size_t bytes);

 private:
  std::mutex mutex_;
  std::int64_t busy_until_ = 0;
};

/// A kernel: what a launch of so many threads with these arguments does.
struct Function {
  const char* name;
  std::function<void()> (*work)(void** arguments, std::uint64_t threads);
};
/// nullptr where there is none of that name.
const Function* function_named(const std::string& name);

struct Device {
  int index = 0;
  std::atomic<int> lost{0};  ///< the error that all calls return
  std::mutex mutex;
  std::map<Address, std::size_t> memory;
  std::uint64_t used = 0;
  std::vector<std::shared_ptr<Stream>> streams;  // shared with who waits for them all
  std::shared_ptr<Stream> default_stream;
  std::map<int, bool> peers;
  Link in, out;

  bool holds(Address address, std::size_t bytes);
  void drain();
};

/// All devices; never destroyed.
std::vector<std::unique_ptr<Device>>& devices();
/// The device whose context is current in the calling thread; nullptr none.
Device*& current();

/// Host memory that is pinned, by its start.
class Pinned {
 public:
  int add(void* start, std::size_t bytes);
  int remove(void* start);
  bool holds(const void* start, std::size_t bytes);

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> ranges_;
};
Pinned& pinned();

std::int64_t now();
/// Logs a call and says whether it is to fail: 0, or what it returns. Calls of a device fail
/// without a current context, and when it is lost.
int begin(const char* name, const std::string& arguments, bool of_a_device);

/// The stream of a handle of the current device; nullptr is its default stream. Returns an error.
int stream_of(void* handle, Stream*& stream);

}  // namespace fake

#define FAKE_CUDA extern "C" __attribute__((visibility("default"))) int
