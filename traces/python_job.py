"""The program of python-a and python-b: batches of orders as JSON, priced by formulas that are parsed and compiled.

Run as `python3 -S -s python_job.py SEED BATCHES ORDERS`: another seed is another input of the same shape.
"""

import json
import sys

SYNTAX_TREE = 0x400  # ast.PyCF_ONLY_AST, without importing ast
NAMES = ("amber", "birch", "cedar", "delta", "ember", "fjord")
ITEMS = [name + tail for name in NAMES for tail in ("-1", "-22", "-333", "-4444")]


class Generator:
    """A linear congruential generator: the random module would be half of the trace."""

    def __init__(self, seed):
        self.state = seed

    def between(self, low, high):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return low + (self.state >> 33) % (high - low + 1)

    def choice(self, items):
        return items[self.between(0, len(items) - 1)]


def order(rng, number):
    lines = [
        {"item": rng.choice(ITEMS), "count": rng.between(1, 90), "price": rng.between(100, 9900) / 100}
        for _ in range(rng.between(1, 5))
    ]
    note = " ".join(rng.choice(ITEMS) for _ in range(rng.between(0, 8)))
    return {"number": number, "lines": lines, "note": note}


def formula(rng):
    parts = [f"(count * {rng.between(1, 9)} + price / {rng.between(1, 9)})" for _ in range(rng.between(1, 4))]
    return compile(" - ".join(parts), "<formula>", "eval", SYNTAX_TREE)


def price(lines, codes):
    return sum(eval(codes[n % len(codes)], {"__builtins__": {}}, line) for n, line in enumerate(lines))


def main(seed, batches, orders):
    rng = Generator(seed)
    index = {item: {} for item in ITEMS}
    for batch in range(batches):
        first = batch * orders
        text = json.dumps([order(rng, number) for number in range(first, first + orders)])
        trees = [formula(rng) for _ in range(12)]
        codes = [compile(tree, "<formula>", "eval") for tree in trees]
        for entry in json.loads(text):
            entry["total"] = price(entry["lines"], codes)
            for line in entry["lines"]:
                index[line["item"]][entry["number"]] = line["count"]
        # Two batches stay; what is older goes.
        for item, counts in index.items():
            index[item] = {number: count for number, count in counts.items() if number >= first - orders}
    json.dumps({item: len(counts) for item, counts in index.items()}, sort_keys=True)


main(*(int(argument) for argument in sys.argv[1:4]))
