"""Asks questions about the small guide (guide.py), for the tests of the advice."""

from plots.advice import engine, question


def asked(**words):
    return question.ask(**{"sizes": "16", "threads": "1k", "pool": "1GiB", **words})


def near(table_of_guide, **words):
    return engine.answer(table_of_guide, asked(**words).data())


def ids(ranked):
    return [each.entry["id"] for each in ranked]
