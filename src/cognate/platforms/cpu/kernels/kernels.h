/* Plans, tasks and the vector type that every kernel file shares. */
#ifndef COGNATE_KERNELS_H
#define COGNATE_KERNELS_H

#include <stdint.h>
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

/* The widest vector that the target has: wider GNU vectors are split very badly. */
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4 * LANES), may_alias));

/* x - 0 is x, so the compiler emits a broadcast alone; x + 0 would be an addition (of -0). */
#define SPLAT(x) ((x) - (vec){0})

/* Stores around the caches, where there are such; stream_end orders them before what follows. */
#if defined(__AVX512F__)
#define STREAM_TO(pointer, x) _mm512_stream_ps((pointer), (__m512)(x))
#elif defined(__AVX__)
#define STREAM_TO(pointer, x) _mm256_stream_ps((pointer), (__m256)(x))
#elif defined(__SSE__)
#define STREAM_TO(pointer, x) _mm_stream_ps((pointer), (__m128)(x))
#else
#define STREAM_TO(pointer, x) (*(vec *)(pointer) = (x))
#endif
static inline void stream_end(void) {
#if defined(__SSE__)
    _mm_sfence();
#endif
}

/* Hides how a pointer was formed, so that it stays in one register. */
#define KEEP(pointer) __asm__("" : "+r"(pointer))

/* EACH_n(M, 0, ...) is M(p, ...) for n names p; 0b##p is the position of a name. */
#define EACH_1(M, p, ...) M(p, __VA_ARGS__)
#define EACH_2(M, p, ...) M(p##0, __VA_ARGS__) M(p##1, __VA_ARGS__)
#define EACH_4(M, p, ...) EACH_2(M, p##0, __VA_ARGS__) EACH_2(M, p##1, __VA_ARGS__)
#define EACH_8(M, p, ...) EACH_4(M, p##0, __VA_ARGS__) EACH_4(M, p##1, __VA_ARGS__)
#define EACH_16(M, p, ...) EACH_8(M, p##0, __VA_ARGS__) EACH_8(M, p##1, __VA_ARGS__)
#define EACH_32(M, p, ...) EACH_16(M, p##0, __VA_ARGS__) EACH_16(M, p##1, __VA_ARGS__)
#define EACH_64(M, p, ...) EACH_32(M, p##0, __VA_ARGS__) EACH_32(M, p##1, __VA_ARGS__)

/* EACH_FLOATS_t(M, ...) is M(p, ...) for the vectors that hold t floats. */
#if LANES == 16
#define EACH_FLOATS_16(M, ...) EACH_1(M, 0, __VA_ARGS__)
#define EACH_FLOATS_32(M, ...) EACH_2(M, 0, __VA_ARGS__)
#define EACH_FLOATS_64(M, ...) EACH_4(M, 0, __VA_ARGS__)
#define EACH_FLOATS_128(M, ...) EACH_8(M, 0, __VA_ARGS__)
#define EACH_FLOATS_256(M, ...) EACH_16(M, 0, __VA_ARGS__)
#elif LANES == 8
#define EACH_FLOATS_16(M, ...) EACH_2(M, 0, __VA_ARGS__)
#define EACH_FLOATS_32(M, ...) EACH_4(M, 0, __VA_ARGS__)
#define EACH_FLOATS_64(M, ...) EACH_8(M, 0, __VA_ARGS__)
#define EACH_FLOATS_128(M, ...) EACH_16(M, 0, __VA_ARGS__)
#define EACH_FLOATS_256(M, ...) EACH_32(M, 0, __VA_ARGS__)
#else
#define EACH_FLOATS_16(M, ...) EACH_4(M, 0, __VA_ARGS__)
#define EACH_FLOATS_32(M, ...) EACH_8(M, 0, __VA_ARGS__)
#define EACH_FLOATS_64(M, ...) EACH_16(M, 0, __VA_ARGS__)
#define EACH_FLOATS_128(M, ...) EACH_32(M, 0, __VA_ARGS__)
#define EACH_FLOATS_256(M, ...) EACH_64(M, 0, __VA_ARGS__)
#endif

/* A sparse matrix laid out in loop order: phases > units > tiles > segments > entries.
 * Units of one phase run in parallel; a barrier separates phases. */
struct plan {
    int64_t phases, units, tiles, segments, entries;
    int64_t block_rows, block_cols; /* dense blocks (one a tile, no segments), or 0 */
    int64_t segment_is_row;         /* else a segment is a column and its entries are rows */
    const int32_t *phase_unit, *unit_tile, *tile_segment, *segment_entry;
    const int32_t *segment_id; /* row (or column) of a segment; first row of a block unit */
    const int32_t *entry_id;   /* column (or row) of an entry; first column of a block */
    const int32_t *source;     /* position in CSR order, -1 for padding */
    const float *value;
};

enum place { OUTERMOST, IN_UNIT, IN_TILE, IN_SEGMENT, IN_ENTRY };
enum operation { SPMM, SDDMM };
enum inner { PLAIN, REGISTER };

/* A plan with its operands and all that a schedule chooses at run time. */
struct task {
    const struct plan *plan;
    const float *left;  /* SDDMM: rows x stride */
    const float *right; /* cols x stride */
    float *result;      /* SpMM: rows x stride; SDDMM: one float an entry of the plan */
    int64_t rows, width, stride;
    int64_t operation;
    int64_t slice, place; /* dense columns a slice, and where the loop over slices stands */
    int64_t chunk;        /* units a thread takes at a time; 0: equal shares, fixed */
    int64_t inner, unroll, prefetch;
    int64_t accumulate; /* SpMM: clear the result first, then add to it */
    int64_t stream;     /* SpMM: write the result around the caches */
};

/* Runs segments [from, to) of a plan (units, for blocks) on dense columns [j, j + n). */
typedef void (*segment_kernel)(const struct task *task, int64_t from, int64_t to, int64_t j,
                               int64_t n);

void spmm_run(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n);
void sddmm_run(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n);

/* Runs a job on every thread of the pool; returns when all are done. */
typedef void (*job)(void *work, int thread, int threads);
void run_job(job run, void *work);

double now(void); /* seconds on a steady clock */

#endif
