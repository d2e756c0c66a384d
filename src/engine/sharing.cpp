#include "engine/sharing.h"

#include <algorithm>
#include <cstddef>

namespace numatlas {

const Flow& memory_owner(const Scenario& scenario, const Flow& flow) {
  return flow.shares ? scenario.flows[static_cast<std::size_t>(*flow.shares)] : flow;
}

int toucher_of(const Flow& flow) { return flow.first_touch.value_or(flow.worker); }

bool stands_alone(const Scenario& scenario, int flow) {
  return !scenario.flows[static_cast<std::size_t>(flow)].shares &&
         std::none_of(scenario.flows.begin(), scenario.flows.end(),
                      [&](const Flow& other) { return other.shares == flow; });
}

bool same_work(const Flow& a, const Flow& b) {
  // The weights of the system may have changed under a weighted one.
  return a.region.placement.mode != MemoryMode::weighted && a.worker == b.worker &&
         a.kernel == b.kernel && a.region == b.region && a.source == b.source &&
         a.first_touch == b.first_touch && !a.shares && !b.shares;
}

}  // namespace numatlas
