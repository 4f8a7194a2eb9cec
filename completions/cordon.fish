# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for cordon. What there is to complete, the program itself says.

# The value's names ("FILE|-|fd:N") of option $argv[2] of verb $argv[1]; nothing where it takes none.
function __cordon_value_names
    set -l program (commandline -opc)[1]
    $program --list-options $argv[1] 2>/dev/null | while read -l -d \t option help names
        test "$option" = "$argv[2]"; and string split -n '|' -- $names
    end
end

# Offers what the value of option $argv[2] of verb $argv[1] can be: files where it is named so, else what the program says.
# What is typed of it is $argv[3].
function __cordon_value
    set -l words (commandline -opc)
    for name in (__cordon_value_names $argv[1] $argv[2])
        switch $name
            case FILE 'PATH*'
                __fish_complete_path $argv[3]
            case DIR
                __fish_complete_directories $argv[3]
        end
    end
    test $argv[2] = FILE; or $words[1] --list-values $argv $words[3..] 2>/dev/null
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
                        __cordon_value $words[2] $words[$i] "$current"
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
            for value in (__cordon_value $words[2] $option "$typed")
                echo $option=$value
            end
            return
        else if string match -q -- '-*' $current
            $program --list-options $words[2] 2>/dev/null | string match -r '^-.*' | string replace -r '\t([^\t]*)\t.*' '\t$1'
            return
        end
    end
    if set -q operand[1]
        __cordon_value $words[2] $operand "$current"
        return
    end
    string length -q -- (__cordon_value_names $words[2] COMMAND); or return
    complete -C (string join ' ' -- (string escape -- $words[$i..]) "$current")
end

complete -c cordon -f -a '(__cordon_complete)'
