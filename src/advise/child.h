// Internal: the process that becomes a program, and its files.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "advise/program.h"

namespace numatlas {

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  void close();
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

class Child {
 public:
  /// A process that waits for start(). The kernel ends it with this one.
  static Expected<std::unique_ptr<Child>> fork_for(const RunRequest& request);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  /// Lets it become the program, and comes back when it has. Errors as run_program's.
  Expected<void> start();
  pid_t pid() const { return pid_; }
  /// When it became the program, by its own clock: this process may be scheduled later.
  std::chrono::steady_clock::time_point started_at() const { return started_at_; }
  /// Whether it has ended; waits so long for it, and takes what it writes. A signal to this process
  /// ends the wait.
  bool wait_for_end(std::chrono::milliseconds at_most);

  /// What it wrote, where it was to be kept: the last 16 MiB.
  const std::string& output() const { return written_; }
  std::string last_words() const;  ///< last line of what it wrote to standard error

 private:
  Child() = default;
  Expected<void> open_files(const RunRequest& request);
  [[noreturn]] void become(const RunRequest& request) const;
  void tell_start(std::chrono::steady_clock::time_point now) const;
  [[noreturn]] void give_up(const Error& error) const;
  void take_output();

  pid_t pid_ = -1;
  bool started_ = false;
  std::chrono::steady_clock::time_point started_at_;
  std::string program_;
  Descriptor go_read_, go_write_;        ///< the child waits for the end of this
  Descriptor error_read_, error_write_;  ///< when it became the program, and why it could not
  Descriptor input_, output_, errors_;
  Descriptor written_read_;  ///< the other end of errors_
  std::string written_;
  Descriptor handle_;  ///< pidfd
};

}  // namespace numatlas
