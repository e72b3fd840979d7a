"""Finds the places of possible mistakes in allocator headers, and makes the changed text."""

import collections
import dataclasses
import hashlib
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from device_code import blanked, device_functions, partner

# The ids of mutants contain these names, so that --only finds a mutant again.
OPERATORS = ("order", "bit", "step", "bound", "exchange", "recheck")

# No mistakes are put into these headers, which define parameters and layouts, or inspect a heap.
NOT_DEVICE = re.compile(r"inspect|_check\.hpp$|parameters\.hpp$|layout\.hpp$")


@dataclasses.dataclass(frozen=True)
class Mutant:
    allocator: str
    path: str  # path from the root of the sources
    operator: str
    begin: int
    end: int
    text: str  # text that replaces the characters from begin to end
    function: str
    line: str  # line with the mistake, without its comment
    nth: int = 1  # number among mutants with the same line

    @property
    def name(self):
        """Returns the name. It has no line number, so that an edit elsewhere in the header does not change it."""
        line = hashlib.sha256(f"{self.line} {self.nth}".encode()).hexdigest()[:4]
        return f"{self.allocator}:{self.path.removeprefix('allocators/')}:{self.function}:{self.operator}-{line}"

    def ending_there(self, original):
        """Returns another mistake at the same place, which ends the process. `original` is the text at this place."""
        reached = "allocbench_reached{}->*"
        text = f"{original} {reached}" if self.operator == "bound" else f"({reached}({original}))"
        return dataclasses.replace(self, text=text)

    def applied_to(self, source):
        return source[:self.begin] + self.text + source[self.end:]


def first_argument(source, at):
    """Returns (begin, end) of the first argument of the call whose bracket opens at `at`."""
    position = at + 1
    end = partner(source, at)
    while position < end and source[position] != ",":
        if source[position] in "([{":
            position = partner(source, position)
        position += 1
    return at + 1, position


def object_before(source, at):
    """Returns the beginning of the expression whose member is named at `at`, after a dot."""
    position = at - 1
    while position > 0:
        before = source[position - 1]
        if before in ")]":
            position = partner(source, position - 1)
        elif before.isalnum() or before in "_.:":
            position -= 1
        elif before.isspace() and source[position] == ".":
            position = len(source[:position].rstrip())
        else:
            break
    return position


def weaker_orders(source):
    for found in re.finditer(r"\bsimt::(acq_rel|acquire|release)\b", source):
        yield found.start(), found.end(), "simt::relaxed"


def dropped_bits(source):
    for found in re.finditer(r"\.fetch_(or|and)(\()", source):
        begin, end = first_argument(source, found.start(2))
        yield begin, end, f"({source[begin:end]}) {'& 0' if found.group(1) == 'or' else '| ~0ull'}"


def dropped_steps(source):
    for found in re.finditer(r"\.fetch_(?:add|sub)(\()", source):
        begin, end = first_argument(source, found.start(1))
        yield begin, end, f"({source[begin:end]}) * 0"


def moved_bounds(source):
    moved = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
    for found in re.finditer(r"(?<= )(<=|>=|<|>)(?= )", source):
        yield found.start(), found.end(), moved[found.group()]


def won_exchanges(source):
    for found in re.finditer(r"\.compare_exchange(\()", source):
        begin, end = object_before(source, found.start() + 1), partner(source, found.start(1)) + 1
        yield begin, end, f"({source[begin:end]}, true)"


def skipped_checks(source):
    for found in re.finditer(r"\bif (\()", source):
        end = partner(source, found.start(1))
        if re.match(r"\)\s*(continue|break|return)\b", source[end:]):
            yield found.start(1), end + 1, f"(false && {source[found.start(1):end + 1]})"


FIND = dict(zip(OPERATORS, (weaker_orders, dropped_bits, dropped_steps, moved_bounds, won_exchanges, skipped_checks)))


def line_with(source, begin, end, text):
    first = source.rfind("\n", 0, begin) + 1
    return " ".join((source[first:begin] + text + source[end:].split("\n")[0]).split())


def mutants_of(allocator, root, path):
    """Returns all mistakes that can be made in one header."""
    if NOT_DEVICE.search(path):
        return []
    source = blanked(pathlib.Path(root, path).read_text(encoding="utf-8"))
    bodies = device_functions(source)
    found = []
    for operator, find in FIND.items():
        alike = collections.Counter()
        for begin, end, text in find(source):
            function = next((name for name, first, last in bodies if first < begin < last), None)
            if function is None:
                continue
            line = line_with(source, begin, end, text)
            alike[function, line] += 1
            found.append(Mutant(allocator, path, operator, begin, end, text, function, line, alike[function, line]))
    return found
