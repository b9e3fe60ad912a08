// zstd with two worker threads: compresses a text in several jobs, and checks that it comes back.
// What it writes does not depend on the schedule.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zstd.h"

// Enough for three jobs of the smallest size.
#define SIZE (3 * (512 << 10))
#define PERIOD 1024

static char text[SIZE], back[SIZE];

static size_t checked(size_t result) {
    if (ZSTD_isError(result)) {
        fprintf(stderr, "zstd: %s\n", ZSTD_getErrorName(result));
        exit(1);
    }
    return result;
}

int main(void) {
    // The same again and again, so that there is little to do for each byte.
    for (int i = 0; i < PERIOD; i++)
        text[i] = (char)(i * i % 101);
    for (int i = PERIOD; i < SIZE; i += PERIOD)
        memcpy(text + i, text, PERIOD);
    size_t room = ZSTD_compressBound(SIZE);
    char *packed = malloc(room);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (packed == NULL || context == NULL)
        return 1;
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 2));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 512 << 10));
    size_t length = checked(ZSTD_compress2(context, packed, room, text, SIZE));
    ZSTD_freeCCtx(context);
    if (checked(ZSTD_decompress(back, SIZE, packed, length)) != SIZE || memcmp(text, back, SIZE) != 0)
        return 2;
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + (unsigned char)packed[i];
    printf("%zu bytes, %08x\n", length, sum);
    free(packed);
    return 0;
}
