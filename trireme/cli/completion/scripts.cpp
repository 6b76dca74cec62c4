#include "trireme/cli/completion/scripts.h"

namespace trireme::cli::completion {
namespace {

// Bash splits words at "=" and ":" too, and replaces only what follows them; trireme needs whole
// words. Words that touch each other in the line are therefore joined.
constexpr std::string_view kBash =
    R"SCRIPT(# Completion of trireme in bash. Try it with: source <(trireme completion bash)

_trireme() {
  local line=${COMP_LINE:0:COMP_POINT} words=() i piece
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    if ((i == 0)) || [[ $line == [[:space:]]* || -z $line ]]; then
      words+=("")
      line=${line#"${line%%[![:space:]]*}"}
    fi
    if ((i == COMP_CWORD)); then piece=$line; fi
    words[${#words[@]} - 1]+=$piece
    line=${line#"$piece"}
  done
  local typed=${words[${#words[@]} - 1]}
  local kept=${typed%"${typed##*[=:]}"}
  local value=${typed#"$kept"}
  local answer word
  mapfile -t answer < <("${words[0]/#\~/$HOME}" --complete "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  for word in "${answer[@]:1}"; do
    word=${word%%$'\t'*}
    COMPREPLY+=("${word#"$kept"}")
    if [[ $word == *[=.] ]]; then compopt -o nospace 2>/dev/null; fi
  done
  case ${answer[0]} in
    files)
      compopt -o default 2>/dev/null ;;
    folders)
      compopt -o dirnames 2>/dev/null ;;
    recipes)
      # With this option bash puts a "/" after folders; it would also change "=" in other words.
      if ((${#COMPREPLY[@]} == 0)); then compopt -o filenames 2>/dev/null; fi
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
        compgen -f -X '!*.toml' -- "$value"; compgen -d -- "$value") ;;
    programs)
      compopt -o default 2>/dev/null
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$value") ;;
  esac
}

complete -F _trireme trireme
)SCRIPT";

constexpr std::string_view kZsh = R"SCRIPT(#compdef trireme
# Completion of trireme in zsh. Try it with: source <(trireme completion zsh)

_trireme() {
  local -a answer plain open
  local line word help
  local program=${words[1]/#\~/$HOME}
  answer=("${(@f)$("$program" --complete "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  for line in "${(@)answer[2,-1]}"; do
    word=${line%%$'\t'*} help=${line#*$'\t'}
    line=${word//:/\\:}${help:+:$help}
    if [[ $word == *[=.] ]]; then open+=("$line"); else plain+=("$line"); fi
  done
  if (( $#plain )); then _describe -t words 'word' plain; fi
  if (( $#open )); then _describe -t settings 'setting' open -S ''; fi
  if [[ $answer[1] != none && $PREFIX == -*=* ]]; then compset -P '*='; fi
  case $answer[1] in
    files) _files ;;
    folders) _files -/ ;;
    recipes) _files -g '*.toml' ;;
    programs) _command_names -e; _files ;;
  esac
}

if [[ $funcstack[1] == _trireme ]]; then _trireme "$@"; else compdef _trireme trireme; fi
)SCRIPT";

constexpr std::string_view kFish =
    R"SCRIPT(# Completion of trireme in fish. Try it with: trireme completion fish | source

function __trireme_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    set -l answer ($program --complete $words[2..-1] "$typed" 2>/dev/null)
    for line in $answer[2..-1]
        echo $line
    end
    set -l kept (string match -r -- '^-.*=' "$typed")
    set -l value (string replace -r -- '^-.*=' '' "$typed")
    switch "$answer[1]"
        case files
            printf "$kept%s\n" (__fish_complete_path "$value")
        case folders
            printf "$kept%s\n" (__fish_complete_directories "$value")
        case recipes
            for path in (__fish_complete_path "$value" | string replace -r '\t.*' '')
                string match -qr '(/|\.toml)$' -- $path; and printf "$kept%s\n" $path
            end
        case programs
            __fish_complete_command
            __fish_complete_path "$value"
    end
end

complete -c trireme -f -a '(__trireme_complete)'
)SCRIPT";

}  // namespace

std::string_view script_for(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  return shell == "fish" ? kFish : std::string_view();
}

}  // namespace trireme::cli::completion
