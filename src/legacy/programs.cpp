// CMake reads the names from here: a line for each.
#include "legacy/programs.h"

#include <algorithm>
#include <cerrno>  // program_invocation_short_name
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/environment.h"
#include "base/terminal.h"
#include "report/file.h"
#include "report/notes.h"
#include "run/declared.h"

namespace numatlas::legacy {
namespace {

constexpr const char* completion_word = "__completion";  ///< what the build calls it with

/// Its name stands before the message already.
Error of_program(const CLI::App& app, Error error) {
  if (error.subject == app.get_name()) error.subject.clear();
  if (error.hint.empty()) error.hint = fmt::format("see `{} --help`", app.get_name());
  error.option_hint.clear();
  return error;
}

}  // namespace

std::optional<int> parse_program(CLI::App& app, const std::vector<std::string>& words) {
  use_help_format(app);
  if (words == std::vector<std::string>{completion_word}) {
    const auto shown = write_stdout(completion(app));
    return shown ? 0 : end_with_error(shown.error());
  }
  try {
    // CLI11 takes the words from the back.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    return std::nullopt;
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help
  } catch (const CLI::ExtrasError&) {
    return end_with_error(unknown_word(app, app.remaining()));
  } catch (const CLI::ParseError& error) {
    const Error* value = value_error(error);
    return end_with_error(value != nullptr ? *value : of_program(app, parse_error(app, error)));
  }
}

Error unknown_word(const CLI::App& app, const std::vector<std::string>& leftover) {
  return of_program(app, leftover_error(app, leftover));
}

Error in_its_words(Error error, const OwnWords& own) {
  error = renamed(std::move(error), "--mpi", "NUMATLAS_MPI");
  const auto known = std::find_if(own.options.begin(), own.options.end(), [&](const auto& option) {
    return is_about(error, option.first) || is_about(error, option.second);
  });
  if (known != own.options.end()) {
    error = renamed(std::move(error), known->first, known->second);
  } else if (error.subject.starts_with("--")) {
    error.subject.erase(0, 2);
  }
  if (error.option_hint.empty()) return error;
  const bool memory_is_short = error.kind == ErrorKind::resource && !error.subject.empty();
  if (memory_is_short) error.hint = own.less_memory;
  if (error.hint.empty())
    error.hint = fmt::format("see `{} --help`", program_invocation_short_name);
  error.option_hint.clear();
  return error;
}

int run_on_ranks(const OwnWords& own, const std::function<Expected<void>(Comm&)>& work) {
  // These programs have no option that makes one rank end before the others.
  return with_ranks({}, work, [&](Error error) { return in_its_words(std::move(error), own); });
}

Expected<ParsedRun> translated_run(const std::string& benchmark, std::vector<std::string> words) {
  for (std::string& word : test_words()) words.push_back(std::move(word));
  auto parsed = parse_run(benchmark, words);
  // They know nothing of huge pages.
  if (parsed && parsed->options.pages.empty()) parsed->options.pages = {PageKind::base};
  return parsed;
}

std::string usual_notes(const RunReport& report) { return notes_text(report, true); }

Expected<void> run_with_notes(const ParsedRun& parsed, Comm& comm, RunHooks hooks,
                              const OwnWords& own, const NotesOf& notes_of) {
  std::string notes;
  hooks.in_words = [&own](Error error) { return in_its_words(std::move(error), own); };
  hooks.table = [&, table = std::move(hooks.table)](const RunReport& report) {
    notes = notes_of(report);
    return table(report);
  };
  const auto report = run_benchmark(parsed.benchmark, parsed.options, comm, hooks);
  say(notes);
  if (report) return {};
  return fail(report.error());
}

RunHooks plain_hooks(std::function<std::string(const RunReport&)> table) {
  RunHooks hooks;
  hooks.table = std::move(table);
  hooks.pilots = false;
  return hooks;
}

int run_alone(const Expected<ParsedRun>& parsed, const OwnWords& own, const RunHooks& hooks,
              const NotesOf& notes_of, const std::function<Expected<void>()>& check) {
  if (!parsed) return end_with_error(in_its_words(parsed.error(), own));
  return run_on_ranks(own, [&](Comm& comm) -> Expected<void> {
    TRY(check_one_task(comm));
    TRY(check ? check() : Expected<void>{});
    return run_with_notes(*parsed, comm, hooks, own, notes_of);
  });
}

Expected<void> check_one_task(const Comm& comm) {
  if (comm.size() == 1) return {};
  return fail(
      ErrorKind::usage,
      fmt::format("{} tasks were started and would disturb each other's measurements", comm.size()),
      "start one, without mpirun or with srun -n 1 -c CPUS");
}

bool is_scripted() {
  const char* engine = environment_variable("NUMATLAS_ENGINE");
  return engine != nullptr && std::string_view(engine) == "null";
}

std::vector<std::string> test_words() {
  std::vector<std::string> words;
  if (!is_scripted()) return words;
  for (const auto& [option, variable] :
       {std::pair("--machine", "NUMATLAS_TEST_MACHINE"), std::pair("--cpus", "NUMATLAS_TEST_CPUS"),
        std::pair("--memory", "NUMATLAS_TEST_MEMORY")}) {
    if (const char* value = environment_variable(variable))
      words.insert(words.end(), {option, value});
  }
  return words;
}

std::optional<int> run_program_named(std::string_view name, const std::vector<std::string>& words) {
  const std::map<std::string_view, std::function<int(const std::vector<std::string>&)>> programs{
      {"distributed_streams", std::bind_front(distributed_streams, StreamVariant::memory)},
      {"distributed_streams_memkind", std::bind_front(distributed_streams, StreamVariant::memkind)},
      {"distributed_streams_pmem", std::bind_front(distributed_streams, StreamVariant::pmem)},
      {"numa_allocator", allocator},
      {"numa_bench", numa_bench},
      {"numa_cpu_xfer_bench", cpu_xfer},
      {"numa_gpu_xfer_bench", gpu_xfer},
      {"numa_mem_bench", mem_bench},
      {"numa_numa_xfer_bench", numa_xfer}};
  // As the documents of numa-gpu-xfer-bench call it: ./build/benchmark
  if (name == "benchmark") name = "numa_gpu_xfer_bench";
  const auto program = programs.find(name);
  if (program == programs.end()) return std::nullopt;
  return program->second(words);
}

}  // namespace numatlas::legacy
