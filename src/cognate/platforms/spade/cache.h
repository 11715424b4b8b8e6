/* Set-associative LRU caches whose unit is a dense row, not a line.
 *
 * A dense row of L lines is always touched as a whole, and its lines fall in L consecutive
 * sets, so every residue class of sets sees the same sequence: one tag a row in sets / L sets
 * gives the counts of one tag a line in `sets` sets. Tags of a set lie in order of use.
 */
#ifndef COGNATE_SPADE_CACHE_H
#define COGNATE_SPADE_CACHE_H

#include "modulo.h"

#include <string.h>
#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

/* Not a hint: GCC deletes calls of functions that only prefetch, as if they did nothing. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define DIRTY 0x80000000u /* flag in a tag; a tag is a row's identity, 0 is an empty way */

typedef struct {
    uint32_t *tags;
    uint32_t sets, ways, lanes; /* lanes: ways rounded up to 4, 8, 16, 32 or 64 */
    uint64_t inverse;           /* of sets, see modulo() */
} Cache;

static inline uint32_t lanes_for(uint32_t ways) {
    return ways <= 4 ? 4 : ways <= 8 ? 8 : ways <= 16 ? 16 : ways <= 32 ? 32 : 64;
}

/* Shape a cache of `sets` × `ways` lines for rows of `lines` lines; returns its tag count. */
static inline int64_t shape(Cache *cache, int64_t sets, int64_t ways, int64_t lines) {
    memset(cache, 0, sizeof *cache);
    if (!sets || !ways) return 0;
    cache->sets = (uint32_t)(sets >= lines ? sets / lines : 1);
    int64_t kept = sets >= lines ? ways : ways * sets / lines;
    cache->ways = (uint32_t)(kept > 1 ? kept : 1);
    cache->lanes = lanes_for(cache->ways);
    cache->inverse = inverse_of(cache->sets);
    return (int64_t)cache->sets * cache->lanes;
}

static inline uint32_t *set_of(const Cache *cache, uint32_t id) {
    return cache->tags + (uint64_t)modulo(id, cache->sets, cache->inverse) * cache->lanes;
}

/* Whether the rows 0 .. ids-1 all have a place, so that none is ever evicted. */
static inline int holds_all(const Cache *cache, int64_t ids) {
    return cache->ways && (ids + cache->sets - 1) / cache->sets <= cache->ways;
}

#if defined(__AVX512F__) && defined(__AVX512VL__)

/* Bit i is set where way i holds the row `id`. */
static inline uint64_t match(const uint32_t *tags, uint32_t lanes, uint32_t id) {
    if (lanes == 4) {
        __m128i held = _mm_loadu_si128((const void *)tags);
        held = _mm_andnot_si128(_mm_set1_epi32((int)DIRTY), held);
        held = _mm_cmpeq_epi32(held, _mm_set1_epi32((int)id));
        return (uint64_t)_mm_movemask_ps(_mm_castsi128_ps(held));
    }
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
    uint64_t moving = (2ull << way) - 1;
    if (lanes == 4) {
        __m128i held = _mm_loadu_si128((const void *)tags);
        __m128i moved = _mm_alignr_epi32(held, _mm_set1_epi32((int)tag), 3);
        _mm_storeu_si128((void *)tags, _mm_mask_mov_epi32(held, (__mmask8)moving, moved));
    } else if (lanes == 8) {
        __m256i held = _mm256_loadu_si256((const void *)tags);
        __m256i moved = _mm256_alignr_epi32(held, _mm256_set1_epi32((int)tag), 7);
        _mm256_storeu_si256((void *)tags, _mm256_mask_mov_epi32(held, (__mmask8)moving, moved));
    } else {
        __m512i below = _mm512_set1_epi32((int)tag);
        for (uint32_t first = 0; first < lanes; first += 16) {
            __m512i held = _mm512_loadu_si512(tags + first);
            __m512i moved = _mm512_alignr_epi32(held, below, 15);
            moved = _mm512_mask_mov_epi32(held, (__mmask16)(moving >> first), moved);
            _mm512_storeu_si512(tags + first, moved);
            below = held;
        }
    }
}

/* Move the ways after `way` down by one, over it; the last becomes empty. */
static inline void close_up(uint32_t *tags, uint32_t lanes, uint32_t way) {
    uint64_t moving = ~0ull << way;
    if (lanes == 4) {
        __m128i held = _mm_loadu_si128((const void *)tags);
        __m128i moved = _mm_alignr_epi32(_mm_setzero_si128(), held, 1);
        _mm_storeu_si128((void *)tags, _mm_mask_mov_epi32(held, (__mmask8)moving, moved));
    } else if (lanes == 8) {
        __m256i held = _mm256_loadu_si256((const void *)tags);
        __m256i moved = _mm256_alignr_epi32(_mm256_setzero_si256(), held, 1);
        _mm256_storeu_si256((void *)tags, _mm256_mask_mov_epi32(held, (__mmask8)moving, moved));
    } else {
        __m512i above = _mm512_setzero_si512();
        for (uint32_t first = lanes; first > 0;) {
            first -= 16;
            __m512i held = _mm512_loadu_si512(tags + first);
            __m512i moved = _mm512_alignr_epi32(above, held, 1);
            moved = _mm512_mask_mov_epi32(held, (__mmask16)(moving >> first), moved);
            _mm512_storeu_si512(tags + first, moved);
            above = held;
        }
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

static inline void close_up(uint32_t *tags, uint32_t lanes, uint32_t way) {
    memmove(tags + way, tags + way + 1, (lanes - 1 - way) * sizeof *tags);
    tags[lanes - 1] = 0;
}

#endif

ALWAYS_INLINE void prefetch(const Cache *cache, uint32_t id) {
    if (cache->ways) {
        const uint32_t *tags = set_of(cache, id);
        __builtin_prefetch(tags, 1);
        if (cache->lanes > 16) __builtin_prefetch(tags + 16, 1);
    }
}

/* Use the row `id`, marking it dirty if `dirty` is DIRTY. Returns 1 for a hit; otherwise the
 * row takes the place of the least recently used one, which `victim` gets (0 if none). */
ALWAYS_INLINE int touch(Cache *cache, uint32_t id, uint32_t dirty, uint32_t *victim) {
    uint32_t *tags = set_of(cache, id);
    uint64_t found = match(tags, cache->lanes, id);
    uint32_t last = cache->ways - 1, way = found ? (uint32_t)__builtin_ctzll(found) : last;
    *victim = tags[last];
    to_front(tags, cache->lanes, way, (found ? tags[way] : id) | dirty);
    return found != 0;
}

/* Take the row `id` out of the cache; returns its tag, or 0 if it was not there. */
static inline uint32_t take_out(Cache *cache, uint32_t id) {
    uint32_t *tags = set_of(cache, id);
    uint64_t found = match(tags, cache->lanes, id);
    if (!found) return 0;
    uint32_t way = (uint32_t)__builtin_ctzll(found), tag = tags[way];
    close_up(tags, cache->lanes, way);
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
