//~ about: two threads use state inside the C library, without and with a lock
//~ revisions: strtok strtok_ok environment environment_ok gmtime gmtime_ok ctime ctime_ok drand drand_ok password password_ok readdir readdir_ok table table_ok tree tree_ok letters letters_ok
//~[strtok] truth: race
//~[strtok] want: found
//~[strtok_ok] truth: clean
//~[environment] truth: race
//~[environment] want: found
//~[environment_ok] truth: clean
//~[gmtime] truth: race
//~[gmtime] want: found
//~[gmtime_ok] truth: clean
//~[ctime] truth: race
//~[ctime] want: found
//~[ctime_ok] truth: clean
//~[drand] truth: race
//~[drand] want: found
//~[drand_ok] truth: clean
//~[password] truth: race
//~[password] want: found
//~[password_ok] truth: clean
//~[readdir] truth: race
//~[readdir] want: found
//~[readdir_ok] truth: clean
//~[table] truth: race
//~[table] want: found
//~[table_ok] truth: clean
//~[tree] truth: race
//~[tree] want: found
//~[tree_ok] truth: clean
//~[letters] truth: race
//~[letters] want: found
//~[letters_ok] truth: clean
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <pwd.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static DIR *directory;
static void *root;
__attribute__((unused)) static int compare(const void *a, const void *b)
{
    return (a > b) - (a < b);
}
static void prepare(void)
{
    directory = opendir("/");
    hcreate(16);
    srand48(1);
}
#if defined STRTOK_OK || defined ENVIRONMENT_OK || defined GMTIME_OK || defined CTIME_OK || defined DRAND_OK || defined PASSWORD_OK || defined READDIR_OK || defined TABLE_OK || defined TREE_OK || defined LETTERS_OK
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
#if defined STRTOK || defined STRTOK_OK
    strtok((char[]){"a b"}, " "); //~ bug
#elif defined ENVIRONMENT || defined ENVIRONMENT_OK
    setenv("A", "1", 1); //~ bug
#elif defined GMTIME || defined GMTIME_OK
    gmtime(&(time_t){0}); //~ bug
#elif defined CTIME || defined CTIME_OK
    ctime(&(time_t){0}); //~ bug
#elif defined DRAND || defined DRAND_OK
    drand48(); //~ bug
#elif defined PASSWORD || defined PASSWORD_OK
    getpwuid(0); //~ bug
#elif defined READDIR || defined READDIR_OK
    readdir(directory); //~ bug
#elif defined TABLE || defined TABLE_OK
    hsearch((ENTRY){"a", 0}, ENTER); //~ bug
#elif defined TREE || defined TREE_OK
    tsearch((void *)1, &root, compare); //~ bug
#elif defined LETTERS || defined LETTERS_OK
    l64a(12345); //~ bug
#endif
    unlock();
    return arg;
}
static void *other(void *arg)
{
    lock();
#if defined STRTOK || defined STRTOK_OK
    strtok((char[]){"c d"}, " "); //~ bug
#elif defined ENVIRONMENT || defined ENVIRONMENT_OK
    getenv("HOME"); //~ bug
#elif defined GMTIME || defined GMTIME_OK
    gmtime(&(time_t){1}); //~ bug
#elif defined CTIME || defined CTIME_OK
    asctime(&(struct tm){.tm_mday = 1}); //~ bug
#elif defined DRAND || defined DRAND_OK
    drand48(); //~ bug
#elif defined PASSWORD || defined PASSWORD_OK
    getpwnam("root"); //~ bug
#elif defined READDIR || defined READDIR_OK
    readdir(directory); //~ bug
#elif defined TABLE || defined TABLE_OK
    hsearch((ENTRY){"b", 0}, ENTER); //~ bug
#elif defined TREE || defined TREE_OK
    tsearch((void *)2, &root, compare); //~ bug
#elif defined LETTERS || defined LETTERS_OK
    l64a(54321); //~ bug
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
