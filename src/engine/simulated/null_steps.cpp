#include "simulated/null_steps.h"
#include "kernels/traits.h"

#include <algorithm>
#include <cstddef>

namespace numatlas {
namespace {

// An atomic addition in a line that is in the CPU's own first-level cache.
constexpr double own_addition_ns = 4.6;
// By compare-and-swap it is a load more.
constexpr double exchange_factor = 1.2;
// Attempts that each further CPU makes vain.
constexpr double vain_per_cpu = 0.35;
// Of the CPUs that add to words of one line.
constexpr std::size_t words_per_line = 8;

const KernelTraits& kernel_of(const Flow& flow) { return traits_of(flow.kernel.name); }
bool adds(const Flow& flow) { return kernel_of(flow).step == StepKind::addition; }

/// CPUs that want the same line, this one included.
double contenders(const Scenario& scenario, const Flow& flow) {
  if (flow.kernel.counter.sharing == Sharing::own) return 1;
  const std::size_t most =
      flow.kernel.counter.sharing == Sharing::same ? scenario.flows.size() : words_per_line;
  return static_cast<double>(std::min(scenario.flows.size(), most));
}

double attempts(const Scenario& scenario, const Flow& flow) {
  if (!kernel_of(flow).retries || flow.kernel.counter.sharing != Sharing::same) return 1;
  return 1 + vain_per_cpu * (contenders(scenario, flow) - 1);
}

// Until a page is found, and what each further thread adds to it by the kernel's locks; a part of
// it where the kernel is asked for many at once.
constexpr double fault_ns = 280, lock_per_thread = 0.12, asked_together = 0.55;
// Bytes a nanosecond that the kernel clears, and that it copies.
constexpr double clear_rate = 11, move_rate = 4.5;
// To move a page without its bytes; by mbind it is looked for first.
constexpr double move_ns = 900, look_ns = 60;
// A load that comes upon a page on its way waits for its end.
constexpr double wait_for_pages = 1.35;

double fault_step_ns(const Scenario& scenario, const Flow& flow, double farther) {
  const PageWork& work = flow.kernel.page;
  const auto page = static_cast<double>(work.page.value);
  const auto threads = static_cast<double>(scenario.flows.size());
  double each = fault_ns * (1 + lock_per_thread * (threads - 1));
  if (work.faulting != Faulting::touch) each *= asked_together;
  return (each + page / clear_rate * farther) * static_cast<double>(work.step_bytes()) / page;
}

double move_step_ns(const Flow& flow, double farther) {
  const PageWork& work = flow.kernel.page;
  const auto page = static_cast<double>(work.page.value);
  const double each = move_ns + (work.moving == Moving::mbind ? look_ns : 0);
  return (each + page / move_rate * farther) * static_cast<double>(work.step_bytes()) / page;
}

}  // namespace

std::optional<double> null_step_ns(const Scenario& scenario, const Flow& flow, double hop_ns,
                                   double farther) {
  const StepKind step = kernel_of(flow).step;
  if (step == StepKind::fault) return fault_step_ns(scenario, flow, farther);
  if (step == StepKind::migration) return move_step_ns(flow, farther);
  if (!adds(flow)) return std::nullopt;
  const double others = contenders(scenario, flow) - 1;
  const double factor = kernel_of(flow).retries ? exchange_factor : 1;
  return (own_addition_ns + others * hop_ns) * factor * attempts(scenario, flow);
}

double null_wait_for_pages(const Scenario& scenario, const Flow& flow) {
  const bool moved =
      std::any_of(scenario.flows.begin(), scenario.flows.end(), [&](const Flow& other) {
        return &other != &flow && other.shares &&
               &scenario.flows[static_cast<std::size_t>(*other.shares)] == &flow &&
               kernel_of(other).step == StepKind::migration;
      });
  return moved ? wait_for_pages : 1;
}

std::vector<StepCount> null_counts(const Scenario& scenario, const Flow& flow) {
  const StepKind step = kernel_of(flow).step;
  if (step == StepKind::fault) return {{"faults_per_page", 1}};
  if (step == StepKind::migration) return {{"left_behind", 0}};
  if (!adds(flow)) return {};
  return {{"attempts", attempts(scenario, flow)}};
}

}  // namespace numatlas
