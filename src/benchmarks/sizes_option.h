// --size of the benchmarks that take several sizes and choose one where none is given.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "benchmarks/options.h"
#include "benchmarks/room.h"

namespace numatlas {

class SizesOption {
 public:
  /// `usual`: what a worker has where --size is not given; less where nodes are small.
  explicit SizesOption(Bytes usual) : usual_(usual) {}

  void add_to(CLI::App& app);
  /// Error: --size cannot be read.
  Expected<void> parse();

  /// Those on the command line, or the usual one, for checks before the machine is known.
  std::vector<Bytes> asked() const { return given_.empty() ? std::vector{usual_} : given_; }

  /// `plan_of(sizes)` with those given, or with the usual size if there is room for its flows, or
  /// with less.
  template <class PlanOf>
  std::vector<PlannedScenario> plan(const PlanInput& input, const PlanOf& plan_of) const {
    if (!given_.empty()) return plan_of(given_);
    auto plan = plan_of({usual_});
    const Bytes size = size_with_room(input, usual_, plan);
    return size == usual_ ? plan : plan_of({size});
  }

 private:
  Bytes usual_;
  std::string text_;
  std::vector<Bytes> given_;
};

}  // namespace numatlas
