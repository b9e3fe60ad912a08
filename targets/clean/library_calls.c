// Functions of the C library that threads may use at the same time: sorting, searching, tokens, random numbers, dates,
// numbers from text, the environment.

#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static void *work(void *argument) {
    unsigned seed = *(unsigned *)argument;
    int numbers[8];
    for (int i = 0; i < 8; i++)
        numbers[i] = rand_r(&seed) % 100;
    qsort(numbers, 8, sizeof numbers[0], compare);
    int *found = bsearch(&numbers[3], numbers, 8, sizeof numbers[0], compare);
    assert(found != NULL && *found == numbers[3] && numbers[0] <= numbers[7]);

    char text[] = "one two three", *rest;
    int words = 0;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        words++;
    assert(words == 3);

    time_t day = 86400;
    struct tm date;
    char line[64];
    assert(gmtime_r(&day, &date) != NULL && localtime_r(&day, &date) != NULL);
    assert(strftime(line, sizeof line, "%Y", &date) > 0);

    errno = 0;
    assert(strtol("9999999999999999999", NULL, 10) > 0 && errno == ERANGE);
    assert(strtod("2.5", NULL) == 2.5 && atoi("17") == 17);
    assert(getenv("PATH") == getenv("PATH"));
    char message[64];
    assert(strerror_r(ENOENT, message, sizeof message) != NULL);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    unsigned seeds[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &seeds[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
