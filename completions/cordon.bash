# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for cordon. What there is to complete, the program itself says.

# COMP_WORDS is split at = and : too; joins what stands together on the line again.
# Fills the caller's words, their first places in COMP_WORDS (starts), and at.
_cordon_words() {
    local rest=$COMP_LINE word i
    words=() starts=() at=0
    for i in "${!COMP_WORDS[@]}"; do
        word=${COMP_WORDS[i]}
        if ((i == 0)) || [[ $rest == [[:space:]]* ]]; then
            words+=("") starts+=("$i")
        fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$word"}
        words[${#words[@]} - 1]+=$word
        ((i != COMP_CWORD)) || at=$((${#words[@]} - 1))
    done
}

# _cordon_value OPTION TYPED: what its value can be: files where it is named so ("FILE|-|fd:N"), else what the program says.
_cordon_value() {
    local name names value
    IFS='|' read -ra names <<<"${values[$1]-}"
    for name in "${names[@]}"; do
        case $name in
        FILE | PATH* | DIR)
            compopt -o filenames
            [[ $name == DIR ]] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$2")
            [[ $name != DIR ]] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2")
            ;;
        esac
    done
    [[ $1 != FILE ]] || return
    while IFS=$'\t' read -r value _; do
        [[ $value == "$2"* ]] || continue
        [[ $value != *= ]] || compopt -o nospace
        COMPREPLY+=("$value")
    done < <("${words[0]}" --list-values "${words[1]}" "$1" "$2" "${words[@]:2:at-2}" 2>/dev/null)
    _cordon_trim "$2"
}

# _cordon_trim TYPED: of a word that is split at = and :, bash replaces what stands behind the last of them.
_cordon_trim() {
    local last=${COMP_WORDS[COMP_CWORD]} kept i
    [[ $last != [=:] ]] || last=
    kept=${1%"$last"}
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$kept"}
    done
}

# _cordon_word INDEX CURRENT: what is no option: the verb's operand, or its command; not every verb has one.
_cordon_word() {
    if [[ -n $operand ]]; then
        _cordon_value "$operand" "$2"
    elif [[ -n ${values[COMMAND]-} ]]; then
        _cordon_command "$1" "$2"
    fi
}

# _cordon_command INDEX CURRENT: the program and its own arguments, from COMP_WORDS[INDEX] on.
_cordon_command() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$2")
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
    fi
}

_cordon() {
    local words starts at current i option value operand
    local -A values=()
    COMPREPLY=()
    _cordon_words
    current=${words[at]}

    if ((at == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$("${words[0]}" --list-verbs 2>/dev/null | cut -f1)
            --help --version" -- "$current")
        return
    fi
    while IFS=$'\t' read -r option _ value; do
        values[$option]=$value
    done < <("${words[0]}" --list-options "${words[1]}" 2>/dev/null)

    operand=${values[FILE]-}${values[PROFILE]-}
    for ((i = 2; i < at; i++)); do
        option=${words[i]}
        case $option in
        --)
            _cordon_word "${starts[i + 1]}" "$current"
            return
            ;;
        -*)
            [[ -n ${values[$option]-} ]] || continue
            if ((++i == at)); then
                _cordon_value "$option" "$current"
                return
            fi
            ;;
        *)
            [[ -z $operand ]] || continue
            _cordon_word "${starts[i]}" "$current"
            return
            ;;
        esac
    done

    case $current in
    --*=*) _cordon_value "${current%%=*}" "${current#*=}" ;;
    -*) mapfile -t COMPREPLY < <(compgen -W "${!values[*]}" -- "$current") ;;
    *) _cordon_word "${starts[at]}" "$current" ;;
    esac
}

complete -F _cordon cordon
