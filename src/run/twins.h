// Which cases of a session's benchmarks are the same work: the same flows of the same workers on
// the same memory. They share one list of visits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "run/benchmark_run.h"

namespace numatlas {

class Twins {
 public:
  /// Gives the cases from `first` on of a run the lists of those of other runs that are the same
  /// work.
  void add(BenchmarkRun& benchmark, std::size_t first);

 private:
  struct Work {
    std::vector<Flow> flows;  ///< their workers are the session's
    std::shared_ptr<VisitList> done;
    const BenchmarkRun* last = nullptr;  ///< run that has it
  };

  /// By number of flows, their size and the first one's kernel.
  std::multimap<std::tuple<std::size_t, std::uint64_t, std::string>, Work> works_;
};

}  // namespace numatlas
