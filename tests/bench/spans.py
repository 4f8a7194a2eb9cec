# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the parts of a run are, and how each is found in the traces of launcher, gate, guard and manager.

A moment is a call that is known by what it is about: the first of its kind, or the first after another moment. A span lies
between two moments; those of the launcher follow each other without a gap, so they add up to the run. What a trace does
not have (another release of systemd makes its processes otherwise) is left out, and its spans with it."""
import re
from collections import namedtuple

from ground import Unavailable

Call = namedtuple("Call", "at end text")
LINE = re.compile(r"^(\d+\.\d+) (.*?)(?: <(\d+\.\d+)>)?$")

# A table of what is seen: a lane each, in the order of the picture.
LANES = {"alone": "launcher, only it traced", "launcher": "launcher", "gate": "gate, then program", "guard": "guard", "manager": "manager",
         "kernel": "kernel, for them"}
# what, remove: for the page, what it is and what it would take to be without it
Span = namedtuple("Span", "key lane name what remove")
SPANS = (
    Span("loader", "launcher", "loader and libraries", "the kernel executes `cordon`, the loader maps and relocates what it is "
         "linked with (GLib, libsystemd, cJSON, and what those bring along)",
         "a static program, or one that loads libsystemd later: most of the libraries are there for it alone (its newer releases load "
         "theirs when they need them)"),
    Span("caller", "launcher", "options, reading the caller", "options become a spec; limits, signals, namespaces, mounts and "
         "groups of the caller are read, because the program is to have the same",
         "nothing: a program started by a manager would not be in the caller's world without it"),
    Span("find", "launcher", "finding the manager", "the keeper of the private manager is asked whether it is ready, then the "
         "guard for a connection", "a manager that never goes needs no keeper: its part is not there with `--system` and `--user`"),
    Span("handshake", "launcher", "handshake", "until the guard has answered the first bytes of D-Bus. What needs no answer is "
         "done meanwhile: the request for the gate is written, in a scope the gate is executed. A guard that has not spoken "
         "to the manager for a tenth of a second begins to connect to it before it answers, and goes on with that afterwards",
         "a connection that is there: runs that follow each other sooner, and the jobs of `cordon batch`, find one"),
    Span("ask", "launcher", "composing, asking", "properties of slice and unit are composed and sent: Version and "
         "StartTransientUnit, without waiting in between", "StartTransientUnit is the least; who knows the Version need not ask for it, but nobody waits for that"),
    Span("wait", "launcher", "StartTransientUnit", "the manager makes the units, their cgroups and, for a service, the process; "
         "the gate says hello. The lanes below have what happens meanwhile",
         "see there: this is the manager's and the kernel's time, and the floor of any run that systemd starts"),
    Span("readback", "launcher", "read-back", "the files of the program's cgroup and of all above it: is each limit in force? "
         "Then \"go\"", "trusting the manager; but a limit that is not in force is then found out by the program, if at all"),
    Span("program", "launcher", "go, exec, program", "from \"go\" to the end of the program: the gate's last calls, the "
         "exec, the loader of `true`, and `true`", "nothing of ours is in it but the gate's way to its exec"),
    Span("seen", "launcher", "end seen", "until a launcher that sleeps knows that the program is dead: the kernel tells "
         "it over a pidfd, or by a signal where the program is its child", "nothing: it is the kernel's way to wake a process"),
    Span("count", "launcher", "who outlived it", "is anybody left in the cgroup? was anybody killed for memory? In a scope the "
         "counters of the slice are read here as well, while the manager's word is awaited",
         "not being told what outlived the program"),
    Span("word", "launcher", "the manager's word", "until the manager has said how the unit ended (a service: result and status; "
         "a scope: the answer to a ping, which comes after all that it had to say)",
         "a record without the manager's word; a kill of the manager's own would then look like anybody's"),
    Span("record", "launcher", "counters, record", "the counters of the slice are read, and the guard is told what is left to clear",
         "not counting; it is a dozen of small files"),
    Span("free", "launcher", "freeing", "what was allocated is freed, connections are closed", "leaving without it; leaks could then "
         "not be looked for in what is shipped"),
    Span("exit", "launcher", "exit", "the kernel takes the process down, and its memory", "fewer libraries, see there"),
    Span("own", "gate", "the manager's child", "the manager's own child between fork and the exec of our gate: it goes into its "
         "cgroups, sets limits, signals and capabilities", "a scope has none of it: its gate is executed by the launcher"),
    Span("hello", "gate", "gate", "our static gate: executes, reads its request, takes the caller's world on, says hello and waits",
         "a manager that could tell its caller \"made, not yet executed\" would need no gate"),
    Span("going", "gate", "go", "from \"go\" to the exec of the program", "nothing: it is one call"),
    Span("true", "gate", "program", "the program itself, its loader included", "it is what was asked for"),
    Span("relay", "guard", "connecting", "the guard is asked for a way to the manager, begins to connect where it has none, and answers the "
         "launcher's handshake", "see handshake"),
    Span("forward", "guard", "passing on", "StartTransientUnit comes in from the launcher and goes out to the manager, when the guard is connected to it",
         "see handshake; a connection of the launcher's own would be a new one for each run (below: what a connection costs)"),
    Span("tell", "guard", "told: clear", "from the launcher's word to the last answer of the manager to StopUnit and "
         "ResetFailedUnit. Nobody waits for it", "nothing waits for it"),
    Span("accept", "manager", "a new connection", "it accepts, registers its objects and shakes hands", "see handshake"),
    Span("units", "manager", "units, job", "it reads the message, writes two unit files and makes the units and their job; of "
         "each it tells every connection", "without a slice of its own one unit less (below: what a slice costs)"),
    Span("cgroups", "manager", "cgroups", "it makes the cgroups of slice and unit in each hierarchy and writes their limits",
         "version 2 has one hierarchy instead of one for each controller"),
    Span("fork", "manager", "fork, into the group", "it forks and puts the process into its cgroups (a scope: only that)",
         "see the kernel's part of it"),
    Span("news", "manager", "telling", "it tells every connection that unit and job are done", "fewer who listen: that is why "
         "launchers share the guard's connection"),
    Span("end", "manager", "the end", "it reaps the process (a scope: learns that the cgroup is empty), removes the unit's cgroups "
         "and says so", "see the manager's word"),
    Span("clear", "manager", "clearing", "it stops slice and unit and forgets them, after the launcher's exit or on the way there",
         "nothing waits for it, but the next run does, if it comes at once"),
    Span("forking", "kernel", "fork", "clone of the manager (in a scope: of the launcher)", "nothing of ours"),
    Span("move", "kernel", "into its cgroup", "the manager's write of a process into `cgroup.procs`, all hierarchies together: "
         "the kernel takes a lock that keeps forks and exits out everywhere, and waits for a grace period of RCU where there was "
         "none lately: hence milliseconds for the first, and next to nothing for those after it",
         "mounting cgroups with `favordynmods` (the administrator's choice, Linux 6.0); or a manager that forks into the group "
         "(CLONE_INTO_CGROUP, version 2 only), as newer ones do for a service"),
    Span("move2", "kernel", "into its cgroup, again", "the same by the manager's child: both do it, so that neither waits for the other",
         "the same"),
    Span("exec", "kernel", "exec of the gate", "execve of our gate", "no gate"),
    Span("exec2", "kernel", "exec of the program", "execve of the program", "nothing: it is what was asked for"),
    Span("dying", "kernel", "exit", "from the program's last call to the end of its process", "nothing"),
)

EXEC_GATE, EXEC_PROGRAM = r'execve\("[^"]*/cordon-gate"', r'execve\("/bin/true"'
POLL, BLOCKED = r"epoll_p?wait\(", r"epoll_p?wait\(.*, -1[,)]"
METHOD, ANSWER = r'iov_base="l\\1', r'iov_base="l\\[23]'
FORK = r"(?:clone3?|vfork)\("
MOVED = re.compile(r'write\(\d+, "\d+\\n", \d+\) += \d')


def read_calls(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        found = (LINE.match(line.rstrip("\n")) for line in file)
        return [Call(float(m[1]), float(m[1]) + float(m[3] or 0), m[2]) for m in found if m]


def calls_of(calls, pattern, after=0.0):
    return [call for call in calls if call.at >= after and re.search(pattern, call.text)]


def first(calls, pattern, after=0.0, number=0):
    """None where there is none: then what needs it is not told, either."""
    found = calls_of(calls, pattern, after)
    return found[number] if len(found) > number else None


def need(calls, pattern, after=0.0, number=0):
    """One that every run has."""
    call = first(calls, pattern, after, number)
    if not call:
        raise Unavailable(f"the trace has no {pattern}: tests/bench/spans.py knows a run that does other things")
    return call


def woken(calls, when):
    """The wait of the loop that ends after it."""
    return next((call for call in calls if call.end >= when and re.match(POLL, call.text)), None)


def moves(calls, begin, end):
    """The writes of a process into a cgroup."""
    found, is_procs = [], False
    for call in calls:
        if "openat(" in call.text:
            is_procs = "cgroup.procs" in call.text
        elif is_procs and begin <= call.at < end and MOVED.match(call.text):
            found.append(call)
    return found


def last(waits, before):
    found = [call for call in waits if call.at < before]
    if not found:
        raise Unavailable("the trace has no wait where one is: tests/bench/spans.py knows a run that does other things")
    return found[-1]


def launcher_moments(calls):
    """In their order; a moment is where one span ends and the next begins. Every run has all of them."""
    relay = need(calls, r'sendmsg\(.*"relay"')
    shaken = need(calls, r"recvmsg\(.*OK ", relay.end)
    asked = need(calls, rf"sendmsg\(.*{METHOD}", shaken.at, 1)
    check = need(calls, r'openat\(.*"/proc/self/fdinfo/', asked.end)
    go = need(calls, r'sendto\(\d+, "G"', check.at)
    clear = need(calls, r'sendto\(\d+, "clear ', go.at)
    # Where everything was there already, it looked and did not wait.
    word = last([call for call in calls_of(calls, BLOCKED, go.end) if call.at < clear.at] or
                calls_of(calls, POLL, go.end), clear.at)
    return {"begin": calls[0].at, "main": need(calls, r'openat\(.*"/dev/null"').at, "find": need(calls, r"socket\(").at,
            "relay": relay.end, "shaken": shaken.at, "asked": asked.end, "check": check.at, "go": go.end,
            "word": word.end, "told": clear.end, "leave": need(calls, r"exit_group\(", clear.at).at, "exit": calls[-1].at}


def of_launcher(calls, moment, dead=None):
    """dead: when the program ended; None: that was not traced, so its part goes on until the launcher sees its end."""
    looking = need(calls, r"openat\(", moment["go"]).at
    seen = last(calls_of(calls, POLL, moment["go"]), looking).end
    counted = need(calls, POLL, seen + 1e-9)
    # Where the manager's word came first, nothing is left to wait for.
    counted_at = min(counted.at, moment["told"])
    word = max(moment["word"], counted_at)
    edges = [("loader", moment["begin"], moment["main"]), ("caller", moment["main"], moment["find"]),
             ("find", moment["find"], moment["relay"]), ("handshake", moment["relay"], moment["shaken"]),
             ("ask", moment["shaken"], moment["asked"]), ("wait", moment["asked"], moment["check"]),
             ("readback", moment["check"], moment["go"]), ("program", moment["go"], dead or seen),
             ("seen", dead or seen, seen), ("count", seen, counted_at), ("word", counted_at, word),
             ("record", word, moment["told"]), ("free", moment["told"], moment["leave"]),
             ("exit", moment["leave"], moment["exit"])]
    return {key: (begin, end) for key, begin, end in edges if key != "seen" or dead}


def of_gate(calls, is_own):
    gate, program = need(calls, EXEC_GATE), need(calls, EXEC_PROGRAM)
    hello = need(calls, r'sendmsg\(.*iov_base="H')
    go = need(calls, r'recv(?:from|msg)\(.*"G"', hello.at)
    dead = need(calls, r"exit_group\(", program.at)
    found = {"hello": (gate.at, hello.end), "going": (go.end, program.at), "true": (program.end, dead.at),
             "exec": (gate.at, gate.end), "exec2": (program.at, program.end), "dying": (dead.at, calls[-1].at)}
    if not is_own:
        found["own"] = (calls[0].at, gate.at)
    return found


def of_guard(calls, moment):
    relay = first(calls, r'recvmsg\(.*"relay"', moment["find"])
    shaken = first(calls, r"sendmsg\(.*OK ", relay.at if relay else 0)
    arrived = first(calls, rf"recvmsg\(.*{METHOD}", moment["shaken"], 1)
    passed = first(calls, rf"sendmsg\(.*{METHOD}", moment["shaken"], 1)
    clear = first(calls, r'recvmsg\(.*"clear ', moment["go"])
    done = first(calls, rf"recvmsg\(.*{ANSWER}", clear.at, 1) if clear else None
    found = {"relay": relay and shaken and (relay.at, shaken.end),
             "forward": arrived and passed and (arrived.at, passed.end),
             "tell": clear and done and (clear.at, done.end)}
    return {key: edges for key, edges in found.items() if edges}


def birth_in_manager(calls, moment):
    """From the message to the word that it is done."""
    found = {}
    got = first(calls, rf"recvmsg\(.*{METHOD}", moment["shaken"], 1)
    made = first(calls, r'mkdir\("/sys/fs/cgroup', got.at if got else moment["exit"])
    if not got or not made:
        return found
    fork = first(calls, FORK, made.at)
    fork = fork if fork and fork.at < moment["check"] else None
    moved = moves(calls, made.at, moment["check"])
    found["units"] = (got.at, made.at)
    if fork:
        found["forking"] = (fork.at, fork.end)
    if moved:
        found["move"] = (moved[0].at, moved[0].at + sum(call.end - call.at for call in moved))
    if fork or moved:
        begin, end = (fork or moved[0]).at, (moved[-1] if moved else fork).end
        told = first(calls, BLOCKED, end)
        found |= {"cgroups": (made.at, begin), "fork": (begin, end), "news": (end, told.at if told else end)}
    return found


def of_manager(calls, moment, dead, cleared):
    found = birth_in_manager(calls, moment)
    accept = first(calls, r"accept4?\(", moment["find"])
    shaken = first(calls, r"sendmsg\(.*OK ", accept.at) if accept else None
    if shaken and shaken.at < moment["check"]:
        found["accept"] = (accept.at, shaken.end)
    reaped = woken(calls, dead)
    if reaped and reaped.end < moment["word"]:
        found["end"] = (reaped.end, moment["word"])
    stop = first(calls, rf"recvmsg\(.*{METHOD}", moment["told"] - 1e-9)
    if stop and cleared:
        found["clear"] = (stop.at, cleared)
    return found


def since(begin, found):
    return {key: tuple((edge - begin) * 1000 for edge in edges) for key, edges in found.items()}


def spans_alone(calls):
    """Of a launcher, while nobody else was traced."""
    moment = launcher_moments(calls)
    return since(moment["begin"], of_launcher(calls, moment))


def spans_of(trace):
    """trace: calls of launcher, gate, guard, manager, and whether the gate is the launcher's own. Each span's begin and end in
    milliseconds from the exec of the launcher."""
    moment = launcher_moments(trace["launcher"])
    gate = of_gate(trace["gate"], trace["is_own"])
    dead = gate["dying"][0]
    guard = of_guard(trace["guard"], moment)
    found = {**of_launcher(trace["launcher"], moment, dead), **gate, **guard,
             **of_manager(trace["manager"], moment, dead, guard.get("tell", (0, 0))[1])}
    fork = first(trace["launcher"], FORK)
    if trace["is_own"] and fork:
        found["forking"] = (fork.at, fork.end)
    again = moves(trace["gate"], 0, moment["check"])
    if again:
        found["move2"] = (again[0].at, again[0].at + sum(call.end - call.at for call in again))
    return since(moment["begin"], found)
