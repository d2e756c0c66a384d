#include "legacy/latency_run.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/say.h"
#include "comm/launcher.h"
#include "placement/policy.h"

namespace numatlas::legacy {
namespace {

/// What each rank may run on, before a worker is pinned.
Expected<std::vector<CpuSet>> gather_masks(Comm& comm) {
  const auto all = comm.all_gather(to_list(thread_affinity()));
  if (!all) return fail(all.error());
  std::vector<CpuSet> masks;
  for (const std::string& text : *all) {
    auto mask = parse_list<CpuId>(text);
    masks.push_back(mask ? *std::move(mask) : CpuSet{});
  }
  return masks;
}

Expected<void> run_on(Comm& comm, const Command& command, const ParsedRun& parsed) {
  auto masks = gather_masks(comm);
  if (!masks) return fail(masks.error());
  if (!parsed.options.machine.empty()) masks->clear();  // of this machine, not of the recorded one
  RunHooks hooks;
  hooks.table = [&](const RunReport& report) {
    RunReport shown = report;
    show_given_cpus(shown, *masks);
    return command.table(shown);
  };
  if (command.save) {
    hooks.save = [&](const RunReport& report) -> Expected<void> {
      command.save(report);
      return {};
    };
  }
  hooks.process_memory = [&](const ProcessMemory& memory, int rank) {
    return command.process_memory({memory, rank});
  };
  return run_with_notes(parsed, comm, std::move(hooks), command.own);
}

}  // namespace

int run(const Command& command) {
  std::vector<std::string> words = command.words;
  // The originals measure once a rank, whatever OMP_NUM_THREADS says.
  words.insert(words.end(), {"--threads", "1"});
  const std::vector<std::string> test = test_words();
  words.insert(words.end(), test.begin(), test.end());
  auto parsed = parse_run("latency", words);
  if (!parsed) return end_with_error(in_its_words(parsed.error(), command.own));
  parsed->options.process_memory = "";  // the last rank's
  parsed->options.keep_memory = true;   // the originals prepare the memory of each size once
  return run_on_ranks(command.own, [&](Comm& comm) { return run_on(comm, command, *parsed); });
}

void show_given_cpus(RunReport& report, const std::vector<CpuSet>& masks) {
  for (WorkerRow& worker : report.workers) {
    const auto rank = static_cast<std::size_t>(worker.rank);
    if (rank >= masks.size() || masks[rank].size() != 2) continue;
    const Machine& machine = report.machines[static_cast<std::size_t>(worker.host)];
    const Cpu* first = machine.find_cpu(masks[rank][0]);
    const Cpu* second = machine.find_cpu(masks[rank][1]);
    if (first == nullptr || second == nullptr || first->core != second->core) continue;
    worker.cpus = masks[rank];
  }
}

void warn(const std::string& name, const std::string& text) {
  if (should_report(detect_launcher())) say(fmt::format("{}: warning: {}\n", name, text));
}

}  // namespace numatlas::legacy
