// The NUMA node of each GPU, as inference servers take it: `0 0 1 1`.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compare/places.h"
#include "export/export.h"

namespace numatlas {
namespace {

Expected<Exported> export_gpu_nodes(const ExportInput& input) {
  const Machine* const machine = machine_of(input);
  const std::string subject = !input.machine_spec.empty()
                                  ? fmt::format("--machine '{}'", input.machine_spec)
                              : input.stored.file.empty() ? "gpu-nodes"
                                                          : input.stored.file;
  if (machine == nullptr)
    return fail_about(ErrorKind::unavailable, subject, "holds no machine",
                      "name one with --machine");
  const auto gpus = numbered_gpus(*machine);
  if (gpus.empty())
    return fail_about(ErrorKind::unavailable, subject, no_gpu(*machine),
                      "`numatlas topology` shows the GPUs of a machine");
  const MeasuredPlaces places = places_of(input.stored);
  const MeasuredPlaces* const measured = input.stored.runs.empty() ? nullptr : &places;
  std::vector<int> nodes;
  Exported exported;
  for (const auto& [gpu, described] : gpus) {
    const PlacementWord word{PlacementWord::Kind::nearest_gpu, gpu};
    const auto chosen = choose_cpus(word, *machine, measured);
    if (!chosen) {  // without the option of the word, which nobody typed here
      return fail_about(chosen.error().kind, subject,
                        fmt::format("GPU {}: {}", gpu, chosen.error().message),
                        "a survey.json of this machine, named as FILE, says what was measured");
    }
    nodes.push_back(chosen->node.value);
    exported.notes.push_back(
        fmt::format("GPU {}: node {}: {}", gpu, chosen->node.value, chosen->why));
  }
  exported.text = fmt::format("{}\n", fmt::join(nodes, " "));
  return exported;
}

}  // namespace

ExportForm gpu_nodes_form() {
  return {"gpu-nodes", "NUMA node of each GPU, with CPUs, for inference servers", true, false,
          export_gpu_nodes};
}

}  // namespace numatlas
