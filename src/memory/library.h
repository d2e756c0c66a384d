// Internal: a shared library that is looked for when it is first wanted.
#pragma once

#include <dlfcn.h>

#include <string>

#include "base/error.h"

namespace numatlas {

/// Loaded once and never closed: libraries of this kind leave threads' and exit handlers behind.
class Library {
 public:
  /// `name` as the dynamic linker wants it, `package` where Debian has it.
  Library(const char* name, const char* package) : name_(name) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    const char* why = dlerror();
    problem_ = why == nullptr ? std::string(name) + " cannot be loaded" : why;
    hint_ = std::string("install it (Debian, Ubuntu: apt-get install ") + package + ")";
  }
  /// Sets `function` to a symbol, where there is one.
  template <class Function>
  void get(Function*& function, const char* symbol) {
    void* const found = handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
    function = reinterpret_cast<Function*>(found);
    if (found != nullptr || !problem_.empty()) return;
    problem_ = name_ + " has no " + symbol;
    hint_ = "install a later version of it";
  }
  /// A symbol that may be missing.
  void* find(const std::string& symbol) const {
    return handle_ == nullptr ? nullptr : dlsym(handle_, symbol.c_str());
  }
  /// "" when it is there with all that was got.
  const std::string& problem() const { return problem_; }
  const std::string& hint() const { return hint_; }
  /// Whether memory of `word` can be had; the library is named after it.
  Expected<void> check(const std::string& word) const {
    if (problem_.empty()) return {};
    return fail_about(ErrorKind::unavailable, "memory " + word,
                      "needs lib" + word + ": " + problem_, hint_);
  }

 private:
  std::string name_, problem_, hint_;
  void* handle_ = nullptr;
};

}  // namespace numatlas
