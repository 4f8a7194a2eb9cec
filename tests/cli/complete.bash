# SPDX-License-Identifier: LGPL-2.1-or-later
# complete.bash COMPLETION LINE…: what bash offers at the end of each line, as one line. Bash itself has no call for
# this, so the function is called as bash would: the line split at blanks and at = and :, the cursor behind it.

# shellcheck source=/dev/null
[[ -z ${completion_library-} ]] || source "$completion_library"
# shellcheck source=../../completions/cordon.bash
source "$1"

# Outside of a completion there is nothing that it could be told.
compopt() { :; }

offer() {
    local rest=$1 function
    COMP_LINE=$1
    COMP_POINT=${#1}
    COMP_WORDS=()
    COMP_TYPE=9
    COMP_KEY=9
    while [[ $rest =~ ^[[:space:]]*([=:]+|[^=:[:space:]]+) ]]; do
        COMP_WORDS+=("${BASH_REMATCH[1]}")
        rest=${rest#"${BASH_REMATCH[0]}"}
    done
    [[ $COMP_LINE != *[[:space:]] ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))

    function=$(complete -p cordon)
    function=${function#*-F }
    COMPREPLY=()
    "${function%% *}" cordon "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}"
}

for line in "${@:2}"; do
    offer "$line"
done
