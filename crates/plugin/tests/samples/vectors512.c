// Vector code with mask registers.
#include <immintrin.h>

__m512i load_some(const int *from, __mmask16 mask) { return _mm512_maskz_loadu_epi32(mask, from); }
void store_some(double *to, __mmask8 mask, __m512d value) { _mm512_mask_storeu_pd(to, mask, value); }
void compress(int *to, __mmask16 mask, __m512i value) { _mm512_mask_compressstoreu_epi32(to, mask, value); }
__m512i expand(const int *from, __mmask16 mask) { return _mm512_maskz_expandloadu_epi32(mask, from); }
__m512i gather(__m512i index, const int *base) { return _mm512_i32gather_epi32(index, base, 4); }
void scatter(int *base, __mmask16 mask, __m512i index, __m512i value) {
  _mm512_mask_i32scatter_epi32(base, mask, index, value, 4);
}
void add_where(int *restrict to, const int *restrict from, const int *restrict at, int n) {
  for (int i = 0; i < n; i++)
    if (from[i] > 3)
      to[at[i]] = from[i];
}
