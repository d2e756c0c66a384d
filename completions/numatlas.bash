# shellcheck shell=bash
# Completion of numatlas for bash: commands, the options that a command's help names, and files.
_numatlas() {
  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]:-}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W \
      'topology latency bandwidth matrix loaded cores copy touch transfer weights run stream check compare exec features survey report plot --help --version' -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W \
      "$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*')" \
      -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _numatlas numatlas
