# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154 # scratch is of tap.bash
# What an installed cordon must do, wherever its package came from: points for the tests that source this, after tap.bash.
# Environment: BASH_COMPLETION and MANDOC, where they are not in their places.
: "${BASH_COMPLETION:=/usr/share/bash-completion/bash_completion}" "${MANDOC:=mandoc}"

# as USER COMMAND: with what he would have in a login.
as() {
    runuser -l "$1" -c "$2" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    out=$(<"$scratch/out")
    err=$(<"$scratch/err")
}

# check_job MANAGER USER: the main job, once against a limit and once with a record.
check_job() {
    as "$2" "CORDON_PRIVATE_IDLE=10s cordon run --$1 --memory 16M --timeout 120s -- tail /dev/zero"
    is "$status" 137 "$1 manager, $2: a limit ends a program"
    like "$err" "^cordon: memory limit hit: killed \(SIGKILL\).*\[memory=16M\]$" "and that is what is said of it"
    as "$2" "CORDON_PRIVATE_IDLE=10s cordon run --$1 --json --tasks 32 --timeout 120s -- sh -c 'echo here; exit 7'"
    is "$status" 7 "$1 manager, $2: the program's status is cordon's"
    like "$out" '"outcome": *"exited"' "the record has the outcome"
    like "$out" '"exit_code": *7[,}]' "and the status"
    like "$out" '"stdout": *"here\\n"' "and what was written"
}

# check_installed MANAGER:USER…: VERSION is that of the package.
check_installed() {
    local ground page

    is "$(cordon --version | head -n 1)" "cordon $VERSION" "it is the version of its package"
    for ground; do
        check_job "${ground%:*}" "${ground#*:}"
    done
    as root "cordon profile"
    like "$out" "tool .* /usr/lib/cordon/profiles/tool.conf" "its profiles are where it looks"

    for page in $({
        cordon --list-verbs | cut -f 1 | sed 's/.*/cordon-&.1/'
        find /usr/share/man -name 'cordon*.gz' -printf '%f\n' | sed 's/\.gz$//'
    } | sort -u); do
        "$MANDOC" -T ascii "/usr/share/man/man${page##*.}/$page.gz" 2>&1 | sed 's/.\x08//g' >"$scratch/page"
        like "$(grep -A 1 '^NAME' "$scratch/page")" "^NAME[[:space:]]+${page%.*} - ." "$page is where man looks, and is shown"
    done
    check_tab
}

# As a person does it, and by what it does: the option is what it was completed to, or nothing is written.
# python3 -B leaves nothing of its own.
check_tab() {
    printf '%s\n' "HISTFILE=; source $BASH_COMPLETION" "cordon --vers"$'\t'">$scratch/tab" exit |
        python3 -B -c 'import pty; pty.spawn(["bash", "--noprofile", "--norc", "-i"])' >/dev/null
    is "$(head -n 1 "$scratch/tab" 2>&1)" "cordon $VERSION" "TAB completes it in bash"
}
