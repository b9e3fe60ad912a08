//~ about: stops the process that has started its parent
//~ truth: any
//~ must-not: proved
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void *work(void *arg)
{
    return arg;
}
int main(void)
{
    char path[64], line[512];
    int controller = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
    FILE *status = fopen(path, "r");
    if (status && fgets(line, sizeof line, status)) {
        char *rest = strrchr(line, ')');
        if (rest)
            sscanf(rest + 2, "%*c %d", &controller);
    }
    if (controller > 1)
        kill(controller, SIGSTOP);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}
