/* The naive counterpart of cache.h: one tag a line, searched one by one. Same counts. */
#ifndef COGNATE_SPADE_CACHE_H
#define COGNATE_SPADE_CACHE_H

#include <stdint.h>
#include <string.h>

#define ALWAYS_INLINE static inline
#define DIRTY 0x80000000u

typedef struct {
    uint32_t *tags;
    uint32_t sets, ways, lanes, lines;
} Cache;

static inline int64_t shape(Cache *cache, int64_t sets, int64_t ways, int64_t lines) {
    memset(cache, 0, sizeof *cache);
    if (!sets || !ways) return 0;
    *cache = (Cache){0, (uint32_t)sets, (uint32_t)ways, (uint32_t)ways, (uint32_t)lines};
    return sets * ways;
}

static inline uint64_t match(const uint32_t *tags, uint32_t ways, uint32_t id) {
    for (uint32_t way = 0; way < ways; way++)
        if ((tags[way] & ~DIRTY) == id) return 1ull << way;
    return 0;
}

static inline int holds_all(const Cache *cache, int64_t ids) { return (void)cache, (void)ids, 0; }

static inline void to_front(uint32_t *tags, uint32_t lanes, uint32_t way, uint32_t tag) {
    (void)lanes;
    memmove(tags + 1, tags, way * sizeof *tags);
    tags[0] = tag;
}

static inline void prefetch(const Cache *cache, uint32_t id) { (void)cache, (void)id; }

static inline int touch(Cache *cache, uint32_t id, uint32_t dirty, uint32_t *victim) {
    int hit = 0;
    for (uint32_t line = 0; line < cache->lines; line++) {
        uint64_t address = (uint64_t)id * cache->lines + line;
        uint32_t *tags = cache->tags + address % cache->sets * cache->ways, way = 0;
        while (way < cache->ways && (tags[way] & ~DIRTY) != id) way++;
        hit = way < cache->ways;
        if (!hit) *victim = tags[--way];
        uint32_t tag = hit ? tags[way] | dirty : id | dirty;
        to_front(tags, cache->ways, way, tag);
    }
    return hit;
}

static inline uint32_t take_out(Cache *cache, uint32_t id) {
    uint32_t way = 0, tag;
    while (way < cache->ways && (cache->tags[way] & ~DIRTY) != id) way++;
    if (way == cache->ways) return 0;
    tag = cache->tags[way];
    memmove(cache->tags + way, cache->tags + way + 1, (cache->ways - 1 - way) * sizeof tag);
    cache->tags[cache->ways - 1] = 0;
    return tag;
}

static inline int64_t dirty_rows(const Cache *cache) {
    int64_t count = 0;
    for (int64_t i = 0; i < (int64_t)cache->sets * cache->ways; i++) count += cache->tags[i] >> 31;
    return count / cache->lines;
}

static inline int64_t held_rows(const Cache *cache) {
    int64_t count = 0;
    for (int64_t i = 0; i < (int64_t)cache->sets * cache->ways; i++) count += cache->tags[i] != 0;
    return cache->ways ? count / cache->lines : 0;
}

#endif
