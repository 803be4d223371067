# The completion of lenden for bash 4.3 or later.
#
# lenden itself knows what can follow: `lenden __complete` prints one word per line, a tab before what it
# means, or a line that begins with a colon if the shell has to complete a file or a program.

_lenden() {
  local IFS=$' \t\n' words=() cur head='' found
  # bash splits a word at these characters, and replaces only what follows the last one.
  local breaks=${COMP_WORDBREAKS//[^=:]/}
  COMPREPLY=()
  _lenden_join
  cur=${words[-1]}
  [[ $breaks ]] && head=${cur%"${cur##*[$breaks]}"}
  while IFS= read -r found; do
    case $found in
      :file*) compopt -o default ;;
      :csv*) _lenden_csv ;;
      :program*) _lenden_program ;;
      *)
        found=${found%%$'\t'*}
        COMPREPLY+=("${found#"$head"}")
        ;;
    esac
  done < <(lenden __complete "--typed=$cur" "${words[@]:1:${#words[@]}-2}" 2>/dev/null </dev/null)
}

# The words up to the cursor; what is one word on the line becomes one word again.
_lenden_join() {
  local line=${COMP_LINE:0:COMP_POINT} word
  for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    [[ ${#words[@]} -eq 0 || $line == [[:space:]]* ]] && words+=('')
    line=${line#"${line%%[![:space:]]*}"}
    [[ $line == "$word"* ]] || word=$line
    words[-1]+=$word
    line=${line#"$word"}
  done
}

# CSV files and workbooks, and the directories that may contain some.
_lenden_csv() {
  local file type
  compopt -o filenames
  while IFS= read -r file; do
    COMPREPLY+=("$file")
  done < <(
    compgen -d -- "${cur#"$head"}"
    for type in csv xlsx xls ods; do compgen -f -X "!*.$type" -- "${cur#"$head"}"; done
  )
}

# The command line of another program, after the first --.
_lenden_program() {
  local index
  for ((index = 0; index < COMP_CWORD; index++)); do
    [[ ${COMP_WORDS[index]} == -- ]] && break
  done
  if declare -F _command_offset >/dev/null; then
    _command_offset $((index + 1))
  elif ((COMP_CWORD == index + 1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    compopt -o default
  fi
}

complete -F _lenden lenden
