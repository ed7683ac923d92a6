#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check JSON Lines against the schema: schema.py SCHEMA FILE

Only the keywords that the schema has are known here; it fails for any other. Prints what it has checked.
"""
import json
import re
import sys

TYPES = {"object": dict, "string": str, "integer": int, "null": type(None)}
NOTES = {"$schema", "$comment", "title", "description", "definitions"}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and not isinstance(value, bool)


def holds(root, value, keyword, rule):
    """Does a value meet a keyword of a schema?"""
    is_object, is_integer = isinstance(value, dict), is_type(value, "integer")
    if keyword == "type":
        return any(is_type(value, name) for name in ([rule] if isinstance(rule, str) else rule))
    if keyword == "$ref":
        return meets(root, value, root["definitions"][rule.removeprefix("#/definitions/")])
    if keyword == "required":
        return not is_object or all(key in value for key in rule)
    if keyword == "properties":
        return not is_object or all(meets(root, value[key], rule[key]) for key in rule if key in value)
    if keyword == "additionalProperties":
        return not is_object or all(meets(root, item, rule) for item in value.values())
    if keyword == "minProperties":
        return not is_object or len(value) >= rule
    if keyword in ("minimum", "maximum"):
        return not is_integer or (value >= rule if keyword == "minimum" else value <= rule)
    if keyword == "pattern":
        return not isinstance(value, str) or re.search(rule, value) is not None
    if keyword == "not":
        return not meets(root, value, rule)
    if keyword == "anyOf":
        return any(meets(root, value, other) for other in rule)
    if keyword == "oneOf":
        return sum(meets(root, value, other) for other in rule) == 1
    if keyword in NOTES:
        return True
    sys.exit(f"schema.py: the keyword {keyword} is not known here")


def meets(root, value, schema):
    return all(holds(root, value, keyword, rule) for keyword, rule in schema.items())


# Lines that the schema must refuse, and some that it must accept
BAD = ['[]', '{"cpu":0,"ts":5,"lost":1}', '{"cpu":0,"ts":"5"}', '{"cpu":0,"ts":"5","event":"x"}',
       '{"cpu":0,"ts":"5","event":"x","fields":{},"lost":1}', '{"cpu":0,"ts":"05","lost":1}',
       '{"cpu":-1,"ts":"5","lost":1}', '{"cpu":0,"ts":"5","lost":0}',
       '{"cpu":0,"ts":"5","event":"x","fields":{"a":1.5}}', '{"cpu":0,"ts":"5","event":"x","fields":{},"symbols":{}}',
       '{"cpu":0,"ts":"5","event":"x","fields":{},"args":{"a":1}}', '{"cpu":0,"ts":"5","event":null,"id":65536,"size":8}']
GOOD = ['{"cpu":0,"ts":"5","lost":null}', '{"cpu":0,"ts":"5","lost":"9007199254740993"}',
        '{"cpu":0,"ts":"5","event":null,"id":7,"size":8}', '{"cpu":0,"ts":"5","event":"x","fields":{},"new":1}']


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        schema = json.load(file)
    failed = [line for line in BAD if meets(schema, json.loads(line), schema)]
    failed += [line for line in GOOD if not meets(schema, json.loads(line), schema)]
    lines = 0
    with open(sys.argv[2], encoding="ascii") as file:
        for line in file:
            lines += 1
            if len(failed) < 10 and not meets(schema, json.loads(line), schema):
                failed.append(line)
    for line in failed:
        print("schema.py: this does not fit: " + line, file=sys.stderr)
    print(f"{lines} lines fit the schema" if not failed else "not all lines fit the schema")
    sys.exit(bool(failed))


main()
