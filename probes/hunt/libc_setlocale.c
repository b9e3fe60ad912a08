//~ about: setlocale while another thread formats numbers by the locale
//~ truth: race
//~ want: no-claim
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
static void *set(void *arg)
{
    setlocale(LC_ALL, "C.UTF-8");
    return arg;
}
static void *use(void *arg)
{
    char b[32];
    struct lconv *l = localeconv();
    snprintf(b, sizeof b, "%s%.2f", l->decimal_point, 1.5);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, set, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
