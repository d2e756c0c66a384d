#include "benchmarks/transfer/table.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/size_list.h"
#include "base/text.h"
#include "benchmarks/device_flows.h"
#include "benchmarks/device_totals.h"
#include "benchmarks/metrics.h"
#include "machine/pci_link.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

using Points = std::vector<const ScenarioResult*>;

std::string gb(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.2f}", *rate * 1e-9) : "-";
}

/// "bind:2" is node 2 in these tables.
std::string short_memory(const std::string& memory) {
  return memory.starts_with("bind:") ? "node " + memory.substr(5) : memory;
}

Points points_of(const RunReport& report, const std::string& measure) {
  Points points;
  for (const ScenarioResult& point : report.scenarios) {
    if (label_of(point, "measure") == measure) points.push_back(&point);
  }
  return points;
}

/// What is alike in the points of one table. Tables of points that were all left out are left out:
/// the notes below say why.
std::vector<std::pair<std::string, Points>> tables_of(const Points& points,
                                                      const std::vector<std::string>& labels) {
  std::vector<std::pair<std::string, Points>> tables;
  for (const ScenarioResult* point : points) {
    std::string key = point->pages;
    for (const std::string& label : labels) key += " " + label_of(*point, label);
    auto found = std::find_if(tables.begin(), tables.end(),
                              [&](const auto& table) { return table.first == key; });
    if (found == tables.end()) found = tables.insert(tables.end(), {key, {}});
    found->second.push_back(point);
  }
  std::erase_if(tables, [](const auto& table) {
    return std::all_of(table.second.begin(), table.second.end(),
                       [](const auto* point) { return point->status == Status::skipped; });
  });
  return tables;
}

std::vector<std::string> values_of(const Points& points, const char* label) {
  std::vector<std::string> values;
  for (const ScenarioResult* point : points) {
    const std::string value = label_of(*point, label);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

/// All bytes over the common time.
const Figure* rate_of(const ScenarioResult& point) {
  const Figure* sum = find_total(point, "bandwidth_sum");
  return sum != nullptr && sum->value() ? sum : nullptr;
}

std::string copy_cell(const ScenarioResult& point) {
  if (point.status == Status::failed) return "failed";
  const Figure* rate = rate_of(point);
  if (rate == nullptr) return "-";
  const auto width = half_width(*rate);
  const Figure* part = find_total(point, "link_part");
  return gb(rate->value()) + (width ? fmt::format(" +-{:.1f}%", *width * 100) : "") +
         (part != nullptr ? fmt::format(" {:3.0f}%", *part->value() * 100) : "");
}

const FlowResult* only_flow(const ScenarioResult& point) {
  return point.flows.empty() ? nullptr : &point.flows.front();
}

std::vector<Bytes> sizes_of(const Points& points) {
  std::vector<Bytes> sizes;
  for (const ScenarioResult* point : points) {
    if (std::find(sizes.begin(), sizes.end(), point->size) == sizes.end())
      sizes.push_back(point->size);
  }
  return sizes;
}

/// A row a place and size, a column a GPU.
template <class Cell>
std::string by_memory_and_gpu(const Points& points, const Cell& cell) {
  std::vector<std::vector<std::string>> rows{{"memory", "size"}};
  const auto gpus = values_of(points, "gpus");
  for (const std::string& gpu : gpus)
    rows[0].push_back(gpu.find(',') == std::string::npos ? "GPU " + gpu : "GPUs " + gpu);
  for (const std::string& memory : values_of(points, "memory")) {
    for (Bytes size : sizes_of(points)) {
      rows.push_back({short_memory(memory), compact_text(size)});
      for (const std::string& gpu : gpus) {
        std::string text = "-";
        for (const ScenarioResult* point : points) {
          if (label_of(*point, "memory") == memory && label_of(*point, "gpus") == gpu &&
              point->size == size)
            text = cell(*point);
        }
        rows.back().push_back(text);
      }
    }
  }
  return aligned(rows, 1);
}

/// Where each GPU copies fastest at the largest size, unless the intervals of the two best meet.
std::string best_text(const Points& points) {
  const std::vector<Bytes> sizes = sizes_of(points);
  const Bytes largest = *std::max_element(sizes.begin(), sizes.end());
  const std::string of_size = sizes.size() > 1 ? " at " + compact_text(largest) : "";
  std::string text;
  for (const std::string& gpu : values_of(points, "gpus")) {
    const char* const several = gpu.find(',') == std::string::npos ? "" : "s";
    std::vector<const ScenarioResult*> ranked;
    for (const ScenarioResult* point : points) {
      if (label_of(*point, "gpus") == gpu && point->size == largest && rate_of(*point) != nullptr)
        ranked.push_back(point);
    }
    if (ranked.size() < 2) continue;
    const auto rate = [](const ScenarioResult* point) { return *rate_of(*point)->value(); };
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](const auto* a, const auto* b) { return rate(a) > rate(b); });
    const auto half = [&](const ScenarioResult* point) {
      return rate(point) * half_width(*rate_of(*point)).value_or(0);
    };
    const bool apart = rate(ranked[0]) - half(ranked[0]) > rate(ranked[1]) + half(ranked[1]);
    const auto name = [](const ScenarioResult* point) {
      return short_memory(label_of(*point, "memory"));
    };
    text += apart ? fmt::format("  best for GPU{} {}{}: {}, {:.1f} % over {}\n", several, gpu,
                                of_size, name(ranked[0]),
                                (rate(ranked[0]) / rate(ranked[1]) - 1) * 100, name(ranked[1]))
                  : fmt::format(
                        "  best for GPU{} {}{}: {} and {} are the same within their intervals\n",
                        several, gpu, of_size, name(ranked[0]), name(ranked[1]));
  }
  return text;
}

