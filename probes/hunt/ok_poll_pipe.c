//~ about: poll waits for one of two pipes
//~ truth: clean
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int p[2][2];
static void *say(void *arg)
{
    char c = (char)('a' + (long)arg);
    write(p[(long)arg][1], &c, 1);
    return 0;
}
int main(void)
{
    pthread_t t[2];
    int got = 0;
    for (long i = 0; i < 2; i++) {
        pipe(p[i]);
        pthread_create(&t[i], 0, say, (void *)i);
    }
    while (got < 2) {
        struct pollfd f[2] = {{p[0][0], POLLIN, 0}, {p[1][0], POLLIN, 0}};
        assert(poll(f, 2, -1) > 0);
        for (int i = 0; i < 2; i++)
            if (f[i].revents & POLLIN) {
                char c;
                assert(read(p[i][0], &c, 1) == 1 && c == 'a' + i);
                got++;
            }
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
