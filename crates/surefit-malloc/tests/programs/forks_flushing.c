/* A process with one thread forks while it flushes all streams: a stream of its own forks in its write. The child then has a second
 * thread, which opens a stream. A process that waits for ever ends by the alarm. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

static pid_t child = -1;

static ssize_t writes(void *nothing, const char *bytes, size_t count) {
    (void)nothing;
    (void)bytes;
    if (child < 0)
        child = fork();
    return (ssize_t)count;
}

static void *opens(void *nothing) {
    FILE *file = fopen("/dev/null", "w");
    CHECK(file != NULL && fclose(file) == 0);
    return nothing;
}

int main(void) {
    alarm(60);
    c_free(c_malloc(1000));
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = writes});
    CHECK(stream != NULL && fputs("some", stream) >= 0);
    CHECK(fflush(NULL) == 0 && child >= 0);
    CHECK(fflush(NULL) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, opens, NULL) == 0);
    pthread_join(thread, NULL);
    if (child == 0)
        _exit(0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    puts("done");
    return 0;
}