std::string direction_text(const std::string& direction) {
  if (direction == "h2d") return "host to device";
  if (direction == "d2h") return "device to host";
  return "both directions at the same time, summed";
}

std::string copies_text(const RunReport& report) {
  std::string text;
  for (const auto& [key, points] :
       tables_of(points_of(report, "copies"), {"direction", "pinning"})) {
    const ScenarioResult& any = *points.front();
    text += fmt::format("Copies in GB/s, {} ({}, {} pages)\n",
                        direction_text(label_of(any, "direction")), label_of(any, "pinning"),
                        any.pages) +
            by_memory_and_gpu(points, copy_cell) + best_text(points) + "\n";
  }
  return text.empty() ? text
                      : text +
                            "+-: half the 95 % interval of the sum; then its part of the link's "
                            "limit, where that is known\n\n";
}

/// Where the copies of several flows were asked to run together: what the clocks say of it.
std::string together_text(const RunReport& report) {
  std::vector<std::vector<std::string>> rows{{"together", "memory", "GPUs", "pinning", "size",
                                              "aggregate", "by the GPUs' clocks", "overlap"}};
  for (const ScenarioResult* point : points_of(report, "copies")) {
    const Figure* overlap = find_total(*point, "copies_overlap");
    const Figure* events = find_total(*point, "event_bandwidth_sum");
    if (overlap == nullptr || events == nullptr || rate_of(*point) == nullptr) continue;
    rows.push_back({label_of(*point, "direction"), short_memory(label_of(*point, "memory")),
                    label_of(*point, "gpus"), label_of(*point, "pinning"),
                    compact_text(point->size), gb(rate_of(*point)->value()), gb(events->value()),
                    fmt::format("{:.0f}%", *overlap->value() * 100)});
  }
  if (rows.size() == 1) return {};
  return "Copies at the same time in GB/s (aggregate: all bytes over the common time; overlap: of "
         "the time with a\ncopy under way, the part in which all flows had one)\n" +
         aligned(rows, 4) + "\n";
}

std::string latency_text(const RunReport& report) {
  std::string text;
  for (const auto& [key, points] :
       tables_of(points_of(report, "latency"), {"direction", "pinning"})) {
    const ScenarioResult& any = *points.front();
    text += fmt::format(
        "Small copies in us, {} ({}, {} pages; from the call to the end: median, p95, p99)\n",
        direction_text(label_of(any, "direction")), label_of(any, "pinning"), any.pages);
    text += by_memory_and_gpu(points, [](const ScenarioResult& point) {
      const FlowResult* flow = only_flow(point);
      const Figure* time = flow != nullptr ? find_figure(*flow, "copy_time") : nullptr;
      if (time == nullptr || !time->summary) return std::string("-");
      return fmt::format("{:.2f} {:.2f} {:.2f}", time->summary->median * 1e6,
                         time->summary->p95 * 1e6, time->summary->p99 * 1e6);
    });
    text += "\n";
  }
  return text;
}

std::string chase_text(const RunReport& report) {
  std::string text;
  for (const auto& [key, points] : tables_of(points_of(report, "chase"), {"caches"})) {
    const ScenarioResult& any = *points.front();
    text += fmt::format("Latency of a GPU's loads from memory of the host in ns ({} pages, {})\n",
                        any.pages,
                        label_of(any, "caches") == "warm" ? "lines just read by a CPU"
                                                          : "lines flushed from the CPUs' caches");
    text += by_memory_and_gpu(points, [](const ScenarioResult& point) {
      const FlowResult* flow = only_flow(point);
      const Figure* latency = flow != nullptr ? find_figure(*flow, "latency") : nullptr;
      if (latency == nullptr || !latency->value()) return std::string("-");
      return fmt::format("{:.1f} +-{:.1f}%", *latency->value() * 1e9,
                         half_width(*latency).value_or(0) * 100);
    });
    text += "\n";
  }
  return text;
}

