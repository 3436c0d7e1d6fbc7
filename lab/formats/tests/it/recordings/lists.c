/* The program of which heaptrack's recordings in this folder are. Two threads push to lists of their
 * own and pop from them; one object of each goes to the other thread's end. What the C library asks
 * for beside that differs between machines. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    char text[40];
};

static struct node *push(struct node *list, int n) {
    struct node *node = malloc(sizeof *node + (size_t)(n % 5) * 16);
    node->next = list;
    node->text[0] = (char)n;
    return node;
}

static struct node *pop(struct node *list) {
    struct node *next = list->next;
    free(list);
    return next;
}

static void *work(void *unused) {
    struct node *list = NULL;
    char *text = malloc(10);
    (void)unused;
    for (int n = 0; n < 120; n++) {
        list = push(list, n);
        if (n % 3 == 2) {
            list = pop(pop(list));
        }
        if (n % 10 == 0) {
            text = realloc(text, 10 + (size_t)n * 20);
        }
    }
    while (list != NULL) {
        list = pop(list);
    }
    return text;
}

int main(void) {
    pthread_t other;
    void *text = NULL;
    void *aligned = NULL;
    int *zeros = calloc(25, sizeof *zeros);
    if (zeros == NULL || pthread_create(&other, NULL, work, NULL) != 0) {
        return 1;
    }
    free(work(NULL));
    pthread_join(other, &text);
    free(text);
    if (posix_memalign(&aligned, 64, 300) != 0) {
        return 1;
    }
    free(zeros); /* aligned is never freed */
    return aligned == NULL;
}
