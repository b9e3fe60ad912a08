/* C library functions that return memory of the library, or keep pointers of the program: a superset of what they do, for the
   analysis only. None of this is executed. Each function is defined only if the program calls it and does not define it.
   Functions that POSIX does not require to be thread-safe share a static object, as they do in libraries. */
#define _GNU_SOURCE
#include <getopt.h>
#include <grp.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern int __racehunter_any_int(void);
extern unsigned long __racehunter_any_ulong(void);

/* Reads a text, and fills memory with bytes that are no pointers. */
#define READ(text) ((void)strlen(text))
#define FILL(memory, bytes) memset(memory, 1, bytes)
/* Reads memory, all of it: of which members a function needs, libraries differ. */
#define READ_ALL(memory) ((void)memcmp(memory, memory, sizeof *(memory)))

#ifdef WANT_strtok
static char *strtok_rest;
char *strtok(char *text, const char *delimiters)
{
    READ(delimiters);
    char *from = text ? text : strtok_rest;
    if (!from || __racehunter_any_int())
        return NULL;
    from += strcspn(from, delimiters);
    char *end = from + strcspn(from, delimiters);
    *end = 0;
    strtok_rest = end;
    return from;
}
#endif

#ifdef WANT_strtok_r
char *strtok_r(char *text, const char *delimiters, char **rest)
{
    READ(delimiters);
    char *from = text ? text : *rest;
    if (!from || __racehunter_any_int())
        return NULL;
    from += strcspn(from, delimiters);
    char *end = from + strcspn(from, delimiters);
    *end = 0;
    *rest = end;
    return from;
}
#endif

#ifdef WANT_strsep
char *strsep(char **rest, const char *delimiters)
{
    READ(delimiters);
    char *from = *rest;
    if (!from)
        return NULL;
    char *end = from + strcspn(from, delimiters);
    *end = 0;
    *rest = __racehunter_any_int() ? end : NULL;
    return from;
}
#endif

#ifdef WANT_time
static struct tm shared_time;
static char shared_text[26];

struct tm *localtime(const time_t *when)
{
    READ_ALL(when);
    FILL(&shared_time, sizeof shared_time);
    shared_time.tm_zone = "UTC";
    return &shared_time;
}
struct tm *gmtime(const time_t *when) { return localtime(when); }
char *asctime(const struct tm *time)
{
    READ_ALL(time);
    FILL(shared_text, sizeof shared_text);
    return shared_text;
}
char *ctime(const time_t *when) { return asctime(localtime(when)); }
#endif

#ifdef WANT_hosts
static struct hostent shared_host;
static char host_name[256], host_address[16];
static char *host_names[2], *host_addresses[2];

static struct hostent *any_host(void)
{
    if (__racehunter_any_int())
        return NULL;
    FILL(host_name, sizeof host_name);
    FILL(host_address, sizeof host_address);
    host_names[0] = host_name;
    host_addresses[0] = host_address;
    shared_host.h_name = host_name;
    shared_host.h_aliases = host_names;
    shared_host.h_addrtype = shared_host.h_length = __racehunter_any_int();
    shared_host.h_addr_list = host_addresses;
    return &shared_host;
}
struct hostent *gethostbyname(const char *name)
{
    READ(name);
    return any_host();
}
struct hostent *gethostbyaddr(const void *address, socklen_t length, int type)
{
    READ(address);
    return any_host();
}
#endif

#ifdef WANT_addresses
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    if (node)
        READ(node);
    if (service)
        READ(service);
    if (hints)
        READ_ALL(hints);
    if (__racehunter_any_int())
        return EAI_FAIL;
    struct addrinfo *all = NULL;
    do {
        struct addrinfo *one = malloc(sizeof *one);
        FILL(one, sizeof *one);
        one->ai_addr = malloc(sizeof(struct sockaddr_storage));
        FILL(one->ai_addr, sizeof(struct sockaddr_storage));
        one->ai_canonname = malloc(256);
        FILL(one->ai_canonname, 256);
        one->ai_next = all;
        all = one;
    } while (__racehunter_any_int());
    *result = all;
    return 0;
}
void freeaddrinfo(struct addrinfo *all)
{
    while (all) {
        struct addrinfo *next = all->ai_next;
        free(all->ai_addr);
        free(all->ai_canonname);
        free(all);
        all = next;
    }
}
#endif

#ifdef WANT_users
static struct passwd shared_user;
static struct group shared_group;
static char user_text[256], group_text[256];
static char *group_members[2];

static struct passwd *any_user(void)
{
    if (__racehunter_any_int())
        return NULL;
    FILL(user_text, sizeof user_text);
    shared_user.pw_name = shared_user.pw_passwd = shared_user.pw_gecos = shared_user.pw_dir = shared_user.pw_shell = user_text;
    shared_user.pw_uid = shared_user.pw_gid = __racehunter_any_int();
    return &shared_user;
}
struct passwd *getpwnam(const char *name)
{
    READ(name);
    return any_user();
}
struct passwd *getpwuid(uid_t user) { return any_user(); }

static struct group *any_group(void)
{
    if (__racehunter_any_int())
        return NULL;
    FILL(group_text, sizeof group_text);
    group_members[0] = group_text;
    shared_group.gr_name = shared_group.gr_passwd = group_text;
    shared_group.gr_gid = __racehunter_any_int();
    shared_group.gr_mem = group_members;
    return &shared_group;
}
struct group *getgrnam(const char *name)
{
    READ(name);
    return any_group();
}
struct group *getgrgid(gid_t group) { return any_group(); }
#endif

#ifdef WANT_getopt
char *optarg;
int optind = 1, opterr = 1, optopt;

static int any_option(int count, char *const *arguments)
{
    char **all = (char **)arguments;
    unsigned long one = __racehunter_any_ulong(), other = __racehunter_any_ulong();
    char *moved = all[one];
    all[one] = all[other];
    all[other] = moved;
    READ(moved);
    optarg = __racehunter_any_int() ? moved + __racehunter_any_ulong() : NULL;
    optind += opterr ? __racehunter_any_int() : 1;
    optopt = __racehunter_any_int();
    return __racehunter_any_int();
}
int getopt(int count, char *const *arguments, const char *options)
{
    READ(options);
    return any_option(count, arguments);
}
int getopt_long(int count, char *const *arguments, const char *options, const struct option *all, int *which)
{
    READ(options);
    unsigned long one = __racehunter_any_ulong();
    READ(all[one].name);
    READ_ALL(all + one);
    if (which)
        *which = __racehunter_any_int();
    if (all[one].flag)
        *all[one].flag = all[one].val;
    return any_option(count, arguments);
}
int getopt_long_only(int count, char *const *arguments, const char *options, const struct option *all, int *which)
{
    return getopt_long(count, arguments, options, all, which);
}
#endif
