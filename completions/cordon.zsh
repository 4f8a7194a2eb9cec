#compdef cordon
# SPDX-License-Identifier: LGPL-2.1-or-later
# zsh completion for cordon. What there is to complete, the program itself says.

# _cordon_value NAMES: what a value named "truncate|kill" or "FILE|-|fd:N" can be.
_cordon_value() {
    local name
    for name in ${(s:|:)1}; do
        case $name in
        FILE | PATH) _files ;;
        DIR) _files -/ ;;
        PROFILE) _cordon_profiles ;;
        [a-z]*=[A-Z]*) compadd -S '' -- ${name%%=*}= ;;
        *[A-Z]*) _message -r $name ;;
        *) compadd -- $name ;;
        esac
    done
}

_cordon_profiles() {
    local line
    local -a profiles
    for line in ${(f)"$($program --list-profiles 2>/dev/null)"}; do
        profiles+=(${line/$'\t'/:})
    done
    _describe -t profiles profile profiles
}

_cordon() {
    local program=${(Q)words[1]} line
    local -a verbs options
    local -A values

    if (( CURRENT == 2 )); then
        for line in ${(f)"$($program --list-verbs 2>/dev/null)"}; do
            verbs+=(${line/$'\t'/:})
        done
        _describe -t commands verb verbs
        compadd -- --help --version
        return
    fi
    for line in ${(f)"$($program --list-options ${(Q)words[2]} 2>/dev/null)"}; do
        local -a fields=("${(@ps:\t:)line}")
        values[$fields[1]]=${fields[3]-}
        [[ $fields[1] != -* ]] || options+=("${fields[1]}:${fields[2]}")
    done

    local operand=${values[FILE]-}${values[PROFILE]-}
    local -i i
    for (( i = 3; i < CURRENT; i++ )); do
        case $words[i] in
        --) (( i++ )); break ;;
        -*)
            [[ -n ${values[$words[i]]-} ]] || continue
            if (( ++i == CURRENT )); then
                _cordon_value $values[$words[CURRENT-1]]
                return
            fi
            ;;
        *) [[ -n $operand ]] || break ;;
        esac
    done
    if (( i == CURRENT )) && [[ $words[i-1] != -- || $i == 3 ]]; then
        case $words[CURRENT] in
        --*=*)
            local option=${words[CURRENT]%%=*}
            compset -P 1 '*='
            _cordon_value "${values[$option]-}"
            return
            ;;
        -*)
            _describe -o option options
            return
            ;;
        esac
    fi
    if [[ -n $operand ]]; then
        _cordon_value $operand
        return
    fi
    shift $(( i - 1 )) words
    (( CURRENT -= i - 1 ))
    _normal
}

_cordon "$@"
