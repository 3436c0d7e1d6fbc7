"""Asks the server on a port for 4,000 answers, by 16 clients at once; prints how many of each status, and the digest of all bodies."""
import collections, gzip, hashlib, http.client, sys, threading

port = int(sys.argv[1])
paths = [f"{place}/{size}.txt" for place in ("", "/proxy", "/changed") for size in (10, 200, 3000, 40000, 500000)] + ["/nothing"]
answers, lock = collections.Counter(), threading.Lock()


def ask(client):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for turn in range(250):
        path = paths[(client * 31 + turn * 7) % len(paths)]
        headers = {"Accept-Encoding": "gzip"} if turn % 3 else {}
        if turn % 50 == 49:
            headers["Connection"] = "close"
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read()
        if response.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        with lock:
            answers[path, response.status, hashlib.sha256(body).hexdigest()] += 1


threads = [threading.Thread(target=ask, args=(client,)) for client in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(answers.values()), hashlib.sha256(repr(sorted(answers.items())).encode()).hexdigest())
for (path, status, _), count in sorted(answers.items()):
    print(status, count, path)
