// What was measured of this machine before: the facts of a survey, or of any other result.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "machine/machine.h"
#include "record/view.h"

namespace numatlas {

struct Atlas {
  std::string host;
  std::vector<Fact> facts;

  /// The first fact of that key that has all of these labels; nullptr where there is none.
  const Fact* find(const std::string& key,
                   const std::vector<std::pair<std::string, std::string>>& where = {}) const;
  /// Value of a fact; nullopt where there is none.
  std::optional<double> value(
      const std::string& key,
      const std::vector<std::pair<std::string, std::string>>& where = {}) const;
};

/// Reads a survey.json or a result. Errors name --atlas.
Expected<Atlas> read_atlas(const std::string& path);

/// Where there is no measurement: what the firmware claims, in words: "memory of node 2: 250 ns,
/// 40.0 GB/s (firmware)"; "" where it claims nothing.
std::string claim_text(const NumaNode& node);

/// What the atlas, else the firmware, says of memory of a node from CPUs of another; "" for
/// nothing.
std::string memory_text(const Atlas* atlas, const Machine& machine, NodeId cpu_node,
                        NodeId memory_node);

}  // namespace numatlas
