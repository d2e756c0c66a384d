// --size of the benchmarks that take several sizes and choose one where none is given.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/options.h"
#include "benchmarks/room.h"

namespace numatlas {

class SizesOption {
 public:
  /// `usual`: what a worker has where --size is not given; less where nodes are small.
  explicit SizesOption(Bytes usual) : usual_(usual) {}

  /// `what` begins the help: what has this size.
  void add_to(CLI::App& app, const std::string& what);
  /// Error: --size cannot be read.
  Expected<void> parse();

  /// Those on the command line, or one for which the flows of `plan_of(sizes)` have room.
  template <class PlanOf>
  std::vector<Bytes> sizes(const PlanInput& input, const PlanOf& plan_of) const {
    if (!given_.empty()) return given_;
    return {size_with_room(input, usual_, plan_of({usual_}))};
  }

 private:
  Bytes usual_;
  std::string text_;
  std::vector<Bytes> given_;
};

}  // namespace numatlas
