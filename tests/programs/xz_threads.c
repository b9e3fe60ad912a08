// The threaded encoder of xz: compresses a text in blocks, with two threads, and checks that it comes back.
// What it writes does not depend on the schedule.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lzma.h"

#define SIZE (24 << 10)
#define PERIOD 1024

static uint8_t text[SIZE], back[SIZE], packed[2 * SIZE];

int main(void) {
    // The same again and again, so that there is little to do for each byte.
    for (int i = 0; i < PERIOD; i++)
        text[i] = (uint8_t)(i * i % 101);
    for (int i = PERIOD; i < SIZE; i += PERIOD)
        memcpy(text + i, text, PERIOD);
    lzma_mt options = {.threads = 2, .block_size = 8 << 10, .preset = 0, .check = LZMA_CHECK_CRC32};
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_encoder_mt(&stream, &options) != LZMA_OK)
        return 1;
    stream.next_in = text;
    stream.avail_in = SIZE;
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    lzma_ret result;
    do {
        result = lzma_code(&stream, LZMA_FINISH);
    } while (result == LZMA_OK);
    size_t length = sizeof packed - stream.avail_out;
    lzma_end(&stream);
    uint64_t limit = UINT64_MAX;
    size_t in = 0, out = 0;
    if (result != LZMA_STREAM_END
        || lzma_stream_buffer_decode(&limit, 0, NULL, packed, &in, length, back, &out, SIZE) != LZMA_OK
        || out != SIZE || memcmp(text, back, SIZE) != 0)
        return 2;
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + packed[i];
    printf("%zu bytes, %08x\n", length, sum);
    return 0;
}
