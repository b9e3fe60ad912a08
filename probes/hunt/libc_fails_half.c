//~ about: functions that fail, or return a negative number, and have written to memory all the same
//~ revisions: year1960 year2020 half_text short_item path_end fixed
//~[year1960] truth: race assertion
//~[year2020] truth: race assertion
//~[half_text] truth: race
//~[short_item] truth: race
//~[path_end] truth: race
//~[fixed] truth: clean
#define _GNU_SOURCE
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>
#if defined YEAR1960 || defined YEAR2020 || defined FIXED
#ifdef YEAR2020
static struct tm when = {.tm_year = 120, .tm_mday = 40};
#else
static struct tm when = {.tm_year = 60, .tm_mday = 40};
#endif
static void call(void) { timegm(&when); }
static void look(void) { assert(when.tm_mday == 40); }
#elif defined HALF_TEXT
static wchar_t text[8];
static void call(void) { mbstowcs(text, "ab\xff", 8); }
static void look(void) { text[0] = 0; }
#elif defined SHORT_ITEM
static char item[8];
static void call(void) {
    FILE *file = tmpfile();
    fputs("abc", file);
    rewind(file);
    fread(item, sizeof item, 1, file);
    fclose(file);
}
static void look(void) { item[0] = 0; }
#else
static char path[PATH_MAX];
static void call(void) { realpath("/nowhere/to/be/found", path); }
static void look(void) { path[0] = 0; }
#endif
static void *work(void *unused) {
    call();
    return unused;
}
int main(void) {
    pthread_t thread;
#ifdef FIXED
    look();
#endif
    pthread_create(&thread, NULL, work, NULL);
#ifndef FIXED
    look();
#endif
    pthread_join(thread, NULL);
}
