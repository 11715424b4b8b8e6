/* Set-associative LRU caches whose unit is a dense row, not a line.
 *
 * A dense row of L lines is always touched as a whole, and its lines fall in L consecutive
 * sets, so every residue class of sets sees the same sequence: one tag a row in sets / L sets
 * gives the counts of one tag a line in `sets` sets. Tags of a set lie in order of use.
 */
#ifndef COGNATE_SPADE_CACHE_H
#define COGNATE_SPADE_CACHE_H

#include <stdint.h>
#include <string.h>
#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

#define DIRTY 0x80000000u /* flag in a tag; a tag is a row's identity, 0 is an empty way */

typedef struct {
    uint32_t *tags;
    uint32_t sets, ways, lanes; /* lanes: ways rounded up to 8, 16, 32 or 64 */
    uint64_t inverse;           /* 2^64 / sets, rounded up */
} Cache;

static inline uint32_t lanes_for(uint32_t ways) {
    return ways <= 8 ? 8 : ways <= 16 ? 16 : ways <= 32 ? 32 : 64;
}

/* Shape a cache of `sets` × `ways` lines for rows of `lines` lines; returns its tag count. */
static inline int64_t shape(Cache *cache, int64_t sets, int64_t ways, int64_t lines) {
    memset(cache, 0, sizeof *cache);
    if (!sets || !ways) return 0;
    cache->sets = (uint32_t)(sets >= lines ? sets / lines : 1);
    int64_t kept = sets >= lines ? ways : ways * sets / lines;
    cache->ways = (uint32_t)(kept > 1 ? kept : 1);
    cache->lanes = lanes_for(cache->ways);
    cache->inverse = UINT64_MAX / cache->sets + 1;
    return (int64_t)cache->sets * cache->lanes;
}

/* id % sets by multiplication (Lemire, Kaser and Kurz 2019: exact for 32-bit operands). */
static inline uint32_t set_of(const Cache *cache, uint32_t id) {
    uint64_t low = cache->inverse * id;
    return (uint32_t)(((unsigned __int128)low * cache->sets) >> 64);
}

#if defined(__AVX512F__) && defined(__AVX512VL__)

/* Bit i is set where way i holds the row `id`. */
static inline uint64_t match(const uint32_t *tags, uint32_t lanes, uint32_t id) {
    if (lanes == 8) {
        __m256i held = _mm256_loadu_si256((const void *)tags);
        held = _mm256_andnot_si256(_mm256_set1_epi32((int)DIRTY), held);
        held = _mm256_cmpeq_epi32(held, _mm256_set1_epi32((int)id));
        return (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(held));
    }
    uint64_t found = 0;
    for (uint32_t first = 0; first < lanes; first += 16) {
        __m512i held = _mm512_loadu_si512(tags + first);
        held = _mm512_andnot_si512(_mm512_set1_epi32((int)DIRTY), held);
        found |= (uint64_t)_mm512_cmpeq_epi32_mask(held, _mm512_set1_epi32((int)id)) << first;
    }
    return found;
}

/* Move ways 0 .. way-1 up by one, over way `way`, and put `tag` in front. */
static inline void to_front(uint32_t *tags, uint32_t lanes, uint32_t way, uint32_t tag) {
    if (lanes == 8) {
        __m256i held = _mm256_loadu_si256((const void *)tags);
        __m256i moved = _mm256_alignr_epi32(held, held, 7);
        held = _mm256_mask_mov_epi32(held, (__mmask8)((2u << way) - 1), moved);
        _mm256_storeu_si256((void *)tags, _mm256_mask_set1_epi32(held, 1, (int)tag));
        return;
    }
    for (uint32_t first = 0; first <= way; first += 16) {
        uint32_t last = way - first < 15 ? way - first : 15;
        __m512i held = _mm512_loadu_si512(tags + first);
        __m512i moved = _mm512_alignr_epi32(held, held, 15);
        uint32_t carry = tags[first + 15];
        held = _mm512_mask_mov_epi32(held, (__mmask16)((2u << last) - 1), moved);
        _mm512_storeu_si512(tags + first, _mm512_mask_set1_epi32(held, 1, (int)tag));
        tag = carry;
    }
}

#else

static inline uint64_t match(const uint32_t *tags, uint32_t lanes, uint32_t id) {
    uint64_t found = 0;
    for (uint32_t way = 0; way < lanes; way++)
        found |= (uint64_t)((tags[way] & ~DIRTY) == id) << way;
    return found;
}

static inline void to_front(uint32_t *tags, uint32_t lanes, uint32_t way, uint32_t tag) {
    (void)lanes;
    memmove(tags + 1, tags, way * sizeof *tags);
    tags[0] = tag;
}

#endif

static inline void prefetch(const Cache *cache, uint32_t id) {
    if (cache->ways) {
        const uint32_t *tags = cache->tags + (uint64_t)set_of(cache, id) * cache->lanes;
        __builtin_prefetch(tags, 1);
        if (cache->lanes > 16) __builtin_prefetch(tags + 16, 1);
    }
}

/* Use the row `id`, marking it dirty if `dirty` is DIRTY. Returns 1 for a hit; otherwise the
 * row takes the place of the least recently used one, which `victim` gets (0 if none). */
static inline int touch(Cache *cache, uint32_t id, uint32_t dirty, uint32_t *victim) {
    uint32_t *tags = cache->tags + (uint64_t)set_of(cache, id) * cache->lanes;
    if ((tags[0] & ~DIRTY) == id) {
        tags[0] |= dirty;
        return 1;
    }
    uint64_t found = match(tags, cache->lanes, id);
    if (found) {
        uint32_t way = (uint32_t)__builtin_ctzll(found);
        to_front(tags, cache->lanes, way, tags[way] | dirty);
        return 1;
    }
    *victim = tags[cache->ways - 1];
    to_front(tags, cache->lanes, cache->ways - 1, id | dirty);
    return 0;
}

/* Take the row `id` out of the cache; returns its tag, or 0 if it was not there. */
static inline uint32_t take_out(Cache *cache, uint32_t id) {
    uint32_t *tags = cache->tags + (uint64_t)set_of(cache, id) * cache->lanes;
    uint64_t found = match(tags, cache->lanes, id);
    if (!found) return 0;
    uint32_t way = (uint32_t)__builtin_ctzll(found), tag = tags[way];
    memmove(tags + way, tags + way + 1, (cache->ways - 1 - way) * sizeof *tags);
    tags[cache->ways - 1] = 0;
    return tag;
}

static inline int64_t dirty_rows(const Cache *cache) {
    int64_t count = 0;
    for (int64_t i = 0; i < (int64_t)cache->sets * cache->lanes; i++) count += cache->tags[i] >> 31;
    return count;
}

static inline int64_t held_rows(const Cache *cache) {
    int64_t count = 0;
    for (int64_t i = 0; i < (int64_t)cache->sets * cache->lanes; i++)
        count += cache->tags[i] != 0;
    return count;
}

#endif
