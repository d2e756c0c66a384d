// The keys of a flow in a file, each listed once: they are read and checked by this list.
// Flows in a line, as tables of these keys (docs/scenarios.md).
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/traits.h"
#include "scenario/scenario_file.h"
#include "scenario/table_reader.h"

namespace numatlas {

/// No machine has more.
inline constexpr int most_cpu = 1 << 20;

/// What a kernel is told, where it is of this kind; else `none`, which no kernel heeds.
template <class P>
auto& parameters_or(auto& kernel, P& none) {
  auto* const its = kernel.template find<P>();
  using Found = std::remove_reference_t<decltype(*its)>;
  return its != nullptr ? *its : static_cast<Found&>(none);
}

/// Calls f(key, value, applies, limits...) in the order of the documents. `applies`:
/// whether the kernel heeds the key. Limits are those of a whole number; bytes with a limit may
/// stand without a unit. `entry`: a FlowEntry.
void list_keys(auto& f, auto& entry) {
  auto& flow = entry.flow;
  auto& kernel = flow.kernel;
  ChaseParameters no_chase;
  MixParameters no_mix;
  PingPongParameters no_ping_pong;
  auto& chain = parameters_or(kernel, no_chase);
  const KernelTraits& is = traits_of(kernel);
  const bool chases = is.chases();
  f("threads", entry.threads, true, 0, most_cpu);
  f("mix", parameters_or(kernel, no_mix), kernel.template find<MixParameters>() != nullptr);
  f("memory", entry.memory, true);
  f("size", flow.region.bytes, true);
  f("pages", flow.region.pages, true);
  f("source", flow.source, is.takes_source);
  f("shares", entry.shares, true, 0, most_cpu);
  f("first_touch", entry.first_touch, true, 0, most_cpu);
  f("stores", kernel.stores, is.streams() && is.writes);
  f("order", chain.order, chases);
  f("stride", chain.stride, chases, 1);
  f("window", chain.page, chases, 1);
  f("seed", kernel.seed, chases, 0, INT64_MAX);
  f("verify", chain.verify_full, chases);
  f("chains", chain.chains, chases, 1, most_chains);
  f("tail_group", chain.tail_group, chases, 0, most_tail_group);
  f("lines", parameters_or(kernel, no_ping_pong).lines, is.is_ping_pong(), 1, most_ping_pong_lines);
  f("role", flow.role, true);
  f("rate", flow.rate, !is.is_ping_pong());
  f("warm_up", flow.warm_up, true, 0);
}

/// The keys of the table of a source, which there is.
void list_source_keys(auto& f, auto& entry) {
  f("source.memory", entry.source_memory, true);
  f("source.size", entry.flow.source->bytes, true);
  f("source.pages", entry.flow.source->pages, true);
}

/// The table of a flow that says the same. Errors have no subject.
Expected<toml::table> table_of_flow(const std::string& line);
/// "chase cpu:4 + read cpu:5" -> its flows.
std::vector<std::string> flows_of_text(const std::string& text);

}  // namespace numatlas
