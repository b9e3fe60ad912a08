// The runtime's own functions on bytes, against plain loops.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
void *rh_memcpy(void *, const void *, size_t);
void *rh_memmove(void *, const void *, size_t);
void *rh_memset(void *, int, size_t);
int rh_memcmp(const void *, const void *, size_t);
size_t rh_strlen(const char *);
size_t rh_strnlen(const char *, size_t);
enum { ROOM = 1024 };
static unsigned char a[ROOM], b[ROOM];
static void fill(void) { for (int i = 0; i < ROOM; i++) a[i] = b[i] = i * 7 + 1; }
static void same(const char *what, int from, int to, int n) {
    for (int i = 0; i < ROOM; i++)
        if (a[i] != b[i]) { printf("%s(%d, %d, %d) at %d\n", what, to, from, n, i); exit(1); }
}
int main(void) {
    static const int lengths[] = {255, 256, 257, 300, 511};
    for (int at = 0; at < 80 + 5; at++) {
        int n = at < 80 ? at : lengths[at - 80];
        for (int from = 100; from < 116; from++)
            for (int to = 60; to < 180; to++) {
                fill();
                unsigned char copy[ROOM];
                for (int i = 0; i < n; i++) copy[i] = b[from + i];
                for (int i = 0; i < n; i++) b[to + i] = copy[i];
                if (rh_memmove(a + to, a + from, n) != a + to) return 2;
                same("memmove", from, to, n);
            }
        for (int to = 0; to < 16; to++) {
            fill();
            for (int i = 0; i < n; i++) b[to + i] = 0xa5;
            if (rh_memset(a + to, 0x7a5, n) != a + to) return 3;
            same("memset", 0, to, n);
            fill();
            if (n && rh_memcmp(a + to, b + to, n) != 0) return 4;
            for (int i = 0; i < n; i++) {
                unsigned char was = b[to + i];
                b[to + i] = 200; a[to + i] = 100;
                if (rh_memcmp(a + to, b + to, n) >= 0 || rh_memcmp(b + to, a + to, n) <= 0) return 5;
                a[to + i] = b[to + i] = was;
            }
        }
    }
    char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 4096, 4096, PROT_NONE);
    for (int n = 0; n < 64; n++) {
        char *text = pages + 4096 - n - 1;
        for (int i = 0; i < n; i++) text[i] = i % 2 ? (char)0x80 : 'x';
        text[n] = 0;
        if (rh_strlen(text) != (size_t)n) return 6;
        for (int most = 0; most <= n + 2; most++)
            if (rh_strnlen(text, most) != (size_t)(most < n ? most : n)) return 7;
        text[n] = 1;
        if (rh_strnlen(text, n + 1) != (size_t)n + 1) return 8;
    }
    puts("the same");
}
