// Test helper: an audit by figures that tests make up, on recorded machines.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "audit/claim.h"
#include "base/test_data.h"
#include "machine/source.h"

namespace numatlas {

inline Machine recorded(const std::string& name) {
  auto machine = read_recorded_machine(test_data() + "/topologies/" + name);
  EXPECT_TRUE(machine) << full_text(machine.error());
  return machine.value_or(Machine{});
}

inline MemorySlots modules(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(test_data() + "/smbios/" + name + ".bin", std::ios::binary).rdbuf();
  MemorySlots slots = slots_of_smbios(text.str());
  slots.source = name;
  return slots;
}

inline Estimate about_value(double value, double width = 0.02) {
  Estimate estimate = value;
  estimate.low = value * (1 - width);
  estimate.high = value * (1 + width);
  estimate.n = 10;
  estimate.method = Method::visits;
  return estimate;
}

/// An audit by figures that tests make up.
class Figures {
 public:
  Machine machine;
  std::vector<RunReport> reports;
  std::optional<MachineUse> use;

  void add(const std::string& command, Fact fact) {
    const auto found = std::find_if(reports.begin(), reports.end(),
                                    [&](const RunReport& one) { return one.command == command; });
    RunReport& report = found != reports.end() ? *found : reports.emplace_back();
    report.command = command;
    report.facts.push_back(std::move(fact));
  }
  /// A size of the latency ladder.
  void size(const std::string& level, std::uint64_t bytes, double ns) {
    add("latency", {"unused", {}, "", "1", 1.0});
    Case result;
    result.size = Bytes{bytes};
    result.pages = "base";
    result.figures = {{"latency", "s", about_value(ns * 1e-9), std::nullopt}};
    result.flows.emplace_back().level = level;
    reports.back().cases.push_back(result);
  }
  void cell(int cpus, int memory, double ns, double gb = 0, double width = 0.02) {
    const std::vector<std::pair<std::string, std::string>> where{
        {"cpu_node", std::to_string(cpus)}, {"memory_node", std::to_string(memory)}};
    add("matrix", {"matrix_latency", where, "", "s", about_value(ns * 1e-9, width)});
    if (gb > 0) add("matrix", {"matrix_bandwidth", where, "", "B/s", about_value(gb * 1e9, width)});
  }
  std::vector<ClaimVerdict> judge(const Claim& claim) const {
    AuditInput input{machine, reports, {}};
    input.use = use;
    return claim.judge(input);
  }
  ClaimVerdict judge(const Claim& claim, const std::string& subject) const {
    for (const ClaimVerdict& one : judge(claim))
      if (one.about == subject) return one;
    ADD_FAILURE() << "nothing about " << subject;
    return {};
  }
};

}  // namespace numatlas
