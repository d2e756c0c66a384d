// Places this process as its rank says and becomes the program: no process in between, so signals
// and the exit code are the program's own.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "advise/layout.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/program.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "base/whole.h"
#include "benchmarks/parse.h"
#include "comm/launcher.h"
#include "commands/command.h"
#include "compare/places.h"
#include "machine/source.h"
#include "memory/pools.h"
#include "memory/source.h"
#include "run/declare.h"
#include "run/options.h"
#include "run/place_words.h"
#include "run/runner.h"

namespace numatlas {
namespace {

struct ExecOptions {
  std::string cpus, memory, machine, atlas;
  std::optional<int> threads;
  std::optional<PageKind> pages;
  bool dry_run = false, verbose = false, exact = false;
};

/// Pages that a program's heap can have.
std::vector<PageKind> heap_pages() {
  std::vector<PageKind> kinds{PageKind::base, PageKind::thp};
  kinds.insert(kinds.end(), pool_page_kinds.begin(), pool_page_kinds.end());
  return kinds;
}
const Choices<PageKind> exec_pages = named(heap_pages());

/// For tests: a recorded machine that counts as this one, for a program with the null engine.
std::string test_machine() {
  const char* engine = environment_variable("NUMATLAS_ENGINE");
  const char* machine = environment_variable("NUMATLAS_TEST_MACHINE");
  const bool null_engine = engine != nullptr && std::string_view(engine) == "null";
  return null_engine && machine != nullptr ? machine : "";
}

/// Place of this task among its host's, or why it is not known.
Expected<int> local_rank(const LauncherTask& task, const std::string& option) {
  if (!task.launched()) return 0;
  if (task.local_rank) return *task.local_rank;
  return fail_about(ErrorKind::unavailable, option,
                    fmt::format("{} does not say the rank on this host (only {})", task.launcher,
                                task.rank_variable),
                    "name one placement for all ranks");
}

std::string tasks_text(const LauncherTask& task) {
  if (!task.launched()) return "there is one task, because no launcher started this process";
  std::string text;
  if (task.local_size) text = fmt::format("{} tasks are on this host", *task.local_size);
  if (task.size && task.size != task.local_size) {
    text += fmt::format("{}{} in all", text.empty() ? "there are " : ", ", *task.size);
  }
  return text.empty() ? task.launcher + " does not say how many tasks there are" : text;
}

/// `--exact`: a list must have an entry a task, of this host or of all; which of the two it is
/// decides which rank counts.
Expected<int> index_in(const MemorySpec& spec, const LauncherTask& task, bool exact) {
  if (!exact || spec.form != MemorySpec::Form::each) return local_rank(task, "--memory");
  const auto length = static_cast<int>(spec.each.size());
  if (!task.launched() && length == 1) return 0;
  if (task.local_rank && task.local_size == length) return *task.local_rank;
  if (task.rank && task.size == length) return *task.rank;
  return fail_usage("--memory",
                    fmt::format("the list names {} node{}, but {}", length, length == 1 ? "" : "s",
                                tasks_text(task)),
                    task.launched() ? "name one node per task"
                                    : "start it with mpirun or srun, a task for each node named");
}

/// What --cpus and --memory ask for, with nodes in place of words such as gpu:0, and why these.
struct Asked {
  PlacementSpec spec;
  std::vector<std::string> notes;
};

Expected<Asked> asked_of(const ExecOptions& options, Machine& machine, bool live) {
  Asked asked;
  WordSpec words;
  const auto filled = first_error(
      {fill(asked.spec.cpus, of_option("--cpus", parse_cpus(options.cpus, words))),
       fill(asked.spec.memory,
            of_option("--memory", parse_memory(options.memory, words, HintsOf::nodes)))});
  if (!filled) return fail(filled.error());
  const auto atlas = TRY(parse_atlas(options.atlas, words));
  if (!words.any()) return asked;
  const MeasuredPlaces* const measured = atlas ? &*atlas : nullptr;
  if (words.has_gpu()) number_gpus(machine, live);
  TRY(put_in_place(words, machine, measured, asked.spec, asked.notes));
  return asked;
}

/// One list under a launcher: a stretch of `threads` CPUs a rank, in turn. Nodes, `allowed`,
/// `cores`, lists by rank, and tasks alone get all that they name, or its part of so many where
/// --threads says how many; --threads alone takes them of all that are allowed.
Expected<CpuSet> resolve_cpu_set(const ExecOptions& options, const CpuSpec& spec,
                                 const Machine& machine, const LauncherTask& launcher) {
  TaskContext task;
  const auto rank = TRY(local_rank(launcher, options.cpus.empty() ? "--threads" : "--cpus"));
  task.local_rank = rank;
  task.local_size = launcher.local_size.value_or(1);
  task.launched = launcher.launched();
  const auto cpus = TRY(chosen_cpus(spec, machine, task));
  const int threads =
      options.threads ? *options.threads : read_task_context().omp_num_threads.value_or(1);
  const auto number = static_cast<std::size_t>(threads);
  // A mask is a rank's own, so this is an error that each rank tells for itself.
  if (options.cpus.empty() && number > cpus.size()) {
    const bool exist = number <= machine.cpus.size();
    return fail_about(exist ? ErrorKind::permission : ErrorKind::unavailable, "--threads",
                      fmt::format("{} CPUs requested, but this process may use {}", threads,
                                  to_list(machine.usable_cpus())),
                      exist ? "use fewer, or start it with a wider CPU mask (mpirun --bind-to "
                              "none, srun -c)"
                            : fmt::format("use fewer: this machine has {}", machine.cpus.size()));
  }
  CpuSet set;
  const bool in_turn = spec.form == CpuSpec::Form::list && spec.lists.size() == 1 &&
                       task.launched && task.local_size > 1;
  const bool in_part = in_turn || options.threads;
  const std::size_t count = in_part ? number : cpus.size();
  // Each of several lists is a rank's own.
  const std::size_t first =
      in_part && spec.lists.size() < 2 ? static_cast<std::size_t>(rank) * count : 0;
  for (std::size_t i = 0; i < count; ++i) set.insert(cpus[(first + i) % cpus.size()]);
  return set;
}

/// `auto` where the program's CPUs are known: their own nodes. A launcher's ranks without --cpus
/// are dealt out over the nodes instead, whatever CPUs it bound them to.
MemorySpec near_cpus(MemorySpec spec, const std::optional<CpuSet>& chosen, const Machine& machine,
                     const LauncherTask& launcher) {
  if (spec.form != MemorySpec::Form::round_robin || (!chosen && launcher.launched())) return spec;
  const NodeSet near =
      machine.nodes_of(chosen.value_or(machine.usable_cpus())) & machine.usable_memory_nodes();
  if (near.empty()) return spec;
  spec.form = MemorySpec::Form::each;
  spec.each.assign(near.begin(), near.end());
  return spec;
}

/// `notes`: why words became the nodes that they became.
Expected<ProgramLayout> resolve(const ExecOptions& options, std::vector<std::string>& notes) {
  ProgramLayout resolved;
  resolved.pages = options.pages;
  const bool binds = !options.cpus.empty() || options.threads;
  if (!binds && options.memory.empty() && options.atlas.empty()) return resolved;
  const std::string recorded = options.machine.empty() ? test_machine() : options.machine;
  auto machine = TRY(machine_of_option(recorded));
  const auto asked = TRY(asked_of(options, machine, recorded.empty()));
  notes = asked.notes;
  const LauncherTask launcher = detect_launcher();
  if (binds) resolved.cpus = TRY(resolve_cpu_set(options, asked.spec.cpus, machine, launcher));
  if (!options.memory.empty() && asked.spec.memory) {
    const MemorySpec spec = with_all_nodes(*asked.spec.memory, machine);
    if (!spec.single.source.empty()) {
      return fail_usage(
          fmt::format("--memory {}", spec.single.text()),
          "a program's own memory cannot be placed there",
          "name nodes: bind:0, interleave:0,1; memory of a kmem or CXL device is a node");
    }
    if (options.exact && spec.form != MemorySpec::Form::each) {
      return fail_usage("--exact", fmt::format("'{}' is not a list of nodes", options.memory),
                        "use it with --memory each:0,1, one node per task");
    }
    const bool by_rank = spec.form != MemorySpec::Form::single;
    const int index = by_rank ? TRY(index_in(spec, launcher, options.exact)) : 0;
    resolved.memory =
        TRY(of_option("--memory", resolve_memory(near_cpus(spec, resolved.cpus, machine, launcher),
                                                 machine, index)));
  }
  return resolved;
}

/// glibc takes the pages from the system's pool, and base pages, without a word, where that has
/// none. It does not reserve the pages of its heaps of 64 MiB.
std::optional<std::string> pool_warning(const ProgramLayout& resolved) {
  if (!resolved.pages || !is_from_pool(*resolved.pages) || !test_machine().empty())
    return std::nullopt;
  const NodeSet nodes = resolved.memory ? required_nodes(*resolved.memory) : NodeSet{};
  const auto problem_of = [&](Bytes bytes) {
    return page_kind_problem(*resolved.pages, running_nodes(), nodes, bytes);
  };
  if (const auto problem = problem_of(huge_page_size(*resolved.pages)))
    return fmt::format("--pages {}: the program may get base pages: {}", name_of(*resolved.pages),
                       problem->message);
  constexpr Bytes heap{64 * mib};
  if (const auto problem = problem_of(heap))
    return fmt::format(
        "--pages {}: the kernel ends the program (SIGBUS) if its heap takes more "
        "pages than are free: {}",
        name_of(*resolved.pages), problem->message);
  return std::nullopt;
}

std::string description(const ProgramLayout& resolved, const std::vector<std::string>& program,
                        const std::vector<std::string>& notes) {
  const LauncherTask task = detect_launcher();
  std::string text = "numatlas exec:";
  if (task.rank) text += fmt::format(" rank {}", *task.rank);
  if (task.local_rank) text += fmt::format(" local rank {}", *task.local_rank);
  text += fmt::format(" cpus {}", resolved.cpus ? to_list(*resolved.cpus) : "as they are");
  text += fmt::format(" memory {}", resolved.memory ? resolved.memory->text() : "as it is");
  if (resolved.pages) text += fmt::format(" pages {}", name_of(*resolved.pages));
  text += ":";
  for (const std::string& word : program) text += " " + shell_word(word);
  text += "\n";
  for (const std::string& note : notes) text += fmt::format("numatlas exec: {}\n", note);
  return text;
}

/// Prints the error where it is the same for all tasks of a host from the first of them, otherwise
/// from each; returns the exit code.
int end_with(const Error& error, bool same_for_all, int code) {
  if (same_for_all && detect_launcher().local_rank.value_or(0) != 0) {
    // A launcher ends all tasks when the first has failed: the one that speaks must come before.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return code;
  }
  print_error(error);
  return code;
}

Expected<void> lay_out(const ProgramLayout& resolved) {
  if (test_machine().empty()) return put_in_force(resolved);
  // The program's own null engine takes it from here.
  if (resolved.cpus) setenv("NUMATLAS_TEST_CPUS", to_list(*resolved.cpus).c_str(), 1);
  if (resolved.memory) setenv("NUMATLAS_TEST_MEMORY", resolved.memory->text().c_str(), 1);
  return {};
}

int become(const std::vector<std::string>& program) {
  const std::vector<char*> words = as_argv(program);
  (void)std::signal(SIGPIPE, SIG_DFL);  // ignored here, but not in the program
  execvp(words[0], words.data());
  const int code = errno;
  return end_with({ErrorKind::unavailable, fmt::format("{}: {}", program.front(), errno_text(code)),
                   failed_start(program.front(), code).hint, "exec"},
                  true, code == ENOENT ? not_found : cannot_execute);
}

Expected<int> run(const ExecOptions& options, const std::vector<std::string>& program) {
  if (program.empty()) {
    return fail_usage("exec", "no program is named",
                      "numatlas exec --memory bind:0 -- PROGRAM ARGUMENTS");
  }
  if (!options.machine.empty() && !options.dry_run) {
    return fail_usage("--machine", "a program cannot run on a recorded machine",
                      "add --dry-run to see how it would be placed there");
  }
  if (options.exact && options.memory.empty()) {
    return fail_usage("--exact", "there is no list of nodes to compare with the tasks",
                      "use it with --memory each:0,1, one node per task");
  }
  std::vector<std::string> notes;
  const auto resolved = resolve(options, notes);
  if (!resolved) {
    // Masks differ by rank, so what they forbid does as well.
    const ErrorKind kind = resolved.error().kind;
    return end_with(resolved.error(), kind != ErrorKind::permission, exit_code(kind));
  }
  const auto warning = options.machine.empty() ? pool_warning(*resolved) : std::nullopt;
  // The nodes of a list differ by rank.
  const bool by_rank = options.memory.starts_with("each:") || options.memory == "auto";
  if (warning && (by_rank || detect_launcher().local_rank.value_or(0) == 0))
    say(fmt::format("numatlas: warning: {}\n", *warning));
  if (options.dry_run) return answer(description(*resolved, program, notes));
  if (options.verbose) say(description(*resolved, program, notes));
  TRY(lay_out(*resolved));
  return become(program);
}

Start declare_exec(CLI::App& app, const CommandLine& line) {
  auto options = std::make_shared<ExecOptions>();
  add_value(
      app, "--cpus", options->cpus, "CPUS",
      "CPUs to bind to: all, cores, a list (1-7,17), node:0,1, socket:0, nearest:gpu:0. Under a "
      "launcher each local rank gets its part of one list\n"
      "The other forms give each rank all CPUs that they name: also allowed (the same as all), "
      "isolated, kind:performance, and the CPUs of the node that gpu:0 or fastest names");
  add_parsed(app, "--threads", options->threads, "", "N",
             "CPUs per rank, in turn by local rank, of --cpus or of all\n"
             "Fewer are an error. The default for one list under a launcher is OMP_NUM_THREADS, "
             "else 1",
             whole(1, 65536));
  add_value(app, "--memory", options->memory, "PLACEMENT",
            "memory to bind to: local, bind:0, prefer:0, interleave:all, weighted:0=3,2=1, "
            "each:0,0,1,1 (by local rank), auto, nearest:gpu:0\n"
            "Other forms: interleave:0,1, gpu:0 and fastest");
  rare(add_value(
      app, "--atlas", options->atlas, "FILE",
      "a survey.json, or JSON of matrix or transfer, of this machine: its figures decide which "
      "node gpu:0, nearest:gpu:0 and fastest are"));
  add_words(
      app, "--pages", words_in(exec_pages), false,
      "pages of the program's memory: base (no transparent huge pages), thp (glibc's heap asks "
      "for transparent huge pages) or a size (glibc's heap takes pages of the system's pool)",
      [chosen = options.get()](const std::vector<std::size_t>& places) {
        chosen->pages = exec_pages[places.front()].second;
      });
  app.add_flag("--exact", options->exact,
               "refuse a list (each:) that does not have one node per task\n"
               "The tasks are those of this host, or of all hosts");
  app.add_flag("--verbose", options->verbose,
               "print the placement on standard error before the start");
  app.add_flag("--dry-run", options->dry_run, "print the placement and the program, and stop");
  rare(add_machine_option(app, options->machine));
  return [options, &app, &line]() -> Expected<int> {
    const auto words = TRY(program_of(app, line));
    return run(*options, words);
  };
}

}  // namespace

Command exec_command() {
  return {.name = "exec",
          .summary = "run a program with a given CPU and memory placement",
          .listing = {Topic::place},
          .description =
              "The program follows: "
              "numatlas exec --memory bind:0 -- PROGRAM [ARGUMENTS...].",
          .examples = {{"All threads and all memory on node 1",
                        "numatlas exec --cpus node:1 --memory bind:1 -- ./program"},
                       {"Four ranks, two on the memory of each node",
                        "mpirun -n 4 numatlas exec --memory each:0,0,1,1 -- ./program"}},
          .has_program = true,
          .declare = declare_exec,
          .exit_codes = "those of the program"};
}

}  // namespace numatlas
