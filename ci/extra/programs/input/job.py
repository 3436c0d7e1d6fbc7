"""Parses, counts, packs and sorts the standard library; prints digests."""
import ast, bz2, collections, concurrent.futures, decimal, difflib, gc, glob, hashlib, io, itertools, json, lzma, os, pickle, random, re, weakref, zlib

folder = os.path.dirname(os.__file__)
names = sorted(glob.glob(folder + "/*.py"))[:60]
texts = [open(name, encoding="utf-8", errors="replace").read() for name in names]


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def parsed(text):
    kinds = collections.Counter(type(node).__name__ for node in ast.walk(ast.parse(text)))
    code = compile(text, "text", "exec")
    return sorted(kinds.items()), len(code.co_consts)


def packed(text):
    data = text.encode()
    for module in (zlib, bz2, lzma):
        assert module.decompress(module.compress(data)) == data
    return hashlib.md5(zlib.compress(data, 6)).hexdigest()


def words(text):
    return collections.Counter(re.findall(r"[A-Za-z_]+", text)).most_common(50)


def with_threads(function):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(function, texts))


class Node:
    def __init__(self, number):
        self.number, self.links, self.text = number, [], "n" * (number % 97)


def graph():
    """A graph with cycles, whose nodes are dropped in a random order: weak references say which are gone."""
    chance = random.Random(7)
    nodes = [Node(number) for number in range(20000)]
    for node in nodes:
        node.links = chance.sample(nodes, 3)
    dropped = [weakref.ref(node) for node in nodes[::2]]
    del nodes, node
    gc.collect()
    return sum(reference() is None for reference in dropped)


def resized():
    """Lists, byte arrays and files in memory that grow and shrink."""
    chance, file, data, items = random.Random(3), io.BytesIO(), bytearray(), []
    for step in range(30000):
        data.extend(bytes(chance.randrange(300)))
        items.extend(range(chance.randrange(20)))
        file.write(b"x" * chance.randrange(100))
        if step % 50 == 49:
            del data[: chance.randrange(len(data))]
            del items[: chance.randrange(len(items))]
    return len(data), len(items), hashlib.sha256(file.getvalue()).hexdigest()[:16]


print("parsed", digest([parsed(text) for text in texts]))
print("parsed by threads", digest(with_threads(parsed)))
print("packed by threads", digest(with_threads(packed)))
print("words", digest([words(text) for text in texts]))
print("pickled", digest([len(pickle.dumps(pickle.loads(pickle.dumps(words(text))))) for text in texts]))
print("differences", digest(list(difflib.unified_diff(texts[0].splitlines(), texts[1].splitlines()))))
print("dropped", graph())
print("resized", resized())
decimal.getcontext().prec = 3000
print("root", hashlib.sha256(str(decimal.Decimal(2).sqrt()).encode()).hexdigest()[:16])
print("power", hashlib.sha256(hex(7 ** 60000).encode()).hexdigest()[:16])
print("orders", sum(1 for _ in itertools.permutations(range(8))))
print("left", gc.collect() >= 0)