std::string peer_text(const RunReport& report) {
  std::string text;
  for (const auto& [key, points] : tables_of(points_of(report, "peer"), {})) {
    std::vector<std::vector<std::string>> rows{{"from GPU", "to GPU", "GB/s", "+-", "route"}};
    for (const ScenarioResult* point : points) {
      const FlowResult* flow = only_flow(*point);
      const Figure* rate = rate_of(*point);
      const auto width = rate != nullptr ? half_width(*rate) : std::nullopt;
      const std::string gpus = label_of(*point, "gpus");
      const auto comma = gpus.find(',');
      rows.push_back({gpus.substr(0, comma), gpus.substr(comma + 1),
                      gb(rate != nullptr ? rate->value() : std::nullopt),
                      width ? fmt::format("{:.1f}%", *width * 100) : "-",
                      flow != nullptr && flow->gpu ? flow->gpu->route : "-"});
    }
    text += fmt::format("Copies between GPUs ({} each)\n", compact_text(points.front()->size)) +
            aligned(rows, 0) + "\n";
  }
  return text;
}

/// What pinning takes, of the largest copies.
std::string pinning_text(const RunReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"memory", "pinning", "size", "pages", "pin", "GB/s", "unpin"}};
  std::set<std::string> seen;
  const auto ms = [](const Figure* time) {
    return time != nullptr && time->value() ? fmt::format("{:.2f} ms", *time->value() * 1e3) : "-";
  };
  for (const ScenarioResult* point : points_of(report, "copies")) {
    // Of several at once each waits for the others.
    const FlowResult* flow = point->flows.size() == 1 ? only_flow(*point) : nullptr;
    const Figure* pin = flow != nullptr ? find_figure(*flow, "pin_time") : nullptr;
    if (pin == nullptr || !pin->value() || !(*pin->value() > 0)) continue;
    const std::string memory = label_of(*point, "memory");
    const std::string pinning = label_of(*point, "pinning");
    const std::string key =
        fmt::format("{} {} {} {}", memory, pinning, point->size.value, point->pages);
    if (!seen.insert(key).second) continue;
    rows.push_back({short_memory(memory), pinning, compact_text(point->size), point->pages, ms(pin),
                    gb(static_cast<double>(point->size.value) / *pin->value()),
                    ms(find_figure(*flow, "unpin_time"))});
  }
  return rows.size() == 1 ? ""
                          : "Cost of pinning (median of three times)\n" + aligned(rows, 2) + "\n";
}

/// The link in use, as it was during the copies.
std::string link_during(const RunReport& report, int host, int gpu) {
  std::optional<PciLink> fastest;
  for (const ScenarioResult& point : report.scenarios) {
    for (const FlowResult& flow : point.flows) {
      if (!flow.gpu || !flow.gpu->link || flow.gpu->gpu != gpu || host_of(report, flow) != host)
        continue;
      const bool faster =
          !fastest || flow.gpu->link->speed.value_or(0) > fastest->speed.value_or(0);
      if (faster) fastest = flow.gpu->link;
    }
  }
  return fastest ? link_text(*fastest) : "-";
}

std::string gpus_text(const RunReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"GPU", "name", "address", "node", "link during copies", "limit GB/s"}};
  for (std::size_t host = 0; host < report.machines.size(); ++host) {
    for (int index : usable_gpus({report.machines[host]})) {
      const Gpu& gpu = *find_gpu(report.machines[host], index);
      rows.push_back({std::to_string(index), gpu.name.empty() ? "-" : gpu.name,
                      gpu.pci_address.empty() ? "-" : gpu.pci_address,
                      gpu.node ? std::to_string(gpu.node->value) : "-",
                      link_during(report, static_cast<int>(host), index), gb(path_limit(gpu))});
    }
  }
  return aligned(rows, 5) + "\n";
}

std::string host_text(const RunReport& report) {
  return gpus_text(report) + copies_text(report) + together_text(report) + latency_text(report) +
         chase_text(report) + peer_text(report) + pinning_text(report);
}

}  // namespace

std::string transfer_table(const RunReport& report, bool stats) {
  std::string text;
  if (report.hosts.size() == 1) {
    text = host_text(report);
  } else {
    for (std::size_t host = 0; host < report.hosts.size(); ++host) {
      text += fmt::format("Host {}\n\n", report.hosts[host]) +
              host_text(of_host(report, static_cast<int>(host)));
    }
  }
  if (stats) {
    text += stats_text(report);
    if (!points_of(report, "copies").empty() || !points_of(report, "latency").empty())
      text += "Time of a copy (ns)\n" + stats_table(report, "copy_time") + "\n";
  }
  return text + notes_text(report);
}

}  // namespace numatlas
