// Lines go through a pipe by streams of the C library, and come back by others.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 3 };

static FILE *questions[2];
static FILE *answers[2];
static int known[LINES];

static void *respond(void *unused) {
    char *line = NULL;
    size_t room = 0;
    (void)unused;
    while (getline(&line, &room, questions[0]) > 0) {
        int number = atoi(line);
        fprintf(answers[1], "%d\n", known[number]);
        fflush(answers[1]);
    }
    free(line);
    fclose(answers[1]);
    return NULL;
}

static int connect_streams(FILE *streams[2]) {
    int ends[2];
    if (pipe(ends) != 0) {
        return 1;
    }
    streams[0] = fdopen(ends[0], "r");
    streams[1] = fdopen(ends[1], "w");
    return 0;
}

int main(void) {
    pthread_t responder;
    char line[16];
    int wrong = 0;
    if (connect_streams(questions) != 0 || connect_streams(answers) != 0) {
        return 1;
    }
    pthread_create(&responder, NULL, respond, NULL);
    for (int i = 0; i < LINES; i++) {
        known[i] = 7 * i;
        fprintf(questions[1], "%d\n", i);
        fflush(questions[1]);
        wrong |= fgets(line, sizeof line, answers[0]) == NULL || atoi(line) != 7 * i;
    }
    fclose(questions[1]);
    wrong |= fgetc(answers[0]) != EOF;
    pthread_join(responder, NULL);
    return wrong;
}
