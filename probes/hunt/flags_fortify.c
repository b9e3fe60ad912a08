//~ about: checked variants of functions of the C library, which glibc puts in their place
//~ revisions: memcpy strcpy sprintf read fgets stpcpy memmove strncat pread recv readlink getcwd memset vsnprintf
//~ flags: -O2 -D_FORTIFY_SOURCE=2 -w
//~ truth: race
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
struct { char buf[64]; } s;
volatile int eight = 8;
const char *volatile text = "1234567";
static int format(char *to, const char *f, ...)
{
    va_list l;
    va_start(l, f);
    int r = vsnprintf(to, sizeof s.buf, f, l);
    va_end(l);
    return r;
}
static void *work(void *arg)
{
#ifdef MEMCPY
    memcpy(s.buf, text, eight);
#elif defined STRCPY
    strcpy(s.buf, text);
#elif defined SPRINTF
    sprintf(s.buf, "%s", text);
#elif defined READ
    int fd = open("/etc/passwd", O_RDONLY);
    read(fd, s.buf, eight);
#elif defined FGETS
    FILE *f = fopen("/etc/passwd", "r");
    fgets(s.buf, eight, f);
#elif defined STPCPY
    stpcpy(s.buf, text);
#elif defined MEMMOVE
    memmove(s.buf, text, eight);
#elif defined STRNCAT
    strncat(s.buf, text, eight);
#elif defined PREAD
    int fd = open("/etc/passwd", O_RDONLY);
    pread(fd, s.buf, eight, 0);
#elif defined RECV
    int p[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, p);
    write(p[1], "1234567", 8);
    recv(p[0], s.buf, eight, 0);
#elif defined READLINK
    readlink("/proc/self/exe", s.buf, eight);
#elif defined GETCWD
    getcwd(s.buf, eight * 8);
#elif defined MEMSET
    memset(s.buf, 1, eight);
#else
    format(s.buf, "%s", text);
#endif
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    s.buf[0] = '/';
    pthread_join(a, 0);
    return 0;
}
