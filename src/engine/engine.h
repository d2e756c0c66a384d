// Runs flows together: Scenario -> Trace. Knows nothing of benchmarks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/warning.h"
#include "comm/comm.h"
#include "engine/clock.h"
#include "engine/layout.h"
#include "engine/scenario.h"
#include "kernels/vector_width.h"

namespace numatlas {

/// Told by the engine what goes on (rank 0 shows it). Called between samplings only.
class ProgressListener {
 public:
  virtual ~ProgressListener() = default;
  virtual void phase(const Scenario& scenario, const std::string& phase) = 0;
};

struct EngineOptions {
  bool strict = false;                   ///< unmet placement is an error instead of a warning
  bool strict_pages = true;              ///< so are pages of another kind
  ProgressListener* progress = nullptr;  ///< not owned; may be null
  /// Called on a rank that has flows, when their memory stands and before it is measured, with
  /// what is known of them: where it lies, and what is to be said of it.
  std::function<void(const std::vector<const Trace*>&)> when_prepared;
  /// What was found so far for loops of flows in memory, and what is found from now on; the same on
  /// all ranks. Not owned; null: the widest vectors are used.
  std::vector<VectorWidth>* widths = nullptr;
  /// For tests: each whole pass takes so many times as long as it would.
  double slow_down = 1;
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Runs one scenario; collective over all ranks. Returns the traces of this rank's flows, in the
  /// order of the flows. An error (the lowest failing rank's, named) is the same on every rank, and
  /// leaves the engine ready for the next scenario unless its kind is `peer` or `interrupted`.
  /// After a stop in the middle of the sampling the traces hold what was recorded (StopReason
  /// interrupted).
  virtual Expected<std::vector<Trace>> run(const Scenario& scenario) = 0;
  /// "OpenMP 201511, 2 threads a rank", "null (scripted clock)".
  virtual std::string description() const = 0;
  /// Frees memory that is kept for the next scenario, if there is any.
  virtual void release() = 0;
  /// The time in which scenarios run.
  virtual Clock& clock() = 0;
};

/// The real one. Comm, layout and machine must outlive it. Collective.
Expected<std::unique_ptr<Engine>> make_engine(Comm& comm, const Layout& layout,
                                              const Machine& machine, const EngineOptions& options);

/// How an observed placement differs from the requested one, in words with figures: `placement` of
/// the nodes, `page-size`, or `placement-unknown` where nothing was observed; none when met.
/// `cpu_node`: what `local` means (-1 unknown: not judged).
std::vector<Warning> placement_warnings(const Region& region, const Residency& residency,
                                        NodeId cpu_node, const Machine& machine);

}  // namespace numatlas
