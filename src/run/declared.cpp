#include "run/declared.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

namespace numatlas {
namespace {

constexpr std::size_t text_column = 28;

/// Of the terminal, within what can be read well; where standard output is none, always the same.
std::size_t line_length() {
  constexpr std::size_t usual = 88, least = 60, most = 120;
  winsize size{};
  const bool terminal = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return terminal ? std::clamp<std::size_t>(size.ws_col, least, most) : usual;
}

/// Words of `text` in lines that begin at the column, after `head`.
std::string beside(std::string head, std::size_t column, const std::string& text) {
  static const std::size_t length = line_length();
  std::string lines;
  if (head.size() + 2 > column && column > 0) std::swap(lines, head += '\n');
  head.resize(column, ' ');
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (head.size() > column && head.size() + 1 + word.size() > length) {
      lines += head + '\n';
      head.assign(column, ' ');
    }
    head += (head.size() > column ? " " : "") + word;
  }
  return lines + head + '\n';
}

std::string help_line(const CLI::Option& option) {
  std::string head = fmt::format("  {}", fmt::join(names_of(option), ", "));
  const std::string type = value_type(option).text;
  if (!type.empty()) head += option.get_expected_min() == 0 ? " [" + type + "]" : " " + type;
  if (option.get_positional()) head = "  " + type;
  const std::vector<std::string> notes = notes_of(option);
  return beside(head, text_column,
                notes.empty()
                    ? option.get_description()
                    : fmt::format("{} ({})", option.get_description(), fmt::join(notes, "; ")));
}

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string text = app->get_description() + '\n' + make_usage(app, name);
    for (const OptionGroup& group : groups_of(*app)) {
      text += fmt::format("\n{}:\n", group.name);
      for (const CLI::Option* option : group.options) text += help_line(*option);
    }
    const std::vector<const CLI::App*> commands = commands_of(*app);
    if (!commands.empty()) text += "\nCommands:\n";
    for (const CLI::App* command : commands)
      text += beside("  " + command->get_name(), text_column, command->get_description());
    const std::string footer = app->get_footer();
    if (footer.empty()) return text;
    // Examples stand as they are.
    const std::size_t examples = std::min(footer.find('\n'), footer.size());
    if (examples > 0) text += '\n' + beside("", 0, footer.substr(0, examples));
    return examples == footer.size() ? text : text + footer.substr(examples) + '\n';
  }
};

}  // namespace

std::vector<OptionGroup> groups_of(const CLI::App& app) {
  std::vector<OptionGroup> groups{
      {"Arguments", {}}, {"Options", {}}, {"Placement", {}}, {"Measurement", {}}, {"Output", {}}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    const std::string name = option->get_positional() ? "Arguments" : option->get_group();
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const OptionGroup& one) { return one.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->options.push_back(option);
  }
  std::erase_if(groups, [](const OptionGroup& group) { return group.options.empty(); });
  return groups;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

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

void use_help_format(CLI::App& app) {
  const auto format = std::make_shared<HelpFormat>();
  format->label("SUBCOMMAND", "COMMAND");
  app.formatter(format);
}

std::optional<std::string> declared_text(const CLI::App& app,
                                         const std::vector<std::string>& words) {
  if (words.size() < 2 || words[0] != "__declared") return std::nullopt;
  const CLI::App& asked = words.size() > 2 ? *app.get_subcommand(words[2]) : app;
  const bool shell = words[1] == "bash" || words[1] == "zsh" || words[1] == "fish";
  return shell ? completion(asked, words[1]) : manual_part(asked, words[1]);
}

}  // namespace numatlas
