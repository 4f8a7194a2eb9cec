# SPDX-License-Identifier: LGPL-2.1-or-later
"""The schemas as C: a constant text for each file, so that tests have those of their build wherever they run."""
import json
import os
import sys

for path in sys.argv[1:]:
    name = os.path.basename(path).split(".")[0]
    print(f"extern const char schema_{name}_text[];")
    print(f"const char schema_{name}_text[] =")
    with open(path, encoding="ascii") as file:
        print("\n".join("        " + json.dumps(line) for line in file), end=";\n")
