// --size of the benchmarks.
#pragma once

#include <string>
#include <vector>

#include "run/options.h"

namespace numatlas {

class SizesOption {
 public:
  /// `usual`: the words of --help for what a worker has where --size is not given, and after a line
  /// break what else is to be said of it.
  explicit SizesOption(const char* usual) : usual_(usual) {}

  /// `what` begins the help: what has this size. `one`: it takes no list.
  void add_to(CLI::App& app, const std::string& what, bool one = false);
  /// Error: --size cannot be read; names the `command` that takes one only.
  Expected<void> parse(const std::string& command = "");

  /// Those on the command line; empty where --size is not given.
  const std::vector<Bytes>& given() const { return given_; }

 private:
  std::string usual_;
  bool one_ = false;
  std::string text_;
  std::vector<Bytes> given_;
};

}  // namespace numatlas
