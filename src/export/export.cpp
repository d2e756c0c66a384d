#include "export/export.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"

namespace numatlas {
namespace {

/// The hosts of all runs, each once.
std::vector<std::string> hosts_of(const Results& stored) {
  std::vector<std::string> hosts;
  for (const Rows& run : stored.runs) {
    for (const std::string& host : run.hosts) {
      if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
    }
  }
  return hosts;
}

}  // namespace

const std::vector<ExportForm>& export_forms() {
  static const std::vector<ExportForm> all{gpu_nodes_form(), hwloc_form(), published_form()};
  return all;
}

std::vector<std::string> export_form_names() {
  std::vector<std::string> names;
  for (const ExportForm& form : export_forms()) names.emplace_back(form.name);
  return names;
}

std::vector<ExportedFact> facts_of(const ExportInput& input) {
  std::vector<ExportedFact> facts;
  for (const Rows& run : input.stored.runs) {
    for (const Fact& fact : run.facts) facts.push_back({&fact, &run});
  }
  return facts;
}

const Machine* machine_of(const ExportInput& input) {
  if (input.machine) return &*input.machine;
  for (const Rows& run : input.stored.runs) {
    if (!run.machines.empty()) return &run.machines.front();
  }
  return nullptr;
}

std::vector<std::string> caveats_of(const ExportInput& input) {
  std::vector<std::string> caveats;
  const auto add = [&](const std::string& text) { add_once(caveats, text); };
  for (const std::string& note : input.stored.notes) add(note);
  for (const Rows& run : input.stored.runs) {
    if (is_null_engine(run.engine)) add("made by the null engine: no measurements");
    std::vector<std::pair<std::string, CpuUse>> by_host;
    for (std::size_t host = 0; host < run.cpu_use.size(); ++host)
      by_host.emplace_back(host < run.hosts.size() ? run.hosts[host] : "", run.cpu_use[host]);
    if (const std::string disturbed = cpu_use_warning(by_host); !disturbed.empty())
      add(fmt::format("{}: UNRELIABLE: {}", run.command, disturbed));
    for (const std::string& slowed : run.slowed_gpus)
      add(fmt::format("{}: {}", run.command, slowed));
  }
  const auto hosts = hosts_of(input.stored);
  if (hosts.size() > 1) add(fmt::format("of {} hosts: the median host's figures", hosts.size()));
  if (const Machine* machine = machine_of(input)) {
    for (const Setting& setting : machine->settings) {
      if (!setting.warning.empty())
        add(fmt::format("{} is {}: {}", setting.name, setting.value, setting.warning));
    }
  }
  return caveats;
}

std::string provenance_of(const ExportInput& input) {
  std::string version, started;
  for (const Rows& run : input.stored.runs) {
    if (version.empty()) version = run.version;
    if (!run.started.empty() && (started.empty() || run.started < started)) started = run.started;
  }
  std::string text = "numatlas " + version;
  if (const auto hosts = hosts_of(input.stored); !hosts.empty())
    text += fmt::format(" on {}", fmt::join(hosts, ", "));
  return started.empty() ? text : text + ", " + started;
}

}  // namespace numatlas
