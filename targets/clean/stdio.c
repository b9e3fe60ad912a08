// Several threads write to the same streams of the C library, which locks them itself.

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *write_lines(void *name) {
    char line[64];
    for (int i = 0; i < 2; i++) {
        printf("%s %d\n", (const char *)name, i);
        snprintf(line, sizeof line, "%s again\n", (const char *)name);
        fputs(line, stdout);
        fwrite(line, 1, strlen(line), stdout);
        putchar('.');
    }
    fprintf(stderr, "%s is done\n", (const char *)name);
    fflush(stdout);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, write_lines, "first");
    pthread_create(&second, NULL, write_lines, "second");
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    puts("end");
    return 0;
}
