#include "run/weighted_run.h"

#include "base/say.h"
#include "base/signals.h"
#include "placement/system_weights.h"

namespace numatlas {

Expected<std::vector<Trace>> run_weighted(Engine& engine, const PlannedScenario& planned,
                                          const Scenario& scenario) {
  if (planned.system_weights.empty()) return engine.run(scenario);
  auto weights = SystemWeights::set(planned.system_weights);
  if (!weights) return fail(weights.error());
  auto traces = engine.run(scenario);
  if (traces && planned.keep_weights && !stop_requested()) {
    weights->keep();
    return traces;
  }
  const auto restored = weights->restore();
  if (!restored) return fail(restored.error());
  if (!restored->empty()) say("numatlas: " + *restored + "\n");
  return traces;
}

}  // namespace numatlas
