# SPDX-License-Identifier: LGPL-2.1-or-later
# What a machine sent (see inside) as TAP without numbers: one point for each of the tests' points, under the name
# "RELEASE MANAGER TEST: …", and one "not ok" for each thing that is wrong with a test as a whole or with the machine.
#
# Takes: release, managers (words), tests (.MANAGER: files, one name a line), why (why the machine ended, if not by itself),
# counts (a file for "RELEASE MANAGER passed failed skipped" lines).

BEGIN {
        n_managers = split(managers, manager_at, " ")
        for (m = 1; m <= n_managers; m++)
                while ((getline line < (tests "." manager_at[m])) > 0)
                        if (line != "")
                                expected[m, ++n_expected[m]] = line
        reset("")
}

function reset(name) {
        test = name
        in_errors = plan = points = failed = n_lines = numbered_wrong = 0
        plan = -1
        bail = ""
}

function keep(line) {
        lines[++n_lines] = line
}

function count(kind) {
        counted[manager, kind]++
        if (kind == "failed")
                failed++
}

function problem(text) {
        keep("not ok - " title ": " text)
        count("failed")
}

# A point of the test: "ok 3 - description # SKIP reason"
function point(line, is_ok, number, directive) {
        points++
        sub(/^(not )?ok/, "", line)
        if (match(line, /^ +[0-9]+/)) {
                number = substr(line, RSTART, RLENGTH) + 0
                if (number != points)
                        numbered_wrong = 1
                line = substr(line, RSTART + RLENGTH)
        }
        sub(/^ *-? */, "", line)
        directive = ""
        if (match(line, /# *[Ss][Kk][Ii][Pp]/))
                directive = "skip"
        else if (match(line, /# *[Tt][Oo][Dd][Oo]/))
                directive = "todo"
        if (line == "")
                line = "point " points
        keep((is_ok ? "ok" : "not ok") " - " title ": " line)
        if (directive == "skip" && is_ok)
                count("skipped")
        else if (is_ok || directive == "todo")
                count("passed")
        else
                count("failed")
}

function skip_all(line) {
        sub(/^1\.\.0 *#? */, "", line)
        sub(/^[Ss][Kk][Ii][Pp][A-Za-z]*:? */, "", line)
        keep("ok - " title " # SKIP " (line == "" ? "no reason given" : line))
        count("skipped")
}

# What the test printed beside its points is for reading only where something failed.
function finish(status, seconds, i) {
        if (status == 124 || status == 137)
                problem("it was ended after " seconds " s")
        else if (status == 126 || status == 127)
                problem("it could not be started")
        else if (bail != "")
                problem("it gave up: " bail)
        else if (plan < 0)
                problem("it printed no plan")
        else if (plan != points)
                problem("it planned " plan " points and printed " points)
        else if (numbered_wrong)
                problem("its points are not numbered in order")
        else if (status != 0 && failed == 0)
                problem("every point is ok, but it ended with status " status)
        for (i = 1; i <= n_lines; i++)
                if (failed > 0 || lines[i] ~ /^(not )?ok /)
                        print lines[i]
        finished[manager, test] = 1
        reset("")
}

{ sub(/\r$/, "") }
$0 == "" { next }

$1 == "@machine" { print "# " release ": " substr($0, 10); next }
$1 == "@done" { done = 1; next }

$1 == "@begin" {
        if (test != "")
                broken()
        reset($3)
        manager = $2
        title = release " " manager " " test
        begun[manager, test] = 1
        next
}

test == "" { next }
$1 == "@errors" { in_errors = 1; next }
$1 == "@end" { finish($2 + 0, $3 + 0); next }
in_errors { keep("# stderr: " $0); next }
/^1\.\.0 *(#.*)?$/ { plan = 0; skip_all($0); next }
/^1\.\.[0-9]+ *$/ {
        if (plan >= 0)
                numbered_wrong = 1
        plan = substr($0, 4) + 0
        next
}
/^ok( |$)/ { point($0, 1); next }
/^not ok( |$)/ { point($0, 0); next }
/^Bail out!/ { bail = substr($0, 10) == "" ? "no reason given" : substr($0, 11); next }
/^#/ { keep($0); next }
{ keep("# " $0) }

# The machine went away during a test.
function broken(i) {
        for (i = 1; i <= n_lines; i++)
                print lines[i]
}

END {
        if (test != "")
                broken()
        for (m = 1; m <= n_managers; m++) {
                manager = manager_at[m]
                for (i = 1; i <= n_expected[m]; i++)
                        if (!((manager, expected[m, i]) in finished)) {
                                print "not ok - " release " " manager " " expected[m, i] ": no result, " \
                                        (((manager, expected[m, i]) in begun) ? "it did not end" : "it was not begun")
                                count("failed")
                        }
                printf "%s %s %d %d %d\n", release, manager, counted[manager, "passed"], counted[manager, "failed"], \
                        counted[manager, "skipped"] >counts
        }
        if (!done) {
                print "not ok - " release ": the machine did not report to its end" (why == "" ? "" : ": " why)
                printf "%s machine 0 1 0\n", release >counts
        }
}
