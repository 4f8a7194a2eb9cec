#compdef cordon
# SPDX-License-Identifier: LGPL-2.1-or-later
# zsh completion for cordon. What there is to complete, the program itself says.

# _cordon_value OPTION TYPED: what its value can be: files where it is named so ("FILE|-|fd:N"), else what the program says.
_cordon_value() {
    local name line
    local -a begun begun_help whole whole_help
    for name in ${(s:|:)values[$1]-}; do
        case $name in
        FILE | PATH*) _files ;;
        DIR) _files -/ ;;
        esac
    done
    [[ $1 != FILE ]] || return
    for line in ${(f)"$($program --list-values ${(Q)words[2]} $1 "$2" ${(Q)words[3,CURRENT-1]} 2>/dev/null)"}; do
        if [[ ${line%%$'\t'*} == *= ]]; then
            begun+=(${line%%$'\t'*}) begun_help+=("${line/$'\t'/  -- }")
        else
            whole+=(${line%%$'\t'*}) whole_help+=("${line/$'\t'/  -- }")
        fi
    done
    (( ! $#begun )) || compadd -S '' -l -d begun_help -a begun
    (( ! $#whole )) || compadd -l -d whole_help -a whole
    (( $#begun + $#whole )) || _message -r ${values[$1]-}
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
                _cordon_value ${words[CURRENT-1]} "${(Q)words[CURRENT]}"
                return
            fi
            ;;
        *) [[ -n $operand ]] || break ;;
        esac
    done
    if (( i == CURRENT )) && [[ $words[i-1] != -- || $i == 3 ]]; then
        case $words[CURRENT] in
        --*=*)
            local option=${words[CURRENT]%%=*} typed=${(Q)words[CURRENT]#*=}
            compset -P 1 '*='
            _cordon_value $option "$typed"
            return
            ;;
        -*)
            _describe -o option options
            return
            ;;
        esac
    fi
    if [[ -n $operand ]]; then
        _cordon_value $operand "${(Q)words[CURRENT]}"
        return
    fi
    [[ -n ${values[COMMAND]-} ]] || return
    shift $(( i - 1 )) words
    (( CURRENT -= i - 1 ))
    _normal
}

_cordon "$@"
