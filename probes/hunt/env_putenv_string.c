//~ about: `getenv` compares the strings that `putenv` has put into the environment
//~ revisions: bug fixed
//~[bug] truth: race
//~[bug] want: found
//~[fixed] truth: clean
#include <pthread.h>
#include <stdlib.h>
static char variable[] = "COLOUR=red";
static void *changes(void *unused) {
#ifdef FIXED
    variable[7] = 'b';
#else
    variable[2] = 'X';
#endif
    return unused;
}
static void *asks(void *unused) {
    getenv("COLOUR");
    return unused;
}
int main(void) {
    pthread_t a, b;
    putenv(variable);
    pthread_create(&a, NULL, changes, NULL);
    pthread_create(&b, NULL, asks, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
