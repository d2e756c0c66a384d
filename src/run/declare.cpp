#include "run/declare.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "base/units.h"

namespace numatlas {
namespace {

/// What is wrong with a value, on its way through the parser.
struct ValueError : CLI::ValidationError {
  explicit ValueError(numatlas::Error found)
      : CLI::ValidationError(found.subject, found.message), error(std::move(found)) {}
  numatlas::Error error;
};

}  // namespace

const Error* value_error(const CLI::ParseError& error) {
  const auto* value = dynamic_cast<const ValueError*>(&error);
  return value == nullptr ? nullptr : &value->error;
}

CLI::Option* refuse_empty(CLI::Option* option) {
  return option->check(CLI::Validator(
      [](const std::string& text) { return std::string(text.empty() ? "the value is empty" : ""); },
      ""));
}

CLI::Option* add_value(CLI::App& app, const std::string& name, std::string& value,
                       const std::string& type, const std::string& text) {
  CLI::Option* option = refuse_empty(app.add_option(name, value, text))->type_name(type);
  if (!value.empty()) option->capture_default_str();
  return option;
}

CLI::Option* add_read(CLI::App& app, const std::string& name, const std::string& usual,
                      const std::string& type, const std::string& text,
                      const std::function<Expected<void>(const std::string&)>& read) {
  const std::string option = name.substr(name.rfind(',') + 1);
  if (!usual.empty()) (void)read(usual);
  const auto take = [read, option](const std::string& words) {
    const auto done = read(words);
    if (done) return;
    const bool named = !done.error().subject.empty();
    throw ValueError(named ? done.error() : about(option, done.error()));
  };
  return refuse_empty(app.add_option_function<std::string>(name, take, text))
      ->type_name(type)
      ->default_str(usual);
}

void check_flags(CLI::App& app) {
  const auto check = [](const std::string& value) {
    return value == "true" || value == "false"
               ? std::string()
               : fmt::format("'{}' is neither true nor false", value);
  };
  for (CLI::Option* option :
       app.get_options([](const CLI::Option* one) { return one->get_items_expected_max() == 0; }))
    option->check(CLI::Validator(check, ""));
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    check_flags(*command);
}

CLI::Option* add_quiet(CLI::App& app, bool& quiet) {
  return app.add_flag("-q,--quiet", quiet, "show no progress on standard error");
}

Expected<double> part_or_none(const std::string& text) {
  if (text == "0" || text == "0%") return 0.0;
  return parse_part(text);
}

CLI::Option* add_min_effect(CLI::App& app, double& part) {
  return add_parsed(app, "--min-effect", part, "2%", "FRACTION",
                    "smallest change that counts; 0 relies on the intervals alone", part_or_none);
}

// numatlas reads no configuration files: CLI11's mark of what may stand in one is free for this.
CLI::Option* rare(CLI::Option* option) { return option->configurable(false); }

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& summary,
                      const Listing& listing) {
  return app.add_subcommand(name, summary)
      ->group(topic_titles.at(static_cast<std::size_t>(listing.topic)))
      ->configurable(listing.by_name);
}

void add_examples(CLI::App& app, const std::vector<Example>& examples) {
  std::string text = app.get_footer();
  if (!examples.empty()) text += "\nExamples:";
  for (const Example& example : examples)
    text += fmt::format("\n  # {}\n  {}", example.what, example.command);
  app.footer(text);
}

std::vector<std::string> words_of(const std::string& list, char separator) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(separator, at), list.size());
    words.emplace_back(trim(std::string_view(list).substr(at, end - at)));
    at = end + 1;
  }
  return words;
}

std::string type_of_words(const std::vector<std::string>& words, bool several) {
  return fmt::format("{}{}", fmt::join(words, "|"), several ? ",..." : "");
}

std::string text_of(const CLI::App& app, const std::string& option, const std::string& usual) {
  return app.count(option) == 0 ? usual : app.get_option(option)->results().front();
}

CLI::Option* add_words(CLI::App& app, const std::string& name,
                       const std::vector<std::string>& words, bool several, const std::string& text,
                       const std::function<void(const std::vector<std::size_t>&)>& chosen,
                       const std::string& usual) {
  const auto parts = [several](const std::string& value) {
    return several ? words_of(value) : std::vector<std::string>{value};
  };
  const auto place = [words](const std::string& word) {
    return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
  };
  const auto check = [=](const std::string& value) {
    for (const std::string& word : parts(value)) {
      if (place(word) == words.size())
        return fmt::format("'{}' is not one of {}", word, fmt::join(words, ", "));
    }
    return std::string();
  };
  const auto read = [=](const std::string& value) {
    std::vector<std::size_t> places;
    for (const std::string& word : parts(value)) places.push_back(place(word));
    chosen(places);
  };
  return app.add_option_function<std::string>(name, read, text)
      ->type_name(type_of_words(words, several))
      ->check(CLI::Validator(check, ""))
      ->default_str(usual);
}

}  // namespace numatlas
