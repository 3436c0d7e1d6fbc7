"""Eight clients of a memcached: python3 memcached.py PORT [ready]"""

import hashlib
import socket
import sys
import threading

PORT = int(sys.argv[1])


class Client:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", PORT))
        self.file = self.socket.makefile("rwb", buffering=1 << 16)

    def ask(self, line, data=None):
        self.file.write(line.encode() + b"\r\n" + (b"" if data is None else data + b"\r\n"))
        self.file.flush()
        return self.file.readline().rstrip(b"\r\n")

    def store(self, verb, key, data):
        return self.ask(f"{verb} {key} 0 0 {len(data)}", data)

    def get(self, key):
        line = self.ask(f"get {key}")
        if line == b"END":
            return None
        data = self.file.read(int(line.split()[3]) + 2)[:-2]
        assert self.file.readline() == b"END\r\n"
        return data


if sys.argv[2:] == ["ready"]:
    sys.exit(not Client().ask("version").startswith(b"VERSION"))

digests = [None] * 8


def work(me):
    client = Client()
    digest = hashlib.sha256()
    for i in range(1500):
        key = f"{me}:{i * 31 % 700}"
        data = bytes([97 + (i + me) % 26]) * (i * 7919 % 3000)
        if i % 400 == 7:
            data *= 233
        verb = ["set", "set", "append", "prepend", "add", "replace"][i % 6]
        client_says = client.store(verb, key, data[:700000])
        digest.update(client_says)
        if i % 5 == 0:
            digest.update(client.ask(f"delete {me}:{i * 17 % 700}"))
        if i % 3 == 0:
            digest.update(client.get(f"{me}:{i * 13 % 700}") or b"none")
        client.store("add", "all", b"0")
        client.ask("incr all 1")
    for i in range(700):
        digest.update(client.get(f"{me}:{i}") or b"none")
    digests[me] = digest.hexdigest()


threads = [threading.Thread(target=work, args=(me,)) for me in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("\n".join(digests))
client = Client()
print("all", client.get("all").decode())
print(client.ask("flush_all").decode(), client.get("0:1"))
# The connections that went are closed by other threads.
print(client.ask("cache_memlimit 64").decode())
client.file.write(b"shutdown graceful\r\n")
client.file.flush()
