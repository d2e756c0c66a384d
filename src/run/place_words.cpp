#include "run/place_words.h"

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compare/places.h"
#include "gpu/machine_gpus.h"
#include "machine/source.h"
#include "memory/source.h"
#include "processors/processor.h"

namespace numatlas {

Expected<CpuSpec> parse_cpus(const std::string& text, WordSpec& words) {
  const auto word = TRY(parse_placement_word(text));
  words.cpus = word;
  return parse_cpu_spec(text.empty() || word ? "allowed" : text);
}

Expected<std::optional<MemorySpec>> parse_memory(const std::string& text, WordSpec& words,
                                                 HintsOf hints) {
  const auto word = TRY(parse_placement_word(text));
  words.memory = word;
  if (text.empty() || word) return std::nullopt;
  return parse_memory_spec(text, hints);
}

Expected<std::optional<MeasuredPlaces>> parse_atlas(const std::string& path,
                                                    const WordSpec& words) {
  if (path.empty()) return std::nullopt;
  if (!words.any())
    return fail_usage("--atlas", "decides nothing here",
                      fmt::format("it is for --cpus and --memory with {}", placement_words));
  return read_places(path);
}

void judge_clock(Machine& machine, Clock& clock) {
  // Ten times what a reading without a system call takes.
  constexpr std::int64_t slow_ns = 250;
  const std::int64_t cost = timer_overhead_ns(clock);
  if (cost < slow_ns) return;
  for (Setting& setting : machine.settings)
    if (setting.name == "clocksource")
      setting.warning = fmt::format("a reading takes {} ns; samples must be longer", cost);
}

Expected<Machine> machine_of_option(const std::string& spec) {
  Machine machine =
      TRY(spec.empty() ? read_live_machine() : of_option("--machine", read_recorded_machine(spec)));
  check_channels(machine);
  MonotonicClock clock;
  if (spec.empty()) judge_clock(machine, clock);
  return machine;
}

void number_gpus(Machine& machine, bool live) {
  // Without a driver the GPUs count as they stand in the list, which is by their addresses.
  const auto added = add_devices(machine, live);
  (void)added;
}

void take_gpu_memory(RunOptions& options) {
  const auto& word = options.words.memory;
  if (!word || word->kind != PlacementWord::Kind::gpu) return;
  options.placement.memory.emplace();
  options.placement.memory->single = gpu_memory(word->gpu);
  options.words.memory.reset();
}

Expected<void> put_words_in_place(RunOptions& options) {
  if (!options.words.any()) return {};
  auto machine = TRY(machine_of_option(options.machine));
  if (options.words.has_gpu()) number_gpus(machine, options.machine.empty());
  const MeasuredPlaces* measured = options.atlas ? &*options.atlas : nullptr;
  TRY(put_in_place(options.words, machine, measured, options.placement, options.placement_notes));
  options.words = {};
  return {};
}

}  // namespace numatlas
