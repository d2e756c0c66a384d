#include "legacy/program.h"

#include <cctype>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/environment.h"
#include "base/say.h"
#include "report/worker_table.h"

namespace numatlas::legacy {
namespace {

/// Whole phrases first, where words alone would leave advice that nobody can follow.
const Wording& common_wording() {
  static const Wording wording{
      {"name the CPUs with --cpus, and leave", "leave"},
      {"; --cpus cores takes one a core", ""},
      {" (--stats)", ""},
      {"; `numatlas latency` and `bandwidth` without --memory need no such call", ""},
      {"; --memory each:... and --cpus LIST/LIST differ by rank in the same words", ""},
      {", or add --skip-too-large to measure the sizes that fit", ""},
      {", or for fewer workers with --cpus", ""},
      {"needs --gpus all", "needs --gpus all"},  // a container's
      {"(--gpus all)", "(--gpus all)"},
      {"--mpi ", "NUMATLAS_MPI="},
      {"--memory", "memory"},
      {"--cpus", "CPUs"},
      {"--threads", "threads"},
      {"--pages", "pages"},
  };
  return wording;
}

bool goes_on(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_';
}

/// Of the wordings in turn, the first pair whose text stands at this place, an option alone:
/// --size, but not --sizes.
const std::pair<std::string_view, std::string_view>* pair_at(const Wording& own,
                                                             std::string_view text) {
  for (const Wording* wording : {&own, &common_wording()}) {
    for (const auto& pair : *wording) {
      const std::string_view ours = pair.first;
      if (!text.starts_with(ours)) continue;
      const bool longer =
          goes_on(ours.back()) && text.size() > ours.size() && goes_on(text[ours.size()]);
      if (!longer) return &pair;
    }
  }
  return nullptr;
}

/// Its name stands before the message already.
Error of_program(const CLI::App& app, Error error) {
  const std::string name = app.get_name() + ": ";
  if (error.message.starts_with(name)) error.message.erase(0, name.size());
  if (!error.hint.starts_with("did you mean"))
    error.hint = fmt::format("see `{} --help`", app.get_name());
  return error;
}

}  // namespace

std::optional<int> parse_program(CLI::App& app, const std::vector<std::string>& words) {
  try {
    // CLI11 takes the words from the back.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    return std::nullopt;
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help
  } catch (const CLI::ExtrasError&) {
    return end_with_error(unknown_word(app, app.remaining()));
  } catch (const CLI::ParseError& error) {
    return end_with_error(of_program(app, parse_error(app, error)));
  }
}

Error unknown_word(const CLI::App& app, const std::vector<std::string>& leftover) {
  return of_program(app, leftover_error(app, leftover));
}

std::string in_its_words(const std::string& text, const Wording& own) {
  std::string said;
  for (std::string_view rest = text; !rest.empty();) {
    const auto* pair = pair_at(own, rest);
    said += pair != nullptr ? pair->second : rest.substr(0, 1);
    rest.remove_prefix(pair != nullptr ? pair->first.size() : 1);
  }
  return said;
}

Error in_its_words(Error error, const Wording& own) {
  error.message = in_its_words(error.message, own);
  error.hint = in_its_words(error.hint, own);
  return error;
}

int run_on_ranks(const Wording& own, const std::function<Expected<void>(Comm&)>& work) {
  // These programs have no option that makes one rank end before the others.
  return with_ranks({}, work, [&](Error error) { return in_its_words(std::move(error), own); });
}

Expected<void> run_with_notes(const ParsedRun& parsed, Comm& comm, RunHooks hooks,
                              const Wording& own) {
  std::string notes;
  hooks.table = [&notes, table = std::move(hooks.table)](const RunReport& report) {
    notes = notes_text(report);
    return table(report);
  };
  const auto report = run_benchmark(*parsed.benchmark, parsed.options, comm, hooks);
  say(in_its_words(notes, own));
  if (report) return {};
  return fail(report.error());
}

Expected<void> check_one_task(const Comm& comm) {
  if (comm.size() == 1) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} tasks were started, and each would disturb what the others measure",
                          comm.size()),
              "start one, without mpirun or with srun -n 1 -c CPUS");
}

std::vector<std::string> test_words() {
  std::vector<std::string> words;
  const char* engine = environment_variable("NUMATLAS_ENGINE");
  if (engine == nullptr || std::string(engine) != "null") return words;
  for (const auto& [option, variable] :
       {std::pair("--machine", "NUMATLAS_TEST_MACHINE"), std::pair("--cpus", "NUMATLAS_TEST_CPUS"),
        std::pair("--memory", "NUMATLAS_TEST_MEMORY")}) {
    if (const char* value = environment_variable(variable))
      words.insert(words.end(), {option, value});
  }
  return words;
}

}  // namespace numatlas::legacy
