# SPDX-License-Identifier: LGPL-2.1-or-later
# TAP for the shell tests of this folder, and the words every one of them needs.
# The built program is $CORDON; $scratch is a directory that goes when the test ends.

set -u
export LC_ALL=C
unset CORDON_MANAGER XDG_RUNTIME_DIR
: "${CORDON:?the path of the built program}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

points=0
failures=0

# ok STATUS NAME: a point that passes where STATUS is 0. What is on stdin explains a failure.
ok() {
    points=$((points + 1))
    if [[ $1 == 0 ]]; then
        printf 'ok %d - %s\n' "$points" "$2"
    else
        failures=$((failures + 1))
        printf 'not ok %d - %s\n' "$points" "$2"
    fi
}

explain() {
    printf '%s\n' "$@" | sed 's/^/#   /'
}

# is GOT EXPECTED NAME
is() {
    if [[ $1 == "$2" ]]; then
        ok 0 "$3"
    else
        ok 1 "$3"
        explain "got:" "$1" "expected:" "$2"
    fi
}

# like GOT PATTERN NAME: a regular expression.
like() {
    if [[ $1 =~ $2 ]]; then
        ok 0 "$3"
    else
        ok 1 "$3"
        explain "got:" "$1" "expected something like:" "$2"
    fi
}

# skip COUNT REASON
skip() {
    local i
    for ((i = 0; i < $1; i++)); do
        points=$((points + 1))
        printf 'ok %d # SKIP %s\n' "$points" "$2"
    done
}

done_testing() {
    printf '1..%d\n' "$points"
    exit "$((failures > 0))"
}

# call ARGS…: runs the program and fills status, out and err.
# shellcheck disable=SC2034
call() {
    status=0
    "$CORDON" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    out=$(<"$scratch/out")
    err=$(<"$scratch/err")
}

# schema_faults RECORDS: what is wrong with each line of a file, by the schema of records; nothing where all are good.
schema_faults() {
    "${CORDON_SCHEMA_CHECK:?the program schema-check}" --closed record <"$1" | grep -vx ok
}

verbs() {
    "$CORDON" --list-verbs | cut -f1
}

# options VERB: a spelling a line.
options() {
    "$CORDON" --list-options "$1" | cut -f1 | grep '^-'
}

lines_of() {
    wc -l <"$1" | tr -d ' '
}
