// Placements named by what they are near to, or best at: gpu:N, nearest:gpu:N, fastest. They
// become bind:N or node:N before anything is planned.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/placement.h"

namespace numatlas {

struct PlacementWord {
  enum class Kind {
    gpu,          ///< the GPU's own node
    nearest_gpu,  ///< of the nodes that this process may use, the one nearest to the GPU
    fastest,      ///< highest read bandwidth
  } kind = Kind::fastest;
  int gpu = -1;  ///< of the first two
  std::string text() const;
  bool has_gpu() const { return kind == Kind::gpu || kind == Kind::nearest_gpu; }
};

/// That a machine has no GPU, or that its GPUs are not known, and why.
std::string no_gpu(const Machine& machine);

/// The GPUs by the numbers that these words take, ascending: as drivers number them, else, where
/// none is numbered, their place in the list.
std::map<int, const Gpu*> numbered_gpus(const Machine& machine);

/// How these words are written, for help and completion: "gpu:0", ...
inline constexpr const char* placement_words = "gpu:0, nearest:gpu:0, fastest";

/// nullopt: `text` is none of these words. Error (usage): what stands for the GPU is no
/// number.
Expected<std::optional<PlacementWord>> parse_placement_word(std::string_view text);

/// What was measured of the machine before, as far as these words ask for it; SI units.
struct MeasuredPlaces {
  struct Rate {
    double value = 0, low = 0, high = 0;  ///< without an interval all the same
  };
  std::string file;
  /// Of the machine that was measured: its processor, and its nodes with memory; empty for unknown.
  std::string cpu_model = {};
  NodeSet nodes = {};
  std::map<std::pair<NodeId, NodeId>, Rate> bandwidth;  ///< of CPUs' node and memory's node
  std::map<std::pair<NodeId, NodeId>, double> latency;
  /// Of copies between a GPU and memory of a node: the mean of its directions.
  std::map<int, std::map<NodeId, Rate>> gpu_rate;
};

/// The node that a word names, and why it is that one: "node 1, which the system names as GPU 2's".
struct ChosenNode {
  NodeId node;
  std::string why;
};

/// `measured`: decides where it has figures of that; else the machine's locality and the firmware
/// do. `cpus`: those that will use the memory; empty for unknown. Errors (unavailable) are about
/// the word: no such GPU, or nothing known that would decide. Pure.
Expected<ChosenNode> choose_memory(const PlacementWord& word, const Machine& machine,
                                   const MeasuredPlaces* measured, const CpuSet& cpus);
/// The same of the node whose CPUs are taken.
Expected<ChosenNode> choose_cpus(const PlacementWord& word, const Machine& machine,
                                 const MeasuredPlaces* measured);

/// Words in the place of --cpus and --memory.
struct WordSpec {
  std::optional<PlacementWord> cpus, memory;
  bool any() const { return cpus || memory; }
  bool has_gpu() const { return (cpus && cpus->has_gpu()) || (memory && memory->has_gpu()); }
};
/// Puts node:N and bind:N in their place. `notes`: "--memory gpu:2 is bind:1: ...", and that
/// another machine was measured. Pure.
Expected<void> put_in_place(const WordSpec& words, const Machine& machine,
                            const MeasuredPlaces* measured, PlacementSpec& spec,
                            std::vector<std::string>& notes);

}  // namespace numatlas
