// Parts of manual pages in mdoc(7).
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "run/declared.h"

namespace numatlas {
namespace {

/// A line for each sentence; options and `commands` are bold, hyphens can be copied.
std::string sentences(std::string_view words) {
  static const std::regex code("`([^`]*)`|(--[a-z0-9_-]*[a-z0-9])"), hyphen("-"),
      end("\\. (?=[A-Z])");
  std::string text(trim(words));
  std::replace(text.begin(), text.end(), '\n', ' ');
  text[0] = static_cast<char>(std::toupper(text[0]));
  if (!text.ends_with('.')) text += '.';
  text = std::regex_replace(text, code, "\\fB$1$2\\fP");
  text = std::regex_replace(text, hyphen, "\\-");
  return std::regex_replace(text, end, ".\n") + '\n';
}

/// " Ar SIZES", " Cm first | second | Ar NODE", " Ar FILE ..."
std::string value_in_mdoc(const CLI::Option& option) {
  const ValueType type = value_type(option);
  std::string macros;
  if (!type.words.empty()) macros = fmt::format(" Cm {}", fmt::join(type.words, " | "));
  for (const std::string& other : type.others)
    macros += fmt::format("{} Ar {}", macros.empty() ? "" : " |", other);
  if (type.several) macros += " , ...";
  if (option.get_expected_max() > 1) macros += " ...";
  const bool may_be_absent = option.get_expected_min() == 0 && !option.get_positional();
  return !macros.empty() && may_be_absent ? " Op" + macros : macros;
}

/// "Fl q , Fl -quiet", "Fl -size Ar SIZES", "Ar FILE ..."
std::string item(const CLI::Option& option) {
  if (option.get_positional()) return value_in_mdoc(option).substr(1);
  std::string names;
  for (const std::string& name : names_of(option))
    names += (names.empty() ? "Fl " : " , Fl ") + name.substr(1);
  return names + value_in_mdoc(option);
}

/// Its part of the synopsis. A line of mdoc stays on one line of the page: many words get one each.
std::string in_synopsis(const CLI::Option& option) {
  constexpr std::size_t fits = 64;  // of a page's 80 columns
  const std::string text = item(option);
  if (text.size() < fits) return (option.get_required() ? "." : ".Op ") + text + '\n';
  static const std::regex other(" \\| Ar "), word(" \\| ");
  const std::string lines =
      std::regex_replace(std::regex_replace(text, other, " |\n.Ar "), word, " |\n.Cm ");
  return option.get_required() ? '.' + lines + '\n' : ".Oo " + lines + "\n.Oc\n";
}

bool is_own(const OptionGroup& group) {
  return group.name == "Arguments" || group.name == "Options";
}

std::string synopsis(const CLI::App& app) {
  std::string options = ".Nm", groups, arguments;
  if (app.get_parent() != nullptr) options += ' ' + app.get_parent()->get_name();
  options += ' ' + app.get_name() + '\n';
  for (const OptionGroup& group : groups_of(app)) {
    if (!is_own(group)) groups += ".Op Ar " + CLI::detail::to_lower(group.name) + " options\n";
    for (const CLI::Option* option : group.options) {
      const bool help = option == app.get_help_ptr() || option == app.get_help_all_ptr();
      if (!is_own(group) || help) continue;
      (option->get_positional() ? arguments : options) += in_synopsis(*option);
    }
  }
  return options + groups + arguments;
}

std::string options(const CLI::App& app) {
  std::string text;
  for (const OptionGroup& group : groups_of(app)) {
    if (!is_own(group)) text += fmt::format(".El\n.Ss {}\n", group.name);
    if (!is_own(group) || text.empty()) text += ".Bl -tag -width Ds\n";
    for (const CLI::Option* option : group.options) {
      text += ".It " + item(*option) + '\n' + sentences(full_text(*option));
      for (const std::string& note : notes_of(*option)) text += sentences(note);
    }
  }
  return text + ".El\n";
}

std::string commands(const CLI::App& app) {
  std::string text = ".Bl -tag -width bandwidth\n";
  for (const CLI::App* command : commands_of(app)) {
    text +=
        fmt::format(".It Cm {}\n{}", command->get_name(), sentences(command->get_description()));
    if (command->get_name() != "help")  // which has no page of its own
      text += fmt::format("See\n.Xr {}-{} 1 .\n", app.get_name(), command->get_name());
  }
  return text + ".El\n";
}

}  // namespace

std::string manual_part(const CLI::App& app, const std::string& part) {
  if (part == "summary") return app.get_description();
  if (part == "description") {
    const std::string footer = app.get_footer();
    return sentences(footer.substr(0, footer.find('\n')));
  }
  return part == "synopsis" ? synopsis(app) : part == "commands" ? commands(app) : options(app);
}

}  // namespace numatlas
