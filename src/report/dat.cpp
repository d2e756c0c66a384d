#include "report/dat.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "analysis/rows.h"

namespace numatlas {
namespace {

/// Processes of a host, threads of each.
struct HostShape {
  int processes = 1, threads = 1;
  friend auto operator<=>(const HostShape&, const HostShape&) = default;
};

HostShape shape_of(const HostRow& host) {
  const int processes = std::max(1, host.processes);
  return {processes, std::max(1, (host.workers + processes - 1) / processes)};
}

/// That of most hosts; of two as frequent the larger.
HostShape common_shape(const RunReport& report) {
  std::map<HostShape, std::size_t> counts;
  for (const HostRow& host : report.host_rows) ++counts[shape_of(host)];
  HostShape common;
  std::size_t most = 0;
  for (const auto& [shape, count] : counts) {
    if (count < most) continue;
    most = count;
    common = shape;
  }
  return common;
}

std::string mode_of(const Case& one) { return label_of(one, "mode"); }

/// The cases that hosts measured, each with its name here: "copy", "copy_individual".
std::vector<std::pair<const Case*, std::string>> dat_kernels(const RunReport& report) {
  std::vector<std::pair<const Case*, std::string>> kernels;
  for (const Case& one : report.cases) {
    if (find_total(one, pass_bytes_key) == nullptr) continue;
    std::string name = one.kernel;
    if (mode_of(one) != "memory") name += "_" + mode_of(one);
    // The same kernel again, with other stores.
    if (std::ranges::any_of(kernels, [&](const auto& other) { return other.second == name; }))
      name += "_" + one.stores;
    kernels.emplace_back(&one, std::move(name));
  }
  return kernels;
}

void add_text(pugi::xml_node parent, const std::string& name, const std::string& text) {
  parent.append_child(name.c_str()).text().set(text.c_str());
}

/// The shortest text that reads back as the same number.
std::string exact(double value) { return fmt::format("{}", value); }

struct TextWriter final : pugi::xml_writer {
  std::string text;
  void write(const void* data, std::size_t size) override {
    text.append(static_cast<const char*>(data), size);
  }
};

}  // namespace

std::string capitalised(std::string name) {
  if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

std::string dat_name(const RunReport& run) {
  const HostShape shape = common_shape(run);
  const std::string& iso = run.started;  // 2021-04-01T10:01:00Z
  std::string stamp;
  if (iso.size() >= 16) {
    stamp = iso.substr(11, 2) + iso.substr(14, 2) + iso.substr(8, 2) + iso.substr(5, 2) +
            iso.substr(0, 4);
  }
  return fmt::format("memory_results-{}x{}-{}.dat", shape.processes, shape.threads, stamp);
}

namespace {

void add_times(pugi::xml_node node, const std::string& name, const std::vector<PassTimes>& passes,
               int processes) {
  const auto times = counted(passes);
  if (times.empty()) return;
  double average = 0, least = times.front().node, most = 0;
  for (const PassTimes& pass : times) {
    average += pass.sum / processes / static_cast<double>(times.size());
    least = std::min(least, pass.node);
    most = std::max(most, pass.node);
  }
  pugi::xml_node kernel = node.append_child(name.c_str());
  add_text(kernel, "Average", exact(average));
  add_text(kernel, "Minimum", exact(least));
  add_text(kernel, "Maximum", exact(most));
}

}  // namespace

std::string dat_text(const RunReport& report) {
  const auto kernels = dat_kernels(report);
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "utf-8";
  pugi::xml_node run = document.append_child("stream_run");
  add_text(run, "experiment", dat_name(report));
  pugi::xml_node configuration = run.append_child("configuration");
  const HostShape common = common_shape(report);
  add_text(configuration, "processes_per_node", std::to_string(common.processes));
  add_text(configuration, "threads_per_process", std::to_string(common.threads));
  add_text(configuration, "number_of_nodes", std::to_string(report.hosts.size()));
  for (const auto& [one, name] : kernels)
    add_text(configuration, name + "_size",
             fmt::format("{:.0f}", find_total(*one, pass_bytes_key)->value().value_or(0)));
  pugi::xml_node results = run.append_child("results");
  for (std::size_t host = 0; host < report.hosts.size(); ++host) {
    pugi::xml_node node = results.append_child("node");
    add_text(node, "name", report.hosts[host]);
    const HostShape shape = shape_of(report.host_rows[host]);
    if (shape != common) {
      add_text(node, "processes", std::to_string(shape.processes));
      add_text(node, "threads", std::to_string(shape.threads));
    }
    for (const auto& [one, name] : kernels)
      add_times(node, capitalised(name), one->host_totals[host].passes, shape.processes);
  }
  TextWriter writer;
  document.save(writer, " ", pugi::format_indent, pugi::encoding_utf8);
  return writer.text;
}

}  // namespace numatlas
