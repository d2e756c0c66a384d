#include "benchmarks/parse.h"

#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "run/declare.h"
#include "run/place_words.h"

namespace numatlas {
namespace {

std::vector<std::string> names_of(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (!options) {
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(command->get_name());
    }
    return names;
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string command_of(const CLI::App& app) {
  const std::string name = app.get_name();
  return name.empty() || name == "numatlas" ? "numatlas" : "numatlas " + name;
}

}  // namespace

Error parse_error(const CLI::App& app, const CLI::ParseError& error) {
  if (const Error* value = value_error(error)) return *value;
  // A misspelt option that must be given is more than that one which is missing.
  const std::vector<std::string> leftover = app.remaining();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !leftover.empty())
    return leftover_error(app, leftover);
  const std::string text = error.what();
  const std::string see_help = fmt::format("see `{} --help`", command_of(app));
  // The library tells which option it is, and what is wrong with it, in its text only.
  const std::string option = text.substr(0, text.find(": "));
  const bool mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (mismatch && text.ends_with(" missing"))
    return {ErrorKind::usage, "the value is missing", "", option, see_help};
  if (mismatch && text.find("At Most 1 required") != std::string::npos)
    return {ErrorKind::usage, "given more than once", "", option, see_help};
  return {ErrorKind::usage, text, "", "", see_help};
}

Error leftover_error(const CLI::App& app, const std::vector<std::string>& leftover) {
  const std::string word = leftover.front().substr(0, leftover.front().find('='));
  const bool option = word.size() > 1 && word.front() == '-';
  const std::vector<std::string> names = names_of(app, option);
  const std::string close = nearest_name(word, names);
  const bool has_commands = !names_of(app, false).empty();
  const char* what = option ? "option" : has_commands ? "command" : "argument";
  const std::string of = app.get_name().empty() ? "numatlas" : app.get_name();
  if (word == "--time" && app.get_option_no_throw("--repeats") != nullptr)
    return {ErrorKind::usage, "unknown option '--time'", "--repeats says how many rounds it runs",
            of};
  return {ErrorKind::usage, fmt::format("unknown {} '{}'", what, word),
          close.empty() ? "" : fmt::format("did you mean {}?", close), of,
          close.empty() ? fmt::format("see `{} --help`", command_of(app)) : ""};
}

void RunParser::add_to(CLI::App& app) {
  benchmark_.add_options(app);
  std::vector<std::string> without = benchmark_.options.without;
  // Of those that choose sizes past all caches.
  if (!benchmark_.is_of_memory) without.emplace_back("--ignore-side-caches");
  common_.add_to(app, benchmark_, without);
  for (const Refusal& one : benchmark_.options.refused)
    if (!one.several) app.get_option(one.option)->group("");
  app.allow_extras();
}

Expected<ParsedRun> RunParser::take(std::vector<std::string> arguments) && {
  auto options = TRY(common_.parse());
  const auto parse_options = benchmark_.parse_options;  // which it may set
  TRY(parse_options(benchmark_));
  TRY(check_refused(benchmark_.options.refused, options));
  if (benchmark_.given && benchmark_.given->gpus) take_gpu_memory(options);
  options.command = benchmark_.name;
  options.arguments = std::move(arguments);
  return ParsedRun{std::move(benchmark_), std::move(options)};
}

Expected<ParsedRun> parse_run(const std::string& name, const std::vector<std::string>& words) {
  for (auto& benchmark : all_benchmarks()) {
    if (benchmark.name != name) continue;
    CLI::App app;
    app.name(name);
    RunParser parser(std::move(benchmark));
    parser.add_to(app);
    check_flags(app);
    try {
      // CLI11 takes the words from the back.
      app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
      return fail(parse_error(app, error));
    }
    if (!app.remaining().empty()) return fail(leftover_error(app, app.remaining()));
    return std::move(parser).take(words);
  }
  return fail(ErrorKind::usage, fmt::format("unknown benchmark '{}'", name));
}

}  // namespace numatlas
