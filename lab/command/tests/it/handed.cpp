// Four threads hand objects on through queues: each makes objects, and frees those of the thread before it. The
// size of an object says who made it, and which it is. C++ rounds aligned sizes up, so those of answers are multiples.
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t THREADS = 4, ROUNDS = 5000, FIRST = 100000, ANSWERS = 200000, ALIGN = 64;

struct Queue {
    std::mutex lock;
    std::condition_variable some;
    std::deque<char *> objects;

    void put(char *object) {
        const std::lock_guard<std::mutex> held(lock);
        objects.push_back(object);
        some.notify_one();
    }

    char *take() {
        std::unique_lock<std::mutex> held(lock);
        some.wait(held, [this] { return !objects.empty(); });
        char *object = objects.front();
        objects.pop_front();
        return object;
    }
};

Queue queues[THREADS];

// Thread `me` gives object `round` to the next thread, takes that of the thread before it, makes a small object as the
// answer, and frees both.
void hand_on(std::size_t me) {
    for (std::size_t round = 0; round < ROUNDS; round++) {
        queues[me].put(new char[FIRST + 10 * round + me]);
        char *theirs = queues[(me + THREADS - 1) % THREADS].take();
        const std::size_t size = ANSWERS + ALIGN * (THREADS * round + me);
        char *answer = static_cast<char *>(::operator new(size, std::align_val_t(ALIGN)));
        answer[0] = theirs[0] = 1;
        delete[] theirs;
        ::operator delete(answer, std::align_val_t(ALIGN));
    }
}

} // namespace

int main() {
    std::vector<std::thread> threads;
    for (std::size_t me = 0; me < THREADS; me++) threads.emplace_back(hand_on, me);
    for (std::thread &thread : threads) thread.join();
    std::puts("done");
    return 0;
}
