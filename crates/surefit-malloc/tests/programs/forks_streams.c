/* A fork while one thread flushes all streams, which waits for a second one that reads a long line: the reader's memory must grow
 * before the flush, and so the fork, can go on. A process that waits for ever ends by the alarm. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

enum { LINE = 300000 };

static FILE *reading;
static long found;

static void *reads(void *nothing) {
    (void)nothing;
    char *line = NULL;
    size_t room = 0;
    found = getline(&line, &room, reading);
    c_free(line);
    return NULL;
}

static void *flushes(void *nothing) {
    (void)nothing;
    fflush(NULL);
    return NULL;
}

static void *writes(void *end) {
    static char line[LINE];
    memset(line, 'x', LINE - 1);
    line[LINE - 1] = '\n';
    usleep(100000);
    for (size_t done = 0; done < LINE;) {
        ssize_t count = write(*(int *)end, line + done, LINE - done);
        CHECK(count > 0);
        done += (size_t)count;
    }
    return NULL;
}

int main(void) {
    alarm(60);
    int ends[2];
    CHECK(pipe(ends) == 0);
    reading = fdopen(ends[0], "r");
    CHECK(reading != NULL);
    pthread_t threads[3];
    CHECK(pthread_create(&threads[0], NULL, reads, NULL) == 0);
    usleep(20000);
    CHECK(pthread_create(&threads[1], NULL, flushes, NULL) == 0);
    usleep(20000);
    CHECK(pthread_create(&threads[2], NULL, writes, &ends[1]) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        /* The list of streams is nobody's here. */
        FILE *file = fopen("/dev/null", "w");
        CHECK(file != NULL && fclose(file) == 0);
        c_free(c_malloc(LINE));
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(found == LINE);
    CHECK(fflush(NULL) == 0);
    puts("done");
    return 0;
}
