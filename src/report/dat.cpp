#include "report/dat.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "analysis/passes.h"
#include "base/add_once.h"
#include "base/text.h"

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

std::string mode_of(const ScenarioResult& one) { return label_of(one, "mode"); }

/// The cases that hosts measured, each with its name here: "copy", "copy_individual".
std::vector<std::pair<const ScenarioResult*, std::string>> dat_kernels(const RunReport& report) {
  std::vector<std::pair<const ScenarioResult*, std::string>> kernels;
  for (const ScenarioResult& one : report.scenarios) {
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

/// Reads elements; the first problem is kept.
class DatReader {
 public:
  std::string problem;

  std::string text(const pugi::xml_node& parent, const char* name) {
    const pugi::xml_node child = parent.child(name);
    if (!child) return reject(fmt::format("<{}> has no <{}>", parent.name(), name)), "";
    return printable(trim(child.child_value()));
  }
  double real(const pugi::xml_node& parent, const char* name) {
    const std::string value = text(parent, name);
    double number = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = code == std::errc{} && end == value.data() + value.size();
    // The largest that can still be a count, a size or a time.
    if (!whole || !std::isfinite(number) || !(number > 0) || number > 1e18)
      reject(fmt::format("<{}> of <{}> is '{}', not a number above 0", name, parent.name(), value));
    return number;
  }
  int count(const pugi::xml_node& parent, const char* name) {
    constexpr double most = 1 << 30;
    const double value = real(parent, name);
    if (!problem.empty()) return 1;
    if (value > most || value != std::floor(value))
      reject(fmt::format("<{}> is {}, not a whole number", name, value));
    return problem.empty() ? static_cast<int>(value) : 1;
  }
  void reject(const std::string& what) {
    if (problem.empty()) problem = what;
  }
};

/// "copy_individual" -> copy, individual.
ScenarioResult kernel_named(const std::string& name, double bytes) {
  ScenarioResult one;
  const std::size_t mode = name.find('_');
  one.kernel = one.name = printable(name.substr(0, mode));
  const bool lasts = mode != std::string::npos;
  one.labels = {{"mode", lasts ? printable(name.substr(mode + 1)) : "memory"}};
  if (lasts) one.name += fmt::format(" (persist {})", mode_of(one));
  one.figures = {{pass_bytes_key, "B", Estimate(bytes), {}}};
  return one;
}

constexpr std::string_view size_suffix = "_size";

void read_kernels(DatReader& reader, const pugi::xml_node& configuration, RunReport& report,
                  std::vector<std::string>& names) {
  std::string elements;
  for (const pugi::xml_node& child : configuration.children()) {
    const std::string_view name = child.name();
    if (!name.ends_with(size_suffix) || name.size() == size_suffix.size()) continue;
    names.emplace_back(name.substr(0, name.size() - size_suffix.size()));
    const double bytes = reader.real(configuration, child.name());
    report.scenarios.push_back(kernel_named(names.back(), bytes));
    // An array is a half of copy's and scale's bytes, a third of add's and triad's.
    if (names.back() == "copy") elements = fmt::format("{:.0f}", std::floor(bytes / 2 / 8));
  }
  if (names.empty()) reader.reject("<configuration> has no size of a kernel (<copy_size> ...)");
  for (ScenarioResult& one : report.scenarios)
    if (!elements.empty()) one.labels.emplace_back("elements", elements);
}

/// Seconds of a kernel on a host: the average of its processes.
std::optional<double> average_of(DatReader& reader, const pugi::xml_node& node,
                                 const std::string& kernel, const std::string& host) {
  const pugi::xml_node times = node.child(capitalised(kernel).c_str());
  if (!times) return std::nullopt;
  const double average = reader.real(times, "Average");
  const double least = reader.real(times, "Minimum"), most = reader.real(times, "Maximum");
  if (reader.problem.empty() && least > most)
    reader.reject(fmt::format("of {}, <{}>: the minimum is above the maximum", host, times.name()));
  return average;
}

void read_node(DatReader& reader, const pugi::xml_node& node, const HostShape& common,
               const std::vector<std::string>& kernels, std::vector<HostShape>& kinds,
               RunReport& report) {
  const std::string name = reader.text(node, "name");
  if (name.empty()) reader.reject("a <node> has no name");
  HostShape shape = common;
  if (node.child("processes")) shape.processes = reader.count(node, "processes");
  if (node.child("threads")) shape.threads = reader.count(node, "threads");
  HostRow& row = report.host_rows.emplace_back();
  row.kind = add_once(kinds, shape);
  row.first_rank = report.ranks;
  row.processes = shape.processes;
  row.workers = shape.processes * shape.threads;
  report.ranks += shape.processes;
  const int index = static_cast<int>(report.hosts.size());
  report.hosts.push_back(name);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    ScenarioResult& one = report.scenarios[i];
    const auto average = average_of(reader, node, kernels[i], name);
    std::optional<Estimate> rate;
    if (average) rate = bytes_of_host(report, one, index) / *average;
    one.host_totals.push_back({index, {{"bandwidth", "B/s", rate, {}}}});
  }
}

/// The start of a run from its file's name: "..-hhmmddMMyyyy.dat".
std::string started_from(const std::string& name) {
  constexpr std::size_t digits = 12;
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos || name.size() < dash + 1 + digits) return "";
  const std::string stamp = name.substr(dash + 1, digits);
  const std::string rest = name.substr(dash + 1 + digits);
  if (stamp.find_first_not_of("0123456789") != std::string::npos) return "";
  if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') return "";
  const auto part = [&](std::size_t at, std::size_t length) { return stamp.substr(at, length); };
  if (part(0, 2) > "23" || part(2, 2) > "59" || part(4, 2) > "31" || part(6, 2) > "12") return "";
  return fmt::format("{}-{}-{}T{}:{}:00Z", part(8, 4), part(6, 2), part(4, 2), part(0, 2),
                     part(2, 2));
}

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
    add_text(configuration, name + std::string(size_suffix),
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

Expected<RunReport> report_from_dat(const std::string& text, const std::string& name) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  const char* hint = "was it truncated while being copied?";
  if (parsed.status == pugi::status_out_of_memory)
    return fail(ErrorKind::resource,
                fmt::format("not enough memory to read its {} bytes", text.size()));
  if (!parsed)
    return fail(ErrorKind::usage,
                fmt::format("not complete XML: {} at byte {}", parsed.description(), parsed.offset),
                hint);
  const pugi::xml_node run = document.child("stream_run");
  if (!run)
    return fail(ErrorKind::usage, "no results of STREAM: it has no <stream_run>",
                "name a memory_results-PxT-TIMESTAMP.dat or a JSON file of 'numatlas stream'");
  DatReader reader;
  RunReport report;
  report.command = "stream";
  report.complete = true;
  report.ranks = 0;
  report.started = started_from(name);
  if (report.started.empty())
    report.started = started_from(std::string(trim(run.child_value("experiment"))));
  const pugi::xml_node configuration = run.child("configuration");
  if (!configuration) reader.reject("<stream_run> has no <configuration>");
  HostShape common;
  std::vector<std::string> kernels;
  if (reader.problem.empty()) {
    common = {reader.count(configuration, "processes_per_node"),
              reader.count(configuration, "threads_per_process")};
    read_kernels(reader, configuration, report, kernels);
  }
  std::vector<HostShape> kinds;
  for (const pugi::xml_node& node : run.child("results").children("node"))
    if (reader.problem.empty()) read_node(reader, node, common, kernels, kinds, report);
  report.machines.resize(kinds.size());  // of which it tells nothing
  if (reader.problem.empty()) {
    const int nodes = reader.count(configuration, "number_of_nodes");
    if (reader.problem.empty() && static_cast<std::size_t>(nodes) != report.hosts.size())
      reader.reject(
          fmt::format("<number_of_nodes> is {}, but <results> has {}", nodes, report.hosts.size()));
  }
  if (!reader.problem.empty()) return fail(ErrorKind::usage, reader.problem, hint);
  return report;
}

}  // namespace numatlas
