//~ about: a function of the C library reads memory that another thread writes, without and with a lock
//~ revisions: strstr strstr_ok strspn strspn_ok strtok strtok_ok casecmp casecmp_ok fputs fputs_ok percent percent_ok counted counted_ok wcslen wcslen_ok setname setname_ok qsort qsort_ok poll poll_ok
//~[strstr] truth: race
//~[strstr] want: found
//~[strstr_ok] truth: clean
//~[strspn] truth: race
//~[strspn] want: found
//~[strspn_ok] truth: clean
//~[strtok] truth: race
//~[strtok] want: found
//~[strtok_ok] truth: clean
//~[casecmp] truth: race
//~[casecmp] want: found
//~[casecmp_ok] truth: clean
//~[fputs] truth: race
//~[fputs] want: found
//~[fputs_ok] truth: clean
//~[percent] truth: race
//~[percent] want: found
//~[percent_ok] truth: clean
//~[counted] truth: race
//~[counted] want: found
//~[counted_ok] truth: clean
//~[wcslen] truth: race
//~[wcslen] want: found
//~[wcslen_ok] truth: clean
//~[setname] truth: race
//~[setname] want: found
//~[setname_ok] truth: clean
//~[qsort] truth: race
//~[qsort] want: found
//~[qsort_ok] truth: clean
//~[poll] truth: race
//~[poll] want: found
//~[poll_ok] truth: clean
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
static char buffer[4096] __attribute__((aligned(64)));
static volatile char sink;
static FILE *file;
static int fd;
static char *line;
static size_t room;
static const char *volatile text = "17 words";
static const char *volatile format = "%d";
__attribute__((unused)) static int compare(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}
static void prepare(void)
{
    file = fopen("/etc/passwd", "r");
    fd = open("/etc/passwd", O_RDONLY);
    strcpy(buffer, "abc def");
}
#if defined STRSTR_OK || defined STRSPN_OK || defined STRTOK_OK || defined CASECMP_OK || defined FPUTS_OK || defined PERCENT_OK || defined COUNTED_OK || defined WCSLEN_OK || defined SETNAME_OK || defined QSORT_OK || defined POLL_OK
#define LOCKED
#endif
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void lock(void)
{
#ifdef LOCKED
    pthread_mutex_lock(&m);
#endif
}
static void unlock(void)
{
#ifdef LOCKED
    pthread_mutex_unlock(&m);
#endif
}
static void *one(void *arg)
{
    lock();
#if defined STRSTR || defined STRSTR_OK
    sink = strstr(buffer, "zz") != 0; //~ bug
#elif defined STRSPN || defined STRSPN_OK
    sink = strspn(buffer, "abc "); //~ bug
#elif defined STRTOK || defined STRTOK_OK
    sink = strtok_r((char *)buffer, " ", &line) != 0; //~ bug
#elif defined CASECMP || defined CASECMP_OK
    sink = strcasecmp(buffer, "ABC DEG") != 0; //~ bug
#elif defined FPUTS || defined FPUTS_OK
    if (!file) fputs(buffer, stdout); else puts(buffer); //~ bug
#elif defined PERCENT || defined PERCENT_OK
    printf(text[0] == '1' ? "%.5s\n" : "", buffer); //~ bug
#elif defined COUNTED || defined COUNTED_OK
    printf("%s%n\n", text, (int *)buffer); //~ bug
#elif defined WCSLEN || defined WCSLEN_OK
    sink = wcslen((wchar_t *)(buffer + 64)); //~ bug
#elif defined SETNAME || defined SETNAME_OK
    pthread_setname_np(pthread_self(), buffer); //~ bug
#elif defined QSORT || defined QSORT_OK
    qsort(buffer, 8, 1, compare); //~ bug
#elif defined POLL || defined POLL_OK
    poll((struct pollfd *)buffer, 1, 0); //~ bug
#endif
    unlock();
    return arg;
}
static void *other(void *arg)
{
    lock();
#if defined STRSTR || defined STRSTR_OK
    buffer[6] = 0; //~ bug
#elif defined STRSPN || defined STRSPN_OK
    buffer[1] = 0; //~ bug
#elif defined STRTOK || defined STRTOK_OK
    buffer[3] = 0; //~ bug
#elif defined CASECMP || defined CASECMP_OK
    buffer[6] = 0; //~ bug
#elif defined FPUTS || defined FPUTS_OK
    buffer[6] = 0; //~ bug
#elif defined PERCENT || defined PERCENT_OK
    buffer[4] = 0; //~ bug
#elif defined COUNTED || defined COUNTED_OK
    sink = buffer[0]; //~ bug
#elif defined WCSLEN || defined WCSLEN_OK
    buffer[64] = 0; //~ bug
#elif defined SETNAME || defined SETNAME_OK
    buffer[0] = 0; //~ bug
#elif defined QSORT || defined QSORT_OK
    sink = buffer[7]; //~ bug
#elif defined POLL || defined POLL_OK
    sink = buffer[6]; //~ bug
#endif
    unlock();
    return arg;
}
int main(void)
{
    prepare();
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
