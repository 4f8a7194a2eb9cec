# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the schemas let pass and what not, by corpus.json: a value, what is changed in it, and whether it is valid then.
Two validators are asked, ours and python3-jsonschema; they must agree on all of it, and on every value of the corpus
with each of its parts left out or made another. Of jobs the program is asked, too: what a schema does not let pass it
refuses, and what it refuses all the same it refuses for what no schema can know.

    test-agreement.py SCHEMA-CHECK DIRECTORY-OF-SCHEMAS CORDON
"""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lint"))

from source import Points  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

OTHERS = (None, True, False, 0, -1, 1.5, 2, "", "x", "exited", "refused", [], [1], {}, {"x": 1})


# What the program looks up, or what only two keys together are.
BEYOND = re.compile(r"No such file|there is no (user|group)|does not resolve| needs |there is none without|"
                    r"is another job's|not a workspace|given twice|not root")


def changed(base, case):
    """The base with what the case sets ("limits.memory.by": a value) and drops."""
    value = copy.deepcopy(base)
    for path, new in case.get("set", {}).items():
        *outer, last = path.split(".")
        inside = value
        for name in outer:
            inside = inside.setdefault(name, {})
        inside[last] = new
    for path in case.get("drop", []):
        *outer, last = path.split(".")
        inside = value
        for name in outer:
            inside = inside[name]
        del inside[last]
    return value


def mutants(value):
    """The value with each part once left out and once made each of the others."""
    for key in value if isinstance(value, dict) else range(len(value)):
        rest = copy.copy(value)
        del rest[key]
        yield rest
        for other in OTHERS:
            made = copy.copy(value)
            made[key] = other
            yield made
        if isinstance(value[key], (dict, list)):
            for inner in mutants(value[key]):
                made = copy.copy(value)
                made[key] = inner
                yield made


class Ours:
    def __init__(self, program, name, pointer):
        self.command = [program, name, pointer]

    def verdicts(self, values):
        text = "".join(json.dumps(value) + "\n" for value in values)
        done = subprocess.run(self.command, input=text, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        if done.returncode > 1 or len(lines) != len(values):
            sys.exit(f"Bail out! {self.command} ended with {done.returncode}: {done.stderr}")
        return lines


def theirs(schema, pointer):
    """Their validator of what the pointer points to; references are of the whole schema."""
    if pointer != "#":
        schema = {"$schema": schema["$schema"], "$ref": pointer, "$defs": {
            **schema["$defs"], "whole": {key: value for key, value in schema.items()
                                         if key not in ("$id", "$schema", "$defs")}}}
        schema = json.loads(json.dumps(schema).replace('"$ref": "#"', '"$ref": "#/$defs/whole"'))
    return jsonschema.Draft202012Validator(schema)


def check(points, program, directory, suite):
    name, pointer = suite["schema"], suite.get("pointer", "#")
    with open(os.path.join(directory, name + ".schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    values = [changed(suite["bases"][case["base"]], case) for case in suite["cases"]]
    ours = Ours(program, name, pointer)
    for case, value, verdict in zip(suite["cases"], values, ours.verdicts(values)):
        is_right = (verdict == "ok") == case["valid"]
        points.print(is_right, f"{name} {pointer}: {case['why']} is {'' if case['valid'] else 'in'}valid",
                     [] if is_right else [verdict])
    if not jsonschema:
        points.skip(f"{name} {pointer}: the validators agree", "python3-jsonschema is not installed")
        return
    if pointer == "#":
        problems = []
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            problems = [error.message]
        points.print(not problems, f"{name} is a schema of draft 2020-12", problems)
    every = values + [mutant for base in suite["bases"].values() for mutant in mutants(base)]
    validator, problems, valid = theirs(schema, pointer), [], 0
    for value, verdict in zip(every, ours.verdicts(every)):
        is_valid = validator.is_valid(value)
        valid += is_valid
        if is_valid != (verdict == "ok"):
            problems.append(f"{json.dumps(value)}: ours says {verdict}, theirs {is_valid}")
    points.print(not problems, f"{name} {pointer}: the validators agree on {len(every)} values", problems[:10])
    points.print(0 < valid < len(every), f"{name} {pointer}: some of them are valid and some are not")


def ask_program(points, cordon, suite, every, verdicts):
    """Of the jobs of a batch: those that are refused have records, by their index."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "jobs")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(value) + "\n" for value in every)
        done = subprocess.run([cordon, "batch", "--check", "--json", path], capture_output=True, text=True, check=False)
    refused = {record["index"]: record["message"] for record in map(json.loads, done.stdout.splitlines())}
    problems = []
    for index, (value, verdict) in enumerate(zip(every, verdicts)):
        if verdict != "ok" and index not in refused:
            problems.append(f"taken, and {verdict}: {json.dumps(value)}"[:400])
        if verdict == "ok" and index in refused and not BEYOND.search(refused[index]):
            problems.append(f"valid, and {refused[index]}: {json.dumps(value)}"[:400])
    points.print(not problems and refused, f"the program takes what the schema of {suite['schema']} lets pass", problems[:20])


def main():
    program, directory, cordon = sys.argv[1:]
    points = Points()
    with open(os.path.join(HERE, "corpus.json"), encoding="utf-8") as file:
        for suite in json.load(file):
            check(points, program, directory, suite)
            if suite.get("pointer") == "#/$defs/batch":
                every = [mutant for base in suite["bases"].values() for mutant in mutants(base)]
                ask_program(points, cordon, suite, every, Ours(program, suite["schema"], suite["pointer"]).verdicts(every))
    sys.exit(points.end())


main()
