// Which flows have memory in common, at the same time and one after the other.
#pragma once

#include <vector>

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
/// Whether one can have the pages of the other, which its own kernel writes anew: not where a
/// kernel gives pages back or moves them, or where a device has them.
bool same_pages(const Flow& a, const Flow& b);

/// Completes Trace::stopped of a rank's flows, which so far has what the system told: adds samples
/// that took far longer than usual, as where a hypervisor has the CPU, and of flows that share
/// memory those in which another of them was stopped. Who works on a line alone is several times as
/// fast as two: such a time is nobody's. `share_cpus`: there are more workers than CPUs, and one of
/// them always waits for a CPU, which is part of what they measure.
void note_stops(const Scenario& scenario, std::vector<Trace>& traces, bool share_cpus);

}  // namespace numatlas
