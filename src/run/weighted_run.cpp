#include "run/weighted_run.h"

#include "base/say.h"
#include "base/signals.h"
#include "placement/system_weights.h"

namespace numatlas {

Expected<std::vector<Trace>> run_weighted(Engine& engine, const PlannedScenario& planned,
                                          const Scenario& scenario) {
  if (planned.system_weights.empty()) return engine.run(scenario);
  auto weights = TRY(SystemWeights::set(planned.system_weights));
  auto traces = engine.run(scenario);
  if (traces && planned.keep_weights && !stop_requested()) {
    weights.keep();
    return traces;
  }
  const auto restored = TRY(weights.restore());
  if (!restored.empty()) say("numatlas: " + restored + "\n");
  return traces;
}

}  // namespace numatlas
