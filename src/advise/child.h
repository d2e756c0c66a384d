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
  /// A process that waits for start(). It ends with this one, in whatever way this one ends.
  static Expected<std::unique_ptr<Child>> fork_for(const RunRequest& request);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  /// Lets it become the program, and comes back when it has. Errors as run_program's.
  Expected<void> start();
  pid_t pid() const { return pid_; }
  /// Whether it has ended; waits so long for it. A signal to this process ends the wait.
  bool wait_for_end(std::chrono::milliseconds at_most) const;

  std::string output() const;      ///< what it wrote, where it was to be kept
  std::string last_words() const;  ///< last line of what it wrote to standard error

 private:
  Child() = default;
  Expected<void> open_files(const RunRequest& request);
  [[noreturn]] void become(const RunRequest& request) const;
  [[noreturn]] void give_up(const Error& error) const;

  pid_t pid_ = -1;
  bool started_ = false;
  std::string program_;
  Descriptor go_read_, go_write_;        ///< the child waits for the end of this
  Descriptor error_read_, error_write_;  ///< why it could not become the program
  Descriptor input_, output_, errors_;
  Descriptor handle_;  ///< pidfd
};

}  // namespace numatlas
