//~ about: a function of the C library writes memory that another thread reads, without and with a lock
//~ revisions: fgets fgets_ok fread fread_ok getline getline_ok sscanf sscanf_ok vary vary_ok stat stat_ok uname uname_ok getcwd getcwd_ok realpath realpath_ok wide wide_ok mask mask_ok broken broken_ok pread pread_ok readv readv_ok name name_ok strtod strtod_ok time time_ok
//~[fgets] truth: race
//~[fgets] want: found
//~[fgets_ok] truth: clean
//~[fread] truth: race
//~[fread] want: found
//~[fread_ok] truth: clean
//~[getline] truth: race
//~[getline] want: found
//~[getline_ok] truth: clean
//~[sscanf] truth: race
//~[sscanf] want: found
//~[sscanf_ok] truth: clean
//~[vary] truth: race
//~[vary] want: found
//~[vary_ok] truth: clean
//~[stat] truth: race
//~[stat] want: found
//~[stat_ok] truth: clean
//~[uname] truth: race
//~[uname] want: found
//~[uname_ok] truth: clean
//~[getcwd] truth: race
//~[getcwd] want: found
//~[getcwd_ok] truth: clean
//~[realpath] truth: race
//~[realpath] want: found
//~[realpath_ok] truth: clean
//~[wide] truth: race
//~[wide] want: found
//~[wide_ok] truth: clean
//~[mask] truth: race
//~[mask] want: found
//~[mask_ok] truth: clean
//~[broken] truth: race
//~[broken] want: found
//~[broken_ok] truth: clean
//~[pread] truth: race
//~[pread] want: found
//~[pread_ok] truth: clean
//~[readv] truth: race
//~[readv] want: found
//~[readv_ok] truth: clean
//~[name] truth: race
//~[name] want: found
//~[name_ok] truth: clean
//~[strtod] truth: race
//~[strtod] want: found
//~[strtod_ok] truth: clean
//~[time] truth: race
//~[time] want: found
//~[time_ok] truth: clean
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
#if defined FGETS_OK || defined FREAD_OK || defined GETLINE_OK || defined SSCANF_OK || defined VARY_OK || defined STAT_OK || defined UNAME_OK || defined GETCWD_OK || defined REALPATH_OK || defined WIDE_OK || defined MASK_OK || defined BROKEN_OK || defined PREAD_OK || defined READV_OK || defined NAME_OK || defined STRTOD_OK || defined TIME_OK
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
#if defined FGETS || defined FGETS_OK
    fgets(buffer, 32, file); //~ bug
#elif defined FREAD || defined FREAD_OK
    if (fread(buffer, 4, 4, file) != 4) abort(); //~ bug
#elif defined GETLINE || defined GETLINE_OK
    if (getline(&line, &room, file) < 0) abort(); //~ bug
#elif defined SSCANF || defined SSCANF_OK
    sscanf(text, "%d", (int *)buffer); //~ bug
#elif defined VARY || defined VARY_OK
    sscanf(text, format, (int *)buffer); //~ bug
#elif defined STAT || defined STAT_OK
    stat("/", (struct stat *)buffer); //~ bug
#elif defined UNAME || defined UNAME_OK
    uname((struct utsname *)buffer); //~ bug
#elif defined GETCWD || defined GETCWD_OK
    if (!getcwd(buffer, 256)) abort(); //~ bug
#elif defined REALPATH || defined REALPATH_OK
    if (!realpath("/", buffer)) abort(); //~ bug
#elif defined WIDE || defined WIDE_OK
    mbstowcs((wchar_t *)buffer, text, 3); //~ bug
#elif defined MASK || defined MASK_OK
    sigprocmask(SIG_BLOCK, 0, (sigset_t *)buffer); //~ bug
#elif defined BROKEN || defined BROKEN_OK
    gmtime_r(&(time_t){0}, (struct tm *)buffer); //~ bug
#elif defined PREAD || defined PREAD_OK
    if (pread(fd, buffer, 64, 0) < 0) abort(); //~ bug
#elif defined READV || defined READV_OK
    if (readv(fd, &(struct iovec){buffer, 16}, 1) < 0) abort(); //~ bug
#elif defined NAME || defined NAME_OK
    pthread_getname_np(pthread_self(), buffer, 16); //~ bug
#elif defined STRTOD || defined STRTOD_OK
    strtod(text, (char **)buffer); //~ bug
#elif defined TIME || defined TIME_OK
    strftime(buffer, 32, "%Y", &(struct tm){0}); //~ bug
#endif
    unlock();
    return arg;
}
static void *other(void *arg)
{
    lock();
#if defined FGETS || defined FGETS_OK
    sink = buffer[0]; //~ bug
#elif defined FREAD || defined FREAD_OK
    sink = buffer[0]; //~ bug
#elif defined GETLINE || defined GETLINE_OK
    sink = line ? line[0] : 0; //~ bug
#elif defined SSCANF || defined SSCANF_OK
    sink = buffer[0]; //~ bug
#elif defined VARY || defined VARY_OK
    sink = buffer[0]; //~ bug
#elif defined STAT || defined STAT_OK
    sink = buffer[100]; //~ bug
#elif defined UNAME || defined UNAME_OK
    sink = buffer[380]; //~ bug
#elif defined GETCWD || defined GETCWD_OK
    sink = buffer[0]; //~ bug
#elif defined REALPATH || defined REALPATH_OK
    sink = buffer[0]; //~ bug
#elif defined WIDE || defined WIDE_OK
    sink = buffer[8]; //~ bug
#elif defined MASK || defined MASK_OK
    sink = buffer[0]; //~ bug
#elif defined BROKEN || defined BROKEN_OK
    sink = buffer[20]; //~ bug
#elif defined PREAD || defined PREAD_OK
    sink = buffer[40]; //~ bug
#elif defined READV || defined READV_OK
    sink = buffer[15]; //~ bug
#elif defined NAME || defined NAME_OK
    sink = buffer[0]; //~ bug
#elif defined STRTOD || defined STRTOD_OK
    sink = buffer[0]; //~ bug
#elif defined TIME || defined TIME_OK
    sink = buffer[0]; //~ bug
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
