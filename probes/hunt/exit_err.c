//~ about: functions of the C library that end the program with a status, by an exit of their own
//~ revisions: errx err verrx verr error always success
//~ truth: exit-status
//~[success] truth: clean
//~[always] must-not: exit-0
//~[success] want: proved
//~ want: found
#include <err.h>
#include <error.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
static atomic_int done;
static void *finish(void *unused) {
    done = 1;
    return unused;
}
static void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
#ifdef VERR
    verr(3, format, list);
#else
    verrx(3, format, list);
#endif
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, finish, NULL);
#ifdef ALWAYS
    pthread_join(thread, NULL);
    errx(3, "every time %d", 1);
#endif
    if (done)
#if defined ERRX
        errx(3, "early by %d", 1);
#elif defined ERR
        err(3, "early by %d", 1);
#elif defined ERROR
        error(3, 0, "early by %d", 1);
#elif defined SUCCESS
        errx(0, "early by %d", 1);
#else
        fail("early by %d", 1);
#endif
    pthread_join(thread, NULL);
}
