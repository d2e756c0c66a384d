#include "export/export.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace numatlas {
namespace {

/// The hosts of all runs, each once.
std::vector<std::string> hosts_of(const StoredFile& stored) {
  std::vector<std::string> hosts;
  for (const StoredRun& run : stored.runs) {
    for (const std::string& host : run.hosts) {
      if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
    }
  }
  return hosts;
}

}  // namespace

std::vector<std::string> export_form_names() {
  std::vector<std::string> names;
  for (const ExportForm& form : export_forms()) names.emplace_back(form.name);
  return names;
}

std::vector<ExportedFact> facts_of(const ExportInput& input) {
  std::vector<ExportedFact> facts;
  for (const StoredRun& run : input.stored.runs) {
    for (const Fact& fact : run.facts) facts.push_back({&fact, &run});
  }
  return facts;
}

const Machine* machine_of(const ExportInput& input) {
  if (input.machine) return &*input.machine;
  for (const StoredRun& run : input.stored.runs) {
    if (!run.machines.empty()) return &run.machines.front();
  }
  return nullptr;
}

std::vector<std::string> caveats_of(const ExportInput& input) {
  std::vector<std::string> caveats = input.stored.notes;
  const auto add = [&](const std::string& text) {
    if (std::find(caveats.begin(), caveats.end(), text) == caveats.end()) caveats.push_back(text);
  };
  for (const StoredRun& run : input.stored.runs) {
    // "null (scripted clock, no memory touched)" in files.
    if (run.engine.starts_with("null")) add("made by the null engine: no measurements");
    for (std::size_t host = 0; host < run.cpu_use.size(); ++host) {
      const std::string use = disturbance_text(run.cpu_use[host]);
      if (use.empty()) continue;
      const bool named = run.hosts.size() > 1 && host < run.hosts.size();
      add(fmt::format("{}: disturbed while measuring, so the figures may be wrong: {}{}",
                      run.command, named ? run.hosts[host] + ": " : "", use));
    }
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
  for (const StoredRun& run : input.stored.runs) {
    if (version.empty()) version = run.version;
    if (!run.started.empty() && (started.empty() || run.started < started)) started = run.started;
  }
  std::string text = "numatlas " + version;
  if (const auto hosts = hosts_of(input.stored); !hosts.empty())
    text += fmt::format(" on {}", fmt::join(hosts, ", "));
  return started.empty() ? text : text + ", " + started;
}

}  // namespace numatlas
