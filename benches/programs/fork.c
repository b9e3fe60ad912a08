// What a process costs: the lower bound of every way to run each execution in a process of its own.
//
//   fork bare N            N children that end at once
//   fork exec N PROGRAM    N children that become PROGRAM
//
// Prints N when all children have ended well. The time is taken from outside.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    long count = argc > 2 ? atol(argv[2]) : -1;
    int executes = argc == 4 && strcmp(argv[1], "exec") == 0;
    if (count < 0 || (!executes && (argc != 3 || strcmp(argv[1], "bare") != 0))) {
        fprintf(stderr, "usage: fork bare N | fork exec N PROGRAM\n");
        return 2;
    }
    for (long i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (executes)
                execl(argv[3], argv[3], (char *)NULL);
            _exit(executes);
        }
        int status = 1;
        if (waitpid(child, &status, 0) != child || status != 0)
            return 1;
    }
    printf("%ld\n", count);
    return 0;
}
