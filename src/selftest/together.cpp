#include "selftest/together.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "engine/engine.h"
#include "placement/kept_cpus.h"

namespace numatlas {

Expected<std::vector<Trace>> read_together(const CheckInput& input,
                                           const std::vector<WorkerPlacement>& workers,
                                           Nanoseconds time) {
  constexpr Bytes size{1 << 20};
  const auto alone = make_single_comm();
  auto layout = TRY(gather_layout(*alone, workers));
  auto engine = make_engine(*alone, layout, input.machine, {});
  if (!engine) return fail(engine.error());
  Scenario scenario{"selftest", {}, {}};
  scenario.stop.time = time;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    Flow flow;
    flow.worker = static_cast<int>(i);
    flow.kernel = {LoopParameters{Operation::read}};
    flow.region.bytes = size;
    flow.region.placement = {MemoryMode::inherit, {}};
    flow.warm_up = size;
    scenario.flows.push_back(std::move(flow));
  }
  // Worker 0 is this thread.
  const KeptCpus kept;
  return (*engine)->run(scenario);
}

}  // namespace numatlas
