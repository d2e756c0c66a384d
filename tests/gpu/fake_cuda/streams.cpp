// Streams, their threads, and the time that copies take.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "fake.h"

namespace fake {

void Mark::set(std::int64_t time) {
  const std::lock_guard lock(mutex_);
  set_ = true;
  time_ = time;
  changed_.notify_all();
}
bool Mark::is_set() const {
  const std::lock_guard lock(mutex_);
  return set_;
}
std::int64_t Mark::time() const {
  const std::lock_guard lock(mutex_);
  return time_;
}
void Mark::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return set_; });
}

void Link::pass(std::size_t bytes) {
  const std::uint64_t rate = settings().rate;
  if (rate == 0) return;
  std::int64_t until = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto needed =
        static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(rate));
    busy_until_ = std::max(busy_until_, now()) + needed;
    until = busy_until_;
  }
  while (now() < until) std::this_thread::sleep_for(std::chrono::nanoseconds(until - now()));
}

/// The one thread of all streams; started by the first stream, never ended.
class SerialThread {
 public:
  static SerialThread& instance() {
    static auto& one = *new SerialThread;
    return one;
  }
  std::mutex& mutex() { return mutex_; }
  void add(Stream* stream) {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  void remove(Stream* stream) {
    const std::lock_guard lock(mutex_);
    std::erase(streams_, stream);
  }
  void wake() { changed_.notify_all(); }
  std::uint64_t next_number() { return ++number_; }

 private:
  /// That whose next operation was queued first.
  Stream* pick() {
    Stream* first = nullptr;
    for (Stream* stream : streams_) {
      if (stream->queue_.empty()) continue;
      if (first == nullptr || stream->queue_.front().number < first->queue_.front().number) {
        first = stream;
      }
    }
    return first;
  }
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      Stream* stream = pick();
      if (stream == nullptr) {
        changed_.wait(lock);
        continue;
      }
      stream->busy_ = true;
      run_group(*stream, lock);
      stream->busy_ = false;
      stream->changed_.notify_all();
    }
  }
  /// Up to the event after the next copy.
  void run_group(Stream& stream, std::unique_lock<std::mutex>& lock) {
    // The thread that queues may stand between the event before a copy and the copy.
    constexpr auto patience = std::chrono::milliseconds(20);
    bool copied = false, marked = false;
    while (true) {
      if (stream.queue_.empty() && (marked || copied)) {
        changed_.wait_for(lock, patience, [&] { return !stream.queue_.empty() || stream.ends_; });
      }
      if (stream.queue_.empty()) return;
      const Operation next = std::move(stream.queue_.front());
      stream.queue_.pop_front();
      lock.unlock();
      next.work();
      lock.lock();
      if (next.kind == Operation::Kind::copy) copied = true;
      if (next.kind == Operation::Kind::mark) {
        if (copied) return;
        marked = true;
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Stream*> streams_;
  std::thread thread_;
  std::uint64_t number_ = 0;
};

Stream::Stream(Device& its_device, int its_number)
    : device(its_device),
      number(its_number),
      mutex_(settings().serial ? SerialThread::instance().mutex() : own_mutex_) {
  if (settings().serial) {
    SerialThread::instance().add(this);
  } else {
    thread_ = std::thread([this] { run(); });
  }
}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  if (settings().serial) {
    SerialThread::instance().wake();
    drain();
    SerialThread::instance().remove(this);
  } else {
    thread_.join();
  }
}

void Stream::push(Operation operation) {
  const std::lock_guard lock(mutex_);
  if (settings().serial) operation.number = SerialThread::instance().next_number();
  queue_.push_back(std::move(operation));
  changed_.notify_all();
  if (settings().serial) SerialThread::instance().wake();
}

void Stream::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
}

void Stream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !queue_.empty() || ends_; });
    if (queue_.empty()) return;
    const Operation next = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    next.work();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace fake
