// How options are declared. The declaration is the only list of them: checks, --help and
// completions (run/declared.h) follow from it, and the manual pages from --help-all.
//
// A text is what --help says of an option, in one or two lines. What follows a line break in it
// stands only in --help-all.
//
// The type name of an option says what its value is: "table|csv|json" is one of these words,
// "base|2M,..." one or several of them. Words in capitals stand for something else: files for FILE,
// folders for FOLDER.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/add_once.h"
#include "base/cli_forward.h"
#include "base/error.h"
#include "base/whole.h"

namespace numatlas {

/// `--json "$UNSET"` is a slip, not the same as no --json: an empty value is refused, with the
/// option's name. Returns the option.
CLI::Option* refuse_empty(CLI::Option* option);

/// An option with a value that is not empty. What `value` holds is its default.
CLI::Option* add_value(CLI::App& app, const std::string& name, std::string& value,
                       const std::string& type, const std::string& text);

/// An option whose text `read` takes; where that is an error, it names the option. `usual`: the
/// default's text, which is read as well; "" where there is none.
CLI::Option* add_read(CLI::App& app, const std::string& name, const std::string& usual,
                      const std::string& type, const std::string& text,
                      const std::function<Expected<void>(const std::string&)>& read);

/// The same, where a function reads its value: `parse(text)`.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, T& value, const std::string& usual,
                        const std::string& type, const std::string& text, const Parse& parse) {
  return add_read(app, name, usual, type, text,
                  [&value, parse](const std::string& words) { return fill(value, parse(words)); });
}

/// Reads a whole number in [low, high], for add_parsed.
template <class T>
auto whole(T low, T high) {
  return [low, high](const std::string& text) { return parse_whole<T>(text, low, high, ""); };
}

/// What add_read's reading found wrong, of an error of the parser; nullptr where it is another's.
const Error* value_error(const CLI::ParseError& error);

/// The text of an option that the command line gives; else `usual`.
std::string text_of(const CLI::App& app, const std::string& option, const std::string& usual);

/// All flags of `app` and of its commands stand alone or are given `true` or `false`; any other
/// value is an error.
void check_flags(CLI::App& app);

/// -q, of every command that tells how it goes on, or may be called as those are.
CLI::Option* add_quiet(CLI::App& app, bool& quiet);

/// --min-effect: the smallest difference that counts, as a part; 0 where every sure one does.
CLI::Option* add_min_effect(CLI::App& app, double& part);
/// A part of something, or none of it.
Expected<double> part_or_none(const std::string& text);

/// --help only names it: --help-all says what it does. Returns the option.
CLI::Option* rare(CLI::Option* option);

/// Headings of `numatlas --help`, in their order.
enum class Topic { machine, memory, caches, pages, gpus, hosts, judge, place, other };
inline constexpr std::array<const char*, 9> topic_titles{
    "Know the machine", "Measure memory", "Caches and cores", "Pages", "GPUs",
    "Many hosts",       "Judge results",  "Place a program",  "Other"};

/// Where `numatlas --help` has a command.
struct Listing {
  Topic topic = Topic::memory;
  bool by_name = false;  ///< without its summary, which --help-all has
};
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& summary,
                      const Listing& listing);

/// What a command line does, and the command line.
struct Example {
  std::string what, command;
};
/// Adds examples to the end of a command's help, below its footer.
void add_examples(CLI::App& app, const std::vector<Example>& examples);

/// "read,copy" -> its words, trimmed.
std::vector<std::string> words_of(const std::string& list, char separator = ',');
/// "read|copy", with `several` "read|copy,...": the type name of an option that takes these words.
std::string type_of_words(const std::vector<std::string>& words, bool several);

/// An option that takes one of `words`, with `several` one or more of them separated by commas;
/// anything else is an error that lists them. `chosen` is given their places in `words`. `usual`:
/// the default.
CLI::Option* add_words(CLI::App& app, const std::string& name,
                       const std::vector<std::string>& words, bool several, const std::string& text,
                       const std::function<void(const std::vector<std::size_t>&)>& chosen,
                       const std::string& usual = "");

/// Values and the words for them.
template <class T>
using Choices = std::vector<std::pair<std::string, T>>;

template <class Values>
auto named(const Values& values) {
  Choices<typename Values::value_type> choices;
  for (const auto& value : values) choices.emplace_back(name_of(value), value);
  return choices;
}
inline Choices<std::string> named(const std::vector<std::string>& words) {
  Choices<std::string> choices;
  for (const std::string& word : words) choices.emplace_back(word, word);
  return choices;
}

template <class T>
std::vector<std::string> words_in(const Choices<T>& choices) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.push_back(choice.first);
  return words;
}
/// The first word for a value; "" of one that is not among them.
template <class T>
std::string word_for(const Choices<T>& choices, const T& value) {
  const auto same = [&](const auto& choice) { return choice.second == value; };
  const auto found = std::find_if(choices.begin(), choices.end(), same);
  return found == choices.end() ? "" : found->first;
}

/// An option whose value is one of `choices`. What `value` holds is its default.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& value, const Choices<T>& choices,
                        const std::string& text) {
  const auto chosen = [&value, choices](const auto& places) { value = choices[places[0]].second; };
  return add_words(app, name, words_in(choices), false, text, chosen, word_for(choices, value));
}

/// The same for one or several.
template <class T>
CLI::Option* add_choices(CLI::App& app, const std::string& name, std::vector<T>& values,
                         const Choices<T>& choices, const std::string& text) {
  std::string usual;
  for (const T& value : values) usual += (usual.empty() ? "" : ",") + word_for(choices, value);
  const auto chosen = [&values, choices](const auto& places) {
    values.clear();  // what is named twice is measured once
    for (const std::size_t place : places) add_once(values, choices[place].second);
  };
  return add_words(app, name, words_in(choices), true, text, chosen, usual);
}

}  // namespace numatlas
