// Settings, devices, the log and the failures.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fake.h"

namespace fake {
namespace {

std::string text(const char* name) {
  const char* const value = std::getenv((std::string("NUMATLAS_FAKE_CUDA_") + name).c_str());
  return value == nullptr ? "" : value;
}

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const std::string value = text(name);
  return value.empty() ? otherwise : std::strtoull(value.c_str(), nullptr, 10);
}

std::vector<Failure> failures_of(const std::string& list) {
  constexpr int illegal_address = 700;
  std::vector<Failure> failures;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string one = list.substr(at, end - at);
    at = end + 1;
    const std::size_t first = one.find(':');
    if (first == std::string::npos) continue;
    const std::size_t second = one.find(':', first + 1);
    failures.push_back(
        {one.substr(0, first), std::atol(one.c_str() + first + 1),
         second == std::string::npos ? illegal_address : std::atoi(one.c_str() + second + 1)});
  }
  return failures;
}

Settings read_settings() {
  Settings s;
  s.devices = static_cast<int>(number("DEVICES", 2));
  s.init = static_cast<int>(number("INIT", 0));
  s.memory = number("MEMORY", s.memory);
  s.rate = number("RATE", 0);
  s.serial = text("SERIAL") == "1";
  s.corrupt = text("CORRUPT") == "1";
  s.failures = failures_of(text("FAIL"));
  s.log = text("LOG");
  return s;
}

void write_log(const std::string& line) {
  static const int file =
      settings().log.empty()
          ? -1
          : open(settings().log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  const std::string whole = line + "\n";
  if (write(file, whole.data(), whole.size()) < 0) std::abort();
}

/// How often each function was called.
long count_call(const std::string& name) {
  static auto& mutex = *new std::mutex;
  static auto& calls = *new std::map<std::string, long>;
  const std::lock_guard lock(mutex);
  return ++calls[name];
}

int planted_failure(const std::string& name) {
  if (settings().failures.empty()) return 0;
  const long call = count_call(name);
  for (const Failure& failure : settings().failures) {
    if (failure.name == name && failure.call == call) return failure.code;
  }
  return 0;
}

}  // namespace

const Settings& settings() {
  static const auto& all = *new Settings(read_settings());
  return all;
}

std::vector<std::unique_ptr<Device>>& devices() {
  static auto& all = *new std::vector<std::unique_ptr<Device>>([] {
    std::vector<std::unique_ptr<Device>> made;
    for (int index = 0; index < settings().devices; ++index) {
      made.push_back(std::make_unique<Device>());
      made.back()->index = index;
    }
    return made;
  }());
  return all;
}

Device*& current() {
  static thread_local Device* device = nullptr;
  return device;
}

bool Device::holds(Address address, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) return false;
  const auto& [start, size] = *--after;
  return address + bytes <= start + size;
}

void Device::drain() {
  std::vector<std::shared_ptr<Stream>> all;
  {
    const std::lock_guard lock(mutex);
    all = streams;
    if (default_stream) all.push_back(default_stream);
  }
  for (const auto& stream : all) stream->drain();
}

Pinned& pinned() {
  static auto& all = *new Pinned;
  return all;
}

int Pinned::add(void* start, std::size_t bytes) {
  const auto from = reinterpret_cast<std::uintptr_t>(start);
  if (start == nullptr || bytes == 0) return invalid_value;
  const std::lock_guard lock(mutex_);
  auto next = ranges_.lower_bound(from + bytes);
  if (next != ranges_.begin()) {
    const auto& [before, size] = *--next;
    if (before + size > from) return registered_already;
  }
  ranges_[from] = bytes;
  return 0;
}

int Pinned::remove(void* start) {
  const std::lock_guard lock(mutex_);
  return ranges_.erase(reinterpret_cast<std::uintptr_t>(start)) == 1 ? 0 : not_registered;
}

bool Pinned::holds(const void* start, std::size_t bytes) {
  const auto from = reinterpret_cast<std::uintptr_t>(start);
  const std::lock_guard lock(mutex_);
  auto after = ranges_.upper_bound(from);
  if (after == ranges_.begin()) return false;
  const auto& [begin, size] = *--after;
  return from + bytes <= begin + size;
}

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int begin(const char* name, const std::string& arguments, bool of_a_device) {
  write_log(arguments.empty() ? std::string(name) : std::string(name) + " " + arguments);
  Device* const device = current();
  if (of_a_device) {
    if (device == nullptr) return invalid_context;
    if (const int lost = device->lost) return lost;
  }
  const int code = planted_failure(name);
  if (of_a_device && (code == 700 || code == 719 || code == 999)) device->lost = code;
  return code;
}

}  // namespace fake
