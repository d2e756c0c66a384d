// Which flows have memory in common, at the same time and one after the other.
#pragma once

#include "engine/scenario.h"

namespace numatlas {

/// The flow whose memory this one works on: itself, unless it shares.
const Flow& memory_owner(const Scenario& scenario, const Flow& flow);

/// The worker that touches a flow's own memory first.
int toucher_of(const Flow& flow);

/// Whether no other flow works on the same memory: what two left there is no start for the next
/// two.
bool stands_alone(const Scenario& scenario, int flow);

/// Whether two flows do the same to the same memory; they may differ in role and rate.
bool same_work(const Flow& a, const Flow& b);

}  // namespace numatlas
