// Allocates on stacks of every kind: the recorder finds the callers of each by its own reading of the tables, and by the
// platform's unwinder, and counts where the two differ. The arguments are two libraries to open and close; with a third argument that
// is all it does.
#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

namespace {

// Never written, but no compiler knows.
void *volatile sink;

// Volatile, so that no compiler leaves it out; and each thread's own.
NOINLINE void allocate(std::size_t bytes) {
    void *volatile object = std::malloc(bytes);
    std::free(object);
}

// Tail calls: the caller is not on the stack.
NOINLINE void *leaf(std::size_t bytes) { return std::malloc(bytes); }

NOINLINE int deep(int levels, int every) {
    volatile char frame[24] = {};
    if (levels % every == 0) allocate(10 + levels % 7);
    const int below = levels == 0 ? 0 : deep(levels - 1, every);
    std::free(leaf(20));
    return below + frame[3] + 1;
}

// Frames whose size is not known before, and whose alignment is not the stack's.
NOINLINE int variable(int levels) {
    char *bytes = static_cast<char *>(alloca(16 + 40 * (levels % 9)));
    std::memset(bytes, levels, 16);
    allocate(30);
    const int below = levels == 0 ? 0 : variable(levels - 1);
    return below + bytes[7];
}

NOINLINE int aligned(int levels) {
    alignas(128) volatile char bytes[128] = {};
    char *more = static_cast<char *>(alloca(16 + levels));
    more[0] = static_cast<char>(levels);
    allocate(40);
    const int below = levels == 0 ? 0 : aligned(levels - 1);
    return below + bytes[5] + more[0];
}

// Two callers whose frames are alike: what is below them looks the same, whoever of them called.
NOINLINE int one(unsigned way, int levels);

NOINLINE int two(unsigned way, int levels) {
    volatile char frame[24] = {};
    if (levels == 0) allocate(45);
    else frame[1] = static_cast<char>((way & 1 ? two : one)(way >> 1, levels - 1));
    return frame[1];
}

NOINLINE int one(unsigned way, int levels) {
    volatile char frame[24] = {};
    if (levels == 0) allocate(46);
    else frame[2] = static_cast<char>((way & 1 ? two : one)(way >> 1, levels - 1));
    return frame[2];
}

void alike() {
    for (unsigned way = 0; way < 1 << 10; way++)
        for (const unsigned levels : {10, 3, 9}) one(way, static_cast<int>(levels));
}

// Objects that live on, so that the allocator's own paths differ.
void kept() {
    std::vector<std::string> all;
    for (int i = 0; i < 500; i++) all.push_back(std::string(i % 90, 'x'));
}

struct Guard {
    ~Guard() { allocate(50); }
};

NOINLINE void throwing(int levels) {
    const Guard guard;
    if (levels == 0) throw std::runtime_error("a text that needs memory of its own");
    try {
        throwing(levels - 1);
    } catch (const std::logic_error &) {
        std::abort();
    }
}

void exceptions() {
    for (int i = 0; i < 20; i++) {
        try {
            throwing(i);
        } catch (const std::runtime_error &error) {
            allocate(std::strlen(error.what()));
        }
    }
}

std::jmp_buf back;

NOINLINE void jumping(int levels) {
    allocate(60);
    if (levels == 0) std::longjmp(back, 1);
    if (sink != &back) jumping(levels - 1);
    allocate(61);
}

void jumps() {
    for (volatile int i = 0; i < 50; i = i + 1)
        if (setjmp(back) == 0) jumping(i % 10);
        else allocate(62);
}

void on_signal(int) { deep(3, 1); }

void signals() {
    static char other_stack[1 << 16];
    stack_t stack = {};
    stack.ss_sp = other_stack;
    stack.ss_size = sizeof other_stack;
    if (sigaltstack(&stack, nullptr) != 0) std::abort();
    for (const int flags : {0, SA_ONSTACK}) {
        struct sigaction action = {};
        action.sa_handler = on_signal;
        action.sa_flags = flags;
        sigaction(SIGUSR1, &action, nullptr);
        for (int i = 0; i < 20; i++) {
            raise(SIGUSR1);
            allocate(70);
        }
    }
}

// Coroutines that take turns with the thread.
ucontext_t outside, inside;

void coroutine() {
    for (int i = 0; i < 20; i++) {
        deep(i, 2);
        swapcontext(&inside, &outside);
    }
}

void coroutines() {
    const std::size_t bytes = 1 << 17;
    void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static char fixed[bytes];
    void *made = std::malloc(bytes);
    for (void *stack : {mapped, static_cast<void *>(fixed), made}) {
        getcontext(&inside);
        inside.uc_stack.ss_sp = stack;
        inside.uc_stack.ss_size = bytes;
        inside.uc_link = &outside;
        makecontext(&inside, coroutine, 0);
        for (int i = 0; i < 20; i++) {
            swapcontext(&outside, &inside);
            deep(3, 1);
        }
    }
    munmap(mapped, bytes);
    std::free(made);
}

using Plugin = void (*)(int, void (*)(std::size_t));

// One after the other: the second has the first one's place, and frames of another size.
void libraries(char **names) {
    for (int i = 0; i < 30; i++) {
        void *library = dlopen(names[i % 2], RTLD_NOW);
        if (library == nullptr) std::abort();
        const auto plugin = reinterpret_cast<Plugin>(dlsym(library, "plugin"));
        for (int j = 0; j < 5; j++) plugin(j, allocate);
        dlclose(library);
        deep(5, 1);
    }
}

// Code that nothing describes, as a compiler makes while the program runs: it calls its argument.
void undescribed() {
#ifdef __x86_64__
    const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(page, code, sizeof code);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    const auto call = reinterpret_cast<void (*)(void (*)())>(page);
    for (int i = 0; i < 20; i++) call([] { deep(2, 1); });
    munmap(page, 4096);
#endif
}

pthread_key_t key;

void at_end(void *) { deep(4, 1); }

void work() {
    pthread_setspecific(key, &key);
    for (int i = 0; i < 30; i++) {
        deep(i, 3);
        variable(i);
    }
    kept();
    exceptions();
}

void *work_on_own_stack(void *) {
    work();
    return nullptr;
}

void threads() {
    pthread_key_create(&key, at_end);
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++) all.emplace_back(work);
    for (std::thread &thread : all) thread.join();
    // A thread whose stack is memory of the program.
    const std::size_t bytes = 1 << 20;
    void *stack = nullptr;
    if (posix_memalign(&stack, 4096, bytes) != 0) std::abort();
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, bytes);
    if (pthread_create(&thread, &attributes, work_on_own_stack, nullptr) != 0) std::abort();
    pthread_join(thread, nullptr);
    std::free(stack);
}

// More than the kernel keeps free below the stack, at one go.
NOINLINE void far_down() {
    volatile char *bytes = static_cast<volatile char *>(alloca(3 << 20));
    for (int i = (3 << 20) - 1; i >= 0; i -= 4096) bytes[i] = 1;
    deep(10, 1);
    bytes[0] = 1;
}

} // namespace

int main(int count, char **names) {
    if (count < 3) return 1;
    if (count == 4) return libraries(names + 1), 0;
    std::atexit([] { deep(3, 1); });
    deep(20000, 10);
    for (int i = 0; i < 200; i++) deep(i % 40, 1 + i % 3);
    variable(60);
    aligned(60);
    alike();
    kept();
    exceptions();
    jumps();
    signals();
    coroutines();
    libraries(names + 1);
    undescribed();
    threads();
    far_down();
    deep(100, 1);
    return 0;
}
