"""Tests a document quickly against a JSON schema.

jsonschema is slow for a large document. So jsonschema only explains what is wrong with a document that this test
rejects.
"""

from __future__ import annotations

import re
from typing import Callable

_TYPES = {"object": (dict,), "array": (list,), "string": (str,), "number": (int, float), "integer": (int,), "boolean": (bool,), "null": (type(None),)}
_TELL_NOTHING = {"$schema", "description", "definitions"}
Test = Callable[[object], bool]


def test_of(schema: dict) -> Test:
    """Returns a test that accepts nothing that the schema (draft 7) rejects. An unknown keyword rejects every value at
    its place.
    """
    def of(node: dict) -> Test:
        if "$ref" in node:
            return of(schema["definitions"][node["$ref"].removeprefix("#/definitions/")])
        tests = [keyword_test(keyword, wanted, node) for keyword, wanted in node.items() if keyword not in _TELL_NOTHING]
        return tests[0] if len(tests) == 1 else every(tests)

    # Plain loops are faster than all() with a generator.
    def every(tests: list[Test]) -> Test:
        def test_value(value) -> bool:
            for test in tests:
                if not test(value):
                    return False
            return True
        return test_value

    def properties(by_name: list[tuple[str, Test]]) -> Test:
        def test_value(value) -> bool:
            if type(value) is dict:
                for name, test in by_name:
                    if name in value and not test(value[name]):
                        return False
            return True
        return test_value

    def keyword_test(keyword: str, wanted, node: dict) -> Test:
        if keyword == "type":
            types = tuple(each for name in ([wanted] if isinstance(wanted, str) else wanted) for each in _TYPES[name])
            return lambda value: type(value) in types
        if keyword == "enum":
            return lambda value: type(value) is str and value in wanted
        if keyword == "anyOf":
            tests = [of(each) for each in wanted]
            return lambda value: any(test(value) for test in tests)
        if keyword == "required":
            return lambda value: type(value) is not dict or all(name in value for name in wanted)
        if keyword == "properties":
            return properties([(name, of(each)) for name, each in wanted.items()])
        if keyword == "additionalProperties":
            test, known = of(wanted), node.get("properties", {})
            return lambda value: type(value) is not dict or all(test(each) for name, each in value.items() if name not in known)
        if keyword == "items":
            test = of(wanted)
            return lambda value: type(value) is not list or all(map(test, value))
        if keyword == "pattern":
            pattern = re.compile(wanted)
            return lambda value: type(value) is not str or pattern.search(value) is not None
        bounds = {"minItems": lambda value: type(value) is not list or len(value) >= wanted, "maxItems": lambda value: type(value) is not list or len(value) <= wanted,
                  "minimum": lambda value: type(value) not in (int, float) or value >= wanted, "maximum": lambda value: type(value) not in (int, float) or value <= wanted,
                  "uniqueItems": lambda value: type(value) is not list or len(set(map(repr, value))) == len(value),
                  "exclusiveMinimum": lambda value: type(value) not in (int, float) or value > wanted}
        return bounds.get(keyword, lambda value: False)

    return of(schema)
