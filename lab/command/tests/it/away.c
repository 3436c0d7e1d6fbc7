/* Processes that go away from where they can be recorded: the first argument says how. 77: this user may not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void many(int objects) {
    for (int i = 0; i < objects; i++) free(malloc(4000));
}

/* Into the current folder as root; it has no folder of logs, nor another file. */
static int change_root(void) {
    if (chroot(".") != 0 && (unshare(CLONE_NEWUSER) != 0 || chroot(".") != 0)) return 77;
    return chdir("/") != 0;
}

static void close_all(void) {
    for (int i = 3; i < 2000; i++) close(i);
}

static int take_descriptors(void) {
    struct rlimit limit = {100, 100};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
    while (open("/dev/null", O_RDONLY) >= 0) {}
    return errno != EMFILE;
}

static int child(const char *what) {
    int status = 0;
    if (strstr(what, "roots") != NULL) status = change_root();
    if (strstr(what, "closes") != NULL) close_all();
    if (strstr(what, "clears") != NULL) clearenv();
    if (status != 0) return status;
    if (strstr(what, "forks") != NULL) {
        if (fork() == 0) many(1000), _exit(0);
        return wait(&status) < 0 || status != 0;
    }
    return many(1000), 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    char byte;
    int status = 0;
    many(10);
    if (strcmp(what, "daemon") == 0) {
        /* It allocates when its input ends. */
        if (daemon(1, 1) != 0) return 1;
        while (read(0, &byte, 1) > 0) {}
        return many(1000), 0;
    }
    if (strcmp(what, "takes") == 0 && (status = take_descriptors()) != 0) return status;
    if (fork() == 0) _exit(child(what));
    if (wait(&status) < 0 || !WIFEXITED(status)) return 1;
    return WEXITSTATUS(status);
}
