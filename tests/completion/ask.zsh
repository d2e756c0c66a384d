# ask.zsh SCRIPTS_FOLDER LINE...: what an interactive zsh offers at the end of each line, on a line each.
emulate -R zsh
zmodload zsh/zpty
typeset -x answers=$(mktemp) scripts=$1
shift
zpty shell zsh -f -i
zpty -w shell 'PS1= PS2= RPS1=; autoload -Uz compinit; compinit -u -D'
zpty -w shell 'for script in $scripts/_*; do source $script; done'
# What would be added is written down. Calls that only ask (-O, -A, -D) are passed on.
zpty -w shell 'compadd() {
  local word; local -a found
  for word in "$@"; do
    [[ $word != (-|--) ]] || break
    [[ $word != -[A-Za-z]#[OAD]* ]] || { builtin compadd "$@"; return }
  done
  builtin compadd -O found "$@"
  [[ ${@[(I)-f|-*f*]} == 0 ]] || { for word in $found; do [[ -d $word ]] && found[(i)$word]=$word/; done }
  print -rn -- "$found " >>$answers
  builtin compadd "$@"
}'
zpty -w shell 'ask() { setopt localoptions extendedglob; _main_complete; print >>$answers }'
zpty -w shell 'zle -C ask complete-word ask; bindkey "^I" ask'
integer number=0 tries
for line in "$@"; do
  zpty -w -n shell $'\C-u'"$line"$'\t'
  ((++number))
  for ((tries = 0; tries < 400; ++tries)); do
    while zpty -r -t shell ignored; do :; done
    (($(wc -l <$answers) < number)) || break
    sleep 0.05
  done
done
zpty -d shell
cat $answers
rm -f $answers
