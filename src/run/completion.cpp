// Completion scripts for bash, zsh and fish.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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
    const std::vector<std::string> words{"gpu:", "nearest:gpu:", "fastest", "largest"};
    std::vector<std::string> cpus = cpu_words(), memory = memory_words();
    cpus.insert(cpus.end(), words.begin(), words.end());
    memory.insert(memory.end(), words.begin(), words.end());
    return std::map<std::string, std::vector<std::string>>{{"CPUS", cpus}, {"PLACEMENT", memory}};
  }();
  return all;
}

/// Up to what explains it.
std::string summary_of(const std::string& text) {
  std::size_t end = text.size();
  for (const char* mark : {": ", "; ", ". ", " (", "\n"}) end = std::min(end, text.find(mark));
  return text.substr(0, end);
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

std::string escaped(const std::string& text, std::string_view special) {
  std::string word;
  for (const char letter : text) {
    if (special.find(letter) != std::string_view::npos) word += '\\';
    word += letter;
  }
  return word;
}

/// Each `key` of the text replaced.
std::string replaced(std::string text, std::string_view key, const std::string& value) {
  for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size()))
    text.replace(at, key.size(), value);
  return text;
}

std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::string in_sh(const Values& values) {
  std::string set;
  if (!values.words.empty()) set += " values='" + values.words + "'";
  if (values.several) set += " several=1";
  if (values.files || values.folders) set += values.files ? " offer=-f" : " offer=-d";
  if (values.programs) set += " offer='-c -f'";
  return set;
}

/// For bash and zsh: what the command has, and by the option before the cursor what is offered.
std::string in_sh(const CLI::App& app) {
  std::string names, cases, arguments = in_sh(arguments_of(app));
  const auto add = [&](const std::string& name, const std::string& text) {
    names += fmt::format("        {} {}\n", name, quoted(summary_of(text)));
  };
  for (const CLI::App* command : commands_of(app))
    add(command->get_name(), command->get_description());
  for (const CLI::Option* option : options_of(app)) {
    const Values values = values_of(*option);
    for (const std::string& name : names_of(*option)) add(name, option->get_description());
    if (!values.type.empty())
      cases +=
          fmt::format("        {}){} ;;\n", fmt::join(names_of(*option), " | "), in_sh(values));
  }
  if (is_external(app))
    names =
        "        $(\"$program\" \"$command\" --help 2>/dev/null | "
        "sed -n 's/.*\\(--[a-z][a-z-]*\\).*/\\1 -/p')\n";
  if (arguments.empty()) arguments = " offer=names";
  return fmt::format(
      "      names=(\n{}      )\n      case $option in\n{}        *){} ;;\n      esac\n      ;;\n",
      names, cases, arguments);
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
  local program=${COMP_WORDS[0]} command='' values='' several='' offer='' before='' names=() i
  ((COMP_CWORD < 2)) || command=${COMP_WORDS[1]}
  if [[ $current == = ]]; then
    current=''
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $command in
@BRANCHES@  esac
  if [[ $current == -* || $offer == names ]]; then
    values='' offer=''
    for ((i = 0; i < ${#names[@]}; i += 2)); do values+="${names[i]} "; done
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

constexpr const char* zsh_script = R"(#compdef @NAME@
# Completion of @NAME@ for zsh, made from the options that it declares.
_@NAME@() {
  local program=${words[1]} option=${words[CURRENT-1]} command= values= several= offer= name text
  local -a names described
  (( CURRENT < 3 )) || command=${words[2]}
  if [[ ${words[CURRENT]} == --*=* ]]; then
    option=${words[CURRENT]%%=*}
    compset -P '*='
  fi
  case $command in
@BRANCHES@  esac
  if [[ $PREFIX == -* || $offer == names ]]; then
    for name text in "${names[@]}"; do described+=("$name:$text"); done
    _describe option described
    return
  fi
  [[ -z $several ]] || compset -P '*,'
  [[ -z $values ]] || compadd -- ${=values}
  case $offer in
    -f) _files ;;
    -d) _files -/ ;;
    -c*) _command_names -e; _files ;;
  esac
}
if [[ $funcstack[1] == _@NAME@ ]]; then _@NAME@ "$@"; else compdef _@NAME@ @NAME@; fi
)";

constexpr const char* fish_script =
    R"(# Completion of @NAME@ for fish, made from the options that it declares.
function __@NAME@_runs
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end
complete -c @NAME@ -f
@BRANCHES@)";

std::string in_fish(const Values& values) {
  if (values.programs) return " -x -a '(__fish_complete_subcommand)'";
  if (values.files) return " -r -F";
  if (values.folders) return " -x -a '(__fish_complete_directories)'";
  if (values.words.empty()) return values.type.empty() ? "" : " -x";
  return values.several ? " -x -a '(__fish_append , " + values.words + ")'"
                        : " -x -a '" + values.words + "'";
}

/// `begin`: "complete -c NAME" and when.
std::string in_fish(const CLI::App& app, const std::string& begin) {
  std::string lines;
  for (const CLI::Option* option : options_of(app)) {
    lines += begin;
    for (const std::string& name : option->get_lnames()) lines += " -l " + name;
    for (const std::string& name : option->get_snames()) lines += " -s " + name;
    lines += fmt::format("{} -d '{}'\n", in_fish(values_of(*option)),
                         escaped(summary_of(option->get_description()), "'\\"));
  }
  const Values arguments = arguments_of(app);
  if (commands_of(app).empty() &&
      (arguments.programs || !arguments.type.empty() || arguments.files))
    lines += begin + in_fish(arguments) + '\n';
  if (is_external(app))
    lines += fmt::format(
        "{} -a '(numatlas {} --help 2>/dev/null | string match -ar -- \"--[a-z][a-z-]*\")'\n",
        begin, app.get_name());
  return lines;
}

std::string fish_branches(const CLI::App& app) {
  const std::string begin = "complete -c @NAME@";
  if (commands_of(app).empty()) return in_fish(app, begin);
  const std::string first = begin + " -n '__@NAME@_runs \"\"'";
  std::string lines = in_fish(app, first);
  for (const CLI::App* command : commands_of(app)) {
    lines += fmt::format("{} -a {} -d '{}'\n", first, command->get_name(),
                         escaped(summary_of(command->get_description()), "'\\"));
    lines += in_fish(*command, begin + " -n '__@NAME@_runs " + command->get_name() + "'");
  }
  return lines;
}

}  // namespace

std::string completion(const CLI::App& app, const std::string& shell) {
  const bool fish = shell == "fish";
  const std::string script = fish ? fish_script : shell == "zsh" ? zsh_script : bash_script;
  const std::string branches = fish ? fish_branches(app) : sh_branches(app);
  return replaced(replaced(script, "@BRANCHES@", branches), "@NAME@", app.get_name());
}

}  // namespace numatlas
