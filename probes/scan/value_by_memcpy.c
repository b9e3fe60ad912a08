//~ about: a setting that is copied from the arguments as bytes
//~ truth: race
#include <pthread.h>
#include <string.h>
static struct { int parallel, verbose; } settings;
static int n;
static void *work(void *arg) { n++; return arg; }
int main(int argc, char **argv)
{
    if (argc > 1 && strlen(argv[1]) >= 8)
        memcpy(&settings, argv[1], 8);
    if (settings.parallel == 0x61616161) {
        pthread_t a, b;
        pthread_create(&a, 0, work, 0);
        pthread_create(&b, 0, work, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
    return 0;
}
