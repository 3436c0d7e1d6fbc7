"""200 threads in waves; programs started by many threads; processes forked beside threads that allocate."""
import hashlib, multiprocessing, os, queue, subprocess, sys, threading, zlib


def work(seed, results):
    data = bytearray()
    kept = {}
    for step in range(300):
        size = (seed * 7919 + step * 104729) % 5000
        kept[step % 40] = [bytes(size), {str(i): i for i in range(size % 30)}]
        data += zlib.compress(kept[step % 40][0] + str(step).encode())
    # Half of the objects end with this thread, the others with the one that takes them.
    results.put((seed, hashlib.sha256(data).hexdigest(), kept if seed % 2 else None))


def in_waves():
    results, whole = queue.Queue(), hashlib.sha256()
    for wave in range(10):
        threads = [threading.Thread(target=work, args=(wave * 20 + i, results)) for i in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for seed, digest, _ in sorted((results.get() for _ in threads), key=lambda result: result[0]):
            whole.update(f"{seed} {digest}".encode())
    threads = [threading.Thread(target=work, args=(i, results)) for i in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, digest, _ in sorted((results.get() for _ in threads), key=lambda result: result[0]):
        whole.update(f"{seed} {digest}".encode())
    return whole.hexdigest()


def programs():
    """16 threads start eight programs each, half of them by fork and exec, the others as the library prefers."""
    said, lock = [], threading.Lock()

    def start(number):
        for turn in range(8):
            text = f"print({number} * 1000 + {turn}, len([str(i) for i in range(2000)]))"
            before = (lambda: None) if turn % 2 else None
            run = subprocess.run([sys.executable, "-S", "-c", text], capture_output=True, text=True, preexec_fn=before, timeout=120)
            with lock:
                said.append((run.stdout.strip(), run.stderr, run.returncode))

    threads = [threading.Thread(target=start, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return hashlib.sha256(repr(sorted(said)).encode()).hexdigest(), sum(code for _, _, code in said)


def task(number):
    return number, hashlib.sha256(repr({i: bytes(i * number % 3000) for i in range(300)}).encode()).hexdigest()


def processes():
    """Pools of processes forked from this one, while two threads go on allocating."""
    stop = threading.Event()

    def allocate():
        while not stop.is_set():
            {i: bytes(i * 37 % 4000) for i in range(500)}

    threads = [threading.Thread(target=allocate) for _ in range(2)]
    for thread in threads:
        thread.start()
    answers = []
    for _ in range(5):
        with multiprocessing.get_context("fork").Pool(4) as pool:
            answers.append(pool.map(task, range(60), chunksize=3))
            pool.close()
            pool.join()
    children = []
    for number in range(30):
        child = os.fork()
        if child == 0:
            kept = [bytes(i % 3000) for i in range(5000)]
            os._exit(0 if sum(map(len, kept)) == sum(i % 3000 for i in range(5000)) else 1)
        children.append(os.waitpid(child, 0)[1])
    stop.set()
    for thread in threads:
        thread.join()
    return hashlib.sha256(repr(answers).encode()).hexdigest(), children


if __name__ == "__main__":
    print("waves", in_waves())
    print("programs", *programs())
    print("processes", *processes())
    print("waves", in_waves())
