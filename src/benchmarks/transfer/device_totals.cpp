#include "benchmarks/transfer/device_totals.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "machine/pci_link.h"

namespace numatlas {

std::optional<double> overlap_of(const std::vector<const Steps*>& flows) {
  if (flows.size() < 2) return std::nullopt;
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  // +1 where a step begins, -1 where it ends.
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const Steps* steps : flows) {
    if (steps->empty()) return std::nullopt;
    from = std::max(from, steps->front().first);
    to = std::min(to, steps->back().first + steps->back().second);
    std::int64_t last_end = std::numeric_limits<std::int64_t>::min();
    for (const auto& [start, duration] : *steps) {
      // Clocks are a little off: one stream's steps do not overlap each other.
      const std::int64_t begin = std::max(start, last_end), end = std::max(begin, start + duration);
      changes.emplace_back(begin, 1);
      changes.emplace_back(end, -1);
      last_end = end;
    }
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t any = 0, all = 0, before = from;
  int busy = 0;
  for (const auto& [time, change] : changes) {
    const std::int64_t now = std::clamp(time, from, std::max(from, to));
    if (busy > 0) any += now - before;
    if (busy == static_cast<int>(flows.size())) all += now - before;
    before = now;
    busy += change;
  }
  if (any <= 0) return std::nullopt;
  return static_cast<double>(all) / static_cast<double>(any);
}

std::optional<double> link_limit(const Case& one, const RunReport& report) {
  // By host and direction, then by GPU: a GPU with several flows has one link.
  std::map<std::pair<int, std::string>, std::map<std::string, double>> links;
  for (const FlowResult& flow : one.flows) {
    if (!flow.gpu || !flow.gpu->link_limit) return std::nullopt;
    links[{host_of(report, flow), flow.gpu->direction}][flow.gpu->pci_address] =
        *flow.gpu->link_limit;
  }
  double limit = 0;
  for (const auto& [place, by_address] : links) {
    // A report of one host has one machine.
    const std::size_t host =
        report.machines.size() == 1 ? 0 : static_cast<std::size_t>(place.first);
    const Machine& machine = report.machines[host];
    double all = 0;
    for (const auto& [address, its] : by_address) all += its;
    double shared = 0;
    for (const SharedPort& port : shared_ports(machine)) {
      double behind = 0;
      for (std::size_t gpu : port.gpus) {
        const auto found = by_address.find(machine.gpus[gpu].pci_address);
        if (found != by_address.end()) behind += found->second;
      }
      // Of switches behind switches the worst one counts.
      if (port.limit && behind > *port.limit) shared = std::max(shared, behind - *port.limit);
    }
    limit += all - shared;
  }
  return limit > 0 ? std::optional(limit) : std::nullopt;
}

namespace {

/// Of copies that are each waited for: whether it can be told which of them were under way
/// together.
bool long_against_clocks(const FlowResult& flow) {
  constexpr double clock_errors = 10;
  const Figure* time = find_figure(flow, "copy_latency");
  return time != nullptr && time->value() && *time->value() > clock_errors * flow.gpu->clock_error;
}

}  // namespace

std::vector<Figure> device_totals(const Case& one, const RunReport& report) {
  std::vector<Figure> totals;
  double events = 0;
  bool queued = true;
  std::map<int, std::vector<const Steps*>> hosts;
  for (const FlowResult& flow : one.flows) {
    const Figure* rate = find_figure(flow, "event_bandwidth");
    if (!flow.gpu) continue;
    if (rate == nullptr ? !long_against_clocks(flow) : !rate->value()) continue;
    queued = queued && rate != nullptr;
    events += rate != nullptr ? *rate->value() : 0;
    hosts[host_of(report, flow)].push_back(&flow.gpu->steps);
  }
  std::optional<double> least;
  for (const auto& [host, flows] : hosts) {
    const auto overlap = overlap_of(flows);
    if (overlap) least = std::min(least.value_or(1), *overlap);
  }
  if (least && queued) totals.push_back({"event_bandwidth_sum", "B/s", events, std::nullopt});
  if (least) totals.push_back({"copies_overlap", "1", *least, std::nullopt});
  const Figure* sum = find_total(one, "bandwidth_sum");
  const auto limit = link_limit(one, report);
  if (sum != nullptr && sum->value() && limit)
    totals.push_back({"link_part", "1", scaled(*sum->estimate, 1 / *limit), std::nullopt});
  return totals;
}

namespace {

void warn_of_turns(const Case& one, std::vector<Warning>& warnings) {
  // Streams that run together are busy all the time; what is in between is neither.
  constexpr double least_overlap = 0.5;
  // What the GPUs' clocks may add up to more than the wall clock before somebody waited.
  constexpr double most_more = 1.25;
  const Figure* overlap = find_total(one, "copies_overlap");
  const Figure* events = find_total(one, "event_bandwidth_sum");
  const Figure* sum = find_total(one, "bandwidth_sum");
  if (overlap == nullptr || sum == nullptr || !sum->value()) return;
  const bool turns = *overlap->value() < least_overlap;
  // Copies that are each waited for have pauses in between, and no such rate.
  if (!turns && (events == nullptr || *events->value() <= most_more * *sum->value())) return;
  std::string text = fmt::format(
      "{} (all were under way in {:.0f} % of the time in which any was)",
      turns ? "the copies took turns" : "the copies waited for the CPU or the driver in between",
      *overlap->value() * 100);
  if (events != nullptr) {
    text += fmt::format(
        ": by the GPUs' clocks they add up to {:.2f} GB/s, but all bytes over the common time are "
        "{:.2f} GB/s",
        *events->value() * 1e-9, *sum->value() * 1e-9);
  }
  warnings.push_back({"copies-took-turns", one.name, std::move(text)});
}

void warn_of_slow_clocks(const Case& one, std::vector<Warning>& warnings) {
  for (std::string& text : slowed_gpus(one))
    warnings.push_back({"gpu-slowed", one.name, std::move(text)});
}

/// Both directions against the faster one of them alone: a driver may count as under way what
/// waits for a copy engine, and then the events show nothing.
void warn_of_no_gain(const Case& both, const RunReport& report, std::vector<Warning>& warnings) {
  constexpr double least_gain = 1.15;
  const Figure* sum = find_total(both, "bandwidth_sum");
  if (label_of(both, "direction") != "both" || sum == nullptr || !sum->value()) return;
  const auto alike = [&](const Case& one) {
    for (const char* label : {"measure", "gpus", "memory", "pinning"}) {
      if (label_of(one, label) != label_of(both, label)) return false;
    }
    return one.size == both.size && one.pages == both.pages && &one != &both;
  };
  double alone = 0;
  for (const Case& one : report.cases) {
    const Figure* its = alike(one) ? find_total(one, "bandwidth_sum") : nullptr;
    if (its != nullptr) alone = std::max(alone, its->value().value_or(0));
  }
  if (!(alone > 0) || *sum->value() >= least_gain * alone) return;
  warnings.push_back(
      {"no-gain-from-both-directions", both.name,
       fmt::format(
           "both directions together pass {:.2f} GB/s, hardly more than one alone ({:.2f} GB/s): "
           "they took turns, or something on the way takes no more",
           *sum->value() * 1e-9, alone * 1e-9)});
}

std::string pages_text(const Residency& seen) {
  std::string text;
  for (const auto& [node, pages] : seen.pages_by_node)
    text += fmt::format("{}{} on node {}", text.empty() ? "" : ", ", pages, node);
  return text.empty() ? "no page known" : text;
}

void warn_of_moves(const Case& one, std::vector<Warning>& warnings) {
  for (const FlowResult& flow : one.flows) {
    if (!flow.gpu || !flow.gpu->before_pinning || !flow.gpu->after) continue;
    const Residency& before = *flow.gpu->before_pinning;
    const Residency& pinned = observed_memory(flow);
    const Residency& after = *flow.gpu->after;
    const bool stayed =
        before.pages_by_node == pinned.pages_by_node && pinned.pages_by_node == after.pages_by_node;
    if (stayed) continue;
    warnings.push_back(
        {"memory-moved", fmt::format("{}, worker {}", one.name, flow.worker),
         fmt::format("its memory moved: before it was pinned {}, then {}, at the end {}",
                     pages_text(before), pages_text(pinned), pages_text(after))});
  }
}

}  // namespace

std::vector<Warning> device_warnings(const RunReport& report) {
  std::vector<Warning> warnings;
  for (const Case& one : report.cases) {
    warn_of_turns(one, warnings);
    warn_of_no_gain(one, report, warnings);
    warn_of_moves(one, warnings);
    warn_of_slow_clocks(one, warnings);
  }
  return warnings;
}

}  // namespace numatlas
