// The completion script for bash; zsh reads it by bashcompinit.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "memory/source.h"
#include "run/declared.h"

namespace numatlas {
namespace {

// How values that have several forms begin.
const std::map<std::string, std::vector<std::string>>& forms() {
  static const std::map<std::string, std::vector<std::string>> all = [] {
    const std::vector<std::string> words{"gpu:", "nearest:gpu:", "fastest"};
    std::vector<std::string> cpus = cpu_words(), memory = memory_words();
    cpus.insert(cpus.end(), words.begin(), words.end());
    memory.insert(memory.end(), words.begin(), words.end());
    return std::map<std::string, std::vector<std::string>>{{"CPUS", cpus}, {"PLACEMENT", memory}};
  }();
  return all;
}

/// What completes a value, or the arguments of a command.
struct Values {
  std::string type, words;  ///< type "": no value
  bool several = false, files = false, folders = false, programs = false;
};

Values values_of(const CLI::Option& option) {
  const ValueType type = value_type(option);
  std::vector<std::string> words = type.words;
  Values values{type.text, "", type.several};
  for (const std::string& other : type.others) {
    values.files = values.files || other == "FILE";
    values.folders = values.folders || other == "FOLDER";
    if (const auto form = forms().find(other); form != forms().end()) words = form->second;
  }
  values.words = fmt::format("{}", fmt::join(words, " "));
  return values;
}

/// Only another program knows its options.
bool is_external(const CLI::App& app) {
  return app.get_prefix_command() && app.get_options().size() == 1;  // --help
}

Values arguments_of(const CLI::App& app) {
  Values values;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional()) values = values_of(*option);
  values.files = values.files || is_external(app);
  values.programs = app.get_prefix_command() && !is_external(app);
  return values;
}

/// What has a value or none, and is not hidden.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

/// Each `key` of the text replaced.
std::string replaced(std::string text, std::string_view key, const std::string& value) {
  for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size()))
    text.replace(at, key.size(), value);
  return text;
}

std::string in_sh(const Values& values) {
  std::string set;
  if (!values.words.empty()) set += " values='" + values.words + "'";
  if (values.several) set += " several=1";
  if (values.files || values.folders) set += values.files ? " offer=-f" : " offer=-d";
  if (values.programs) set += " offer='-c -f'";
  return set;
}

/// What the command has, and by the option before the cursor what is offered.
std::string in_sh(const CLI::App& app) {
  std::string names, cases, arguments = in_sh(arguments_of(app));
  for (const CLI::App* command : commands_of(app)) names += command->get_name() + ' ';
  for (const CLI::Option* option : options_of(app)) {
    const Values values = values_of(*option);
    for (const std::string& name : names_of(*option)) names += name + ' ';
    if (!values.type.empty())
      cases +=
          fmt::format("        {}){} ;;\n", fmt::join(names_of(*option), " | "), in_sh(values));
  }
  if (is_external(app))
    names =
        "$(\"$program\" \"$command\" --help 2>/dev/null | sed -n "
        "'s/.*\\(--[a-z][a-z-]*\\).*/\\1/p')";
  if (arguments.empty()) arguments = " offer=names";
  return fmt::format(
      "      names=\"{}\"\n      case $option in\n{}        *){} ;;\n      esac\n      ;;\n", names,
      cases, arguments);
}

std::string sh_branches(const CLI::App& app) {
  std::string branches;
  for (const CLI::App* command : commands_of(app))
    branches += fmt::format("    {})\n{}", command->get_name(), in_sh(*command));
  return branches + "    *)\n" + in_sh(app);
}

constexpr const char* bash_script =
    R"(# Completion of @NAME@ for bash, made from the options that it declares.
_@NAME@() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
  local program=${COMP_WORDS[0]} command='' values='' several='' offer='' before='' names=''
  ((COMP_CWORD < 2)) || command=${COMP_WORDS[1]}
  if [[ $current == = ]]; then
    current=''
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $command in
@BRANCHES@  esac
  if [[ $current == -* || $offer == names ]]; then
    values=$names offer=''
  fi
  [[ -z $several || $current != *,* ]] || before=${current%,*},
  mapfile -t COMPREPLY < <(
    compgen -P "$before" -W "$values" -- "${current#"$before"}"
    # shellcheck disable=SC2086
    [[ -z $offer ]] || compgen $offer -- "$current"
  )
  [[ -z $offer ]] || compopt -o filenames 2>/dev/null
  [[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace 2>/dev/null
}
complete -F _@NAME@ @NAME@
)";

}  // namespace

std::string completion(const CLI::App& app) {
  return replaced(replaced(bash_script, "@BRANCHES@", sh_branches(app)), "@NAME@", app.get_name());
}

}  // namespace numatlas
