# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for cordon. What there is to complete, the program itself says.

# The value's names ("FILE|-|fd:N") of option $argv[2] of verb $argv[1]; nothing where it takes none.
function __cordon_value_names
    set -l program (commandline -opc)[1]
    $program --list-options $argv[1] 2>/dev/null | while read -l -d \t option help names
        test "$option" = "$argv[2]"; and string split -n '|' -- $names
    end
end

# Offers what a value of these names can be; what is typed already is $argv[1].
function __cordon_value
    for name in $argv[2..]
        switch $name
            case FILE PATH
                __fish_complete_path $argv[1]
            case DIR
                __fish_complete_directories $argv[1]
            case PROFILE
                set -l program (commandline -opc)[1]
                $program --list-profiles 2>/dev/null
            case '*'
                set -l begun (string replace -r '^([a-z]+=)[A-Z]+$' '$1' -- $name)
                string match -qr '[A-Z]' -- $begun; or echo $begun
        end
    end
end

function __cordon_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]

    if not set -q words[2]
        $program --list-verbs 2>/dev/null
        printf '%s\n' --help --version
        return
    end

    set -l operand (__cordon_value_names $words[2] FILE) (__cordon_value_names $words[2] PROFILE)
    set -l i 3
    while set -q words[$i]
        switch $words[$i]
            case --
                set i (math $i + 1)
                break
            case '-*'
                set -l names (__cordon_value_names $words[2] $words[$i])
                if set -q names[1]
                    if not set -q words[(math $i + 1)]
                        __cordon_value "$current" $names
                        return
                    end
                    set i (math $i + 1)
                end
            case '*'
                set -q operand[1]; or break
        end
        set i (math $i + 1)
    end

    if not set -q words[$i]; and test "$words[-1]" != --
        if string match -qr '^(?<option>--[^=]+)=(?<typed>.*)' -- $current
            for value in (__cordon_value "$typed" (__cordon_value_names $words[2] $option))
                echo $option=$value
            end
            return
        else if string match -q -- '-*' $current
            $program --list-options $words[2] 2>/dev/null | string match -r '^-.*' | string replace -r '\t([^\t]*)\t.*' '\t$1'
            return
        end
    end
    if set -q operand[1]
        __cordon_value "$current" $operand
        return
    end
    complete -C (string join ' ' -- (string escape -- $words[$i..]) "$current")
end

complete -c cordon -f -a '(__cordon_complete)'
