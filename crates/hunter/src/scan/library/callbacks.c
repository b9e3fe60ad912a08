/* C library functions that call functions of the program: a superset of what they do, for the analysis only. None of this is
   executed. Each function is defined only if the program calls it and does not define it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern int __racehunter_any_int(void);
extern unsigned long __racehunter_any_ulong(void);

typedef int (*compare_t)(const void *, const void *);
typedef int (*compare_with_t)(const void *, const void *, void *);

/* Any element is compared with any other, in its place or in a copy, and any may take the place of any other. */
#ifdef WANT_qsort
void qsort(void *base, size_t count, size_t size, compare_t compare)
{
    char *all = base, *copy = malloc(size);
    while (__racehunter_any_int()) {
        char *one = all + __racehunter_any_ulong() * size, *other = all + __racehunter_any_ulong() * size;
        memcpy(copy, one, size);
        compare(one, other);
        compare(copy, other);
        compare(one, copy);
        memmove(one, other, size);
        memcpy(other, copy, size);
    }
    free(copy);
}
#endif

#ifdef WANT_qsort_r
void qsort_r(void *base, size_t count, size_t size, compare_with_t compare, void *argument)
{
    char *all = base, *copy = malloc(size);
    while (__racehunter_any_int()) {
        char *one = all + __racehunter_any_ulong() * size, *other = all + __racehunter_any_ulong() * size;
        memcpy(copy, one, size);
        compare(one, other, argument);
        compare(copy, other, argument);
        compare(one, copy, argument);
        memmove(one, other, size);
        memcpy(other, copy, size);
    }
    free(copy);
}
#endif

#ifdef WANT_bsearch
void *bsearch(const void *key, const void *base, size_t count, size_t size, compare_t compare)
{
    while (__racehunter_any_int()) {
        const char *one = (const char *)base + __racehunter_any_ulong() * size;
        compare(key, one);
        if (__racehunter_any_int())
            return (void *)one;
    }
    return NULL;
}
#endif

#ifdef WANT_lfind
void *lfind(const void *key, const void *base, size_t *count, size_t size, compare_t compare)
{
    size_t all = *count;
    while (__racehunter_any_int()) {
        const char *one = (const char *)base + __racehunter_any_ulong() * size;
        compare(key, one);
        if (__racehunter_any_int())
            return (void *)one;
    }
    return (void)all, NULL;
}
#endif

#ifdef WANT_lsearch
void *lsearch(const void *key, void *base, size_t *count, size_t size, compare_t compare)
{
    char *one = (char *)base + *count * size;
    while (__racehunter_any_int()) {
        one = (char *)base + __racehunter_any_ulong() * size;
        compare(key, one);
    }
    if (__racehunter_any_int()) {
        memcpy(one, key, size);
        ++*count;
    }
    return one;
}
#endif

/* The effect of an exception that must not pass a function. */
#ifdef WANT_terminate
void __clang_call_terminate(void *exception)
{
    abort();
}
#endif
