#include "run/declared.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "run/declare.h"

namespace numatlas {
namespace {

constexpr std::size_t text_column = 24, line_length = 80;

/// Words of `text` in lines that begin at the column, after `head`. After a head that is too long
/// the text stands on its line only if all of it fits there.
std::string beside(std::string head, std::size_t column, const std::string& text) {
  std::string lines;
  if (column > 0 && head.size() + 2 > column) {
    if (head.size() + 2 + text.size() <= line_length) return head + "  " + text + '\n';
    lines += std::exchange(head, "") + '\n';
  }
  head.resize(column, ' ');
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (head.size() > column && head.size() + 1 + word.size() > line_length) {
      lines += head + '\n';
      head.assign(column, ' ');
    }
    head += (head.size() > column ? " " : "") + word;
  }
  return lines + head + '\n';
}

bool is_argument(const CLI::Option* option) { return option->get_positional(); }
bool is_shown(const CLI::Option* option) {
  return !is_argument(option) && !option->get_group().empty();
}
/// --help has it: it is not rare (run/declare.h), nor an option for help.
bool is_common(const CLI::Option* option) { return is_shown(option) && option->get_configurable(); }
bool is_rare(const CLI::Option* option) {
  return is_shown(option) && !option->get_configurable() &&
         !names_of(*option).back().starts_with("--help");
}

/// What stands beside an option's text: "default: 1%", "only with --apply".
std::vector<std::string> notes_of(const CLI::Option& option) {
  std::vector<std::string> notes;
  const auto others = [&](const char* what, const std::set<CLI::Option*>& options) {
    std::vector<std::string> names;
    for (const CLI::Option* other : options) names.push_back(other->get_name());
    std::sort(names.begin(), names.end());  // they are in the order of their addresses
    if (!names.empty()) notes.push_back(fmt::format("{} {}", what, fmt::join(names, ", ")));
  };
  if (option.get_required()) notes.emplace_back("required");
  if (!option.get_default_str().empty()) notes.push_back("default: " + option.get_default_str());
  if (!option.get_envname().empty()) notes.push_back("environment: " + option.get_envname());
  others("only with", option.get_needs());
  others("not with", option.get_excludes());
  return notes;
}

/// Commands under their topics: those that are listed by name stand together.
std::string topics(const std::vector<const CLI::App*>& commands) {
  std::string text;
  for (const std::string topic : topic_titles) {
    std::string title = topic, names;
    const auto add = [&](const std::string& line, std::size_t column, const std::string& words) {
      text += beside(line.empty() ? title : fmt::format("{:18}{}", title, line), column, words);
      title.clear();
    };
    for (const CLI::App* command : commands) {
      if (command->get_group() != topic) continue;
      if (command->get_configurable())
        names += (names.empty() ? "" : ", ") + command->get_name();
      else
        add(command->get_name(), 29, command->get_description());
    }
    if (!names.empty()) add("", 18, names);
  }
  return text;
}

std::string help_line(const CLI::Option& option, bool all) {
  const ValueType value = value_type(option);
  std::string head = fmt::format("  {}", fmt::join(names_of(option), ", ")), type = value.text;
  std::vector<std::string> notes = notes_of(option);
  if (head.size() + 1 + type.size() > line_length) {
    type = value.several ? "WORD,..." : "WORD";
    notes.insert(notes.begin(), fmt::format("words: {}", fmt::join(value.words, ", ")));
  }
  if (!type.empty()) head += option.get_expected_min() == 0 ? " [" + type + "]" : " " + type;
  if (option.get_positional()) head = "  " + type;
  const auto parts = CLI::detail::split(option.get_description(), '\n');
  const std::string text = all ? fmt::format("{}", fmt::join(parts, ". ")) : parts.front();
  return beside(head, text_column,
                notes.empty() ? text : fmt::format("{} ({})", text, fmt::join(notes, "; ")));
}

/// How to see what --help of a command leaves out; "" where that is nothing.
std::string more(const CLI::App& app, const std::string& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options(is_rare))
    names.push_back(names_of(*option).back());
  const auto is_cut = [](const CLI::Option* option) {
    return !option->get_group().empty() &&
           option->get_description().find('\n') != std::string::npos;
  };
  if (names.empty() && app.get_options(is_cut).empty()) return "";
  return '\n' +
         beside("", 0,
                fmt::format("{}{}: {} --help-all", names.empty() ? "In full" : "More options: ",
                            fmt::join(names, ", "), command));
}

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() { label("SUBCOMMAND", "COMMAND"); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const bool all = mode == CLI::AppFormatMode::All || app->get_help_all_ptr() == nullptr;
    const std::vector<const CLI::App*> commands = commands_of(*app);
    std::string text = beside("", 0, app->get_description()) + make_usage(app, name);
    const auto add = [&](const std::string& title, const auto& options) {
      if (!options.empty()) text += '\n' + title + ":\n";
      for (const CLI::Option* option : options) text += help_line(*option, all);
    };
    add("Arguments", app->get_options(is_argument));
    if (!all) add("Options", app->get_options(is_common));
    for (const std::string& group : all ? app->get_groups() : std::vector<std::string>())
      add(group, app->get_options([&](const CLI::Option* option) {
        return is_shown(option) && option->get_group() == group;
      }));
    if (!commands.empty()) text += all ? "\nCommands:\n" : '\n' + topics(commands);
    for (const CLI::App* command : commands)
      if (all) text += beside("  " + command->get_name(), text_column, command->get_description());
    const std::string footer = app->get_footer();
    // Examples stand as they are.
    const std::size_t examples = std::min(footer.find('\n'), footer.size());
    if (examples > 0) text += '\n' + beside("", 0, footer.substr(0, examples));
    if (examples < footer.size()) text += footer.substr(examples) + '\n';
    return all || !commands.empty() ? text : text + more(*app, name);
  }
};

}  // namespace

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

ValueType value_type(const CLI::Option& option) {
  ValueType type;
  if (option.get_items_expected_max() == 0) return type;
  type.text = option.get_type_name();
  if (type.text.empty() && option.get_positional()) type.text = option.get_name(true);
  std::string list = type.text;
  type.several = list.ends_with(",...");
  if (type.several) list.erase(list.size() - 4);
  const std::vector<std::string> all = CLI::detail::split(list, '|');
  for (const std::string& word : all) {
    const bool capitals =
        word.find_first_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
    const bool other = all.size() == 1 || (capitals && word.size() > 1);
    (other ? type.others : type.words).push_back(word);
  }
  return type;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void use_help_format(CLI::App& app) { app.formatter(std::make_shared<HelpFormat>()); }

}  // namespace numatlas
