// Vector code: whole vectors, masked, gathered and scattered accesses.
#include <immintrin.h>

void add(float *restrict to, const float *restrict from, int n) {
  for (int i = 0; i < n; i++)
    to[i] += from[i];
}
void add_where(int *restrict to, const int *restrict from, const int *restrict condition, int n) {
  for (int i = 0; i < n; i++)
    if (condition[i])
      to[i] += from[i];
}
int sum_at(const int *values, const int *indices, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += values[indices[i]];
  return sum;
}
__m256i load_some(const int *from, __m256i mask) { return _mm256_maskload_epi32(from, mask); }
void store_some(float *to, __m256i mask, __m256 value) { _mm256_maskstore_ps(to, mask, value); }
__m256i gather(const int *base, __m256i index) { return _mm256_i32gather_epi32(base, index, 4); }
__m128 gather_wide(const float *base, __m256i index) { return _mm256_i64gather_ps(base, index, 4); }
__m128i gather_some(__m128i old, const int *base, __m128i index, __m128i mask) {
  return _mm_mask_i32gather_epi32(old, base, index, mask, 4);
}
void stream(__m256i *to, __m256i value) { _mm256_stream_si256(to, value); }
