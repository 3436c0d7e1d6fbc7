/* Handlers at forks that allocate, registered before the first malloc: in the way that the argument says. The parent and the child then
 * allocate, too. A process that waits for a lock ends by the alarm. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

enum { LARGE = 100000, SMALL = 200 };

static int stop, in_prepare, in_parent, in_child;

static void use_heap(void) {
    for (int i = 0; i < 20; i++) {
        char *large = c_malloc(LARGE), *small = c_malloc(SMALL);
        CHECK(large != NULL && small != NULL);
        fill(large, LARGE);
        fill(small, SMALL);
        c_free(large);
        c_free(small);
    }
}

static void prepare(void) {
    use_heap();
    in_prepare++;
}

static void parent(void) {
    use_heap();
    in_parent++;
}

static void child(void) {
    use_heap();
    in_child++;
}

static void begin(const char *way, int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], way) == 0)
        CHECK(pthread_atfork(prepare, parent, child) == 0);
}

/* Called before the functions with which libraries begin. */
static void preinit(int count, char **arguments) {
    begin("preinit", count, arguments);
}

__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **) = preinit;

__attribute__((constructor)) static void constructor(int count, char **arguments) {
    begin("constructor", count, arguments);
}

static void *churn(void *nothing) {
    (void)nothing;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        use_heap();
    return NULL;
}

int main(int count, char **arguments) {
    alarm(20);
    begin("main", count, arguments);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, churn, NULL) == 0);
    for (int i = 1; i <= 20; i++) {
        pid_t forked = fork();
        CHECK(forked >= 0 && in_prepare == i);
        if (forked == 0) {
            alarm(20);
            CHECK(in_child == 1 && in_parent == i - 1);
            use_heap();
            _exit(0);
        }
        CHECK(in_parent == i && in_child == 0);
        int status;
        CHECK(waitpid(forked, &status, 0) == forked && status == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
