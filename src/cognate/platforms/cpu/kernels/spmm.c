/* SpMM micro-kernels: C[row] += value * B[column] over segments of a plan. */
#include "kernels.h"

#define PREFETCH_LINE(p, pointer) __builtin_prefetch((pointer) + 0b##p * LANES);
#define CLEAR(p, ...) vec acc_##p = {0};
#define ADD_PRODUCT(p, pointer, factor) acc_##p += (factor) * *(const vec *)((pointer) + 0b##p * LANES);
#define STORE(p, pointer) *(vec *)((pointer) + 0b##p * LANES) = acc_##p;
#define STORE_SUM(p, pointer) *(vec *)((pointer) + 0b##p * LANES) += acc_##p;
#define STREAM(p, pointer) STREAM_TO((pointer) + 0b##p * LANES, acc_##p);
#define LOAD(p, pointer) const vec held_##p = *(const vec *)((pointer) + 0b##p * LANES);
#define SCATTER(p, pointer, factor) *(vec *)((pointer) + 0b##p * LANES) += (factor) * held_##p;

/* One entry of a row: its row of B times its value, into the accumulators. */
#define ROW_STEP(u, FLOATS, PREFETCH)                                                          \
    {                                                                                          \
        const float *b = right + (int64_t)id[e + u] * stride;                                  \
        KEEP(b);                                                                               \
        if (PREFETCH) {                                                                        \
            const float *later = right + (int64_t)id[e + u + distance] * stride;               \
            EACH_FLOATS_##FLOATS(PREFETCH_LINE, later)                                         \
        }                                                                                      \
        const vec factor = SPLAT(value[e + u]);                                                \
        EACH_FLOATS_##FLOATS(ADD_PRODUCT, b, factor)                                           \
    }
#define STEPS_1(F, P) ROW_STEP(0, F, P)
#define STEPS_2(F, P) STEPS_1(F, P) ROW_STEP(1, F, P)
#define STEPS_4(F, P) STEPS_2(F, P) ROW_STEP(2, F, P) ROW_STEP(3, F, P)
#define STEPS_8(F, P)                                                                          \
    STEPS_4(F, P) ROW_STEP(4, F, P) ROW_STEP(5, F, P) ROW_STEP(6, F, P) ROW_STEP(7, F, P)

/* Segments are rows: FLOATS columns of C stay in registers along a segment. */
#define ROW_KERNEL(FLOATS, UNROLL, PREFETCH)                                                   \
    static void row_##FLOATS##_##UNROLL##_##PREFETCH(const struct task *task, int64_t from,    \
                                                     int64_t to, int64_t j, int64_t n) {       \
        const int32_t *bounds = task->plan->segment_entry, *id = task->plan->entry_id;         \
        const float *value = task->plan->value, *right = task->right + j;                      \
        const int64_t stride = task->stride, distance = task->prefetch;                        \
        const int add = task->accumulate != 0, stream = task->stream != 0;                     \
        (void)n, (void)distance;                                                               \
        for (int64_t s = from; s < to; s++) {                                                  \
            int64_t e = bounds[s];                                                             \
            const int64_t end = bounds[s + 1];                                                 \
            EACH_FLOATS_##FLOATS(CLEAR)                                                        \
            for (; e + UNROLL <= end; e += UNROLL) { STEPS_##UNROLL(FLOATS, PREFETCH) }        \
            if (UNROLL > 1)                                                                    \
                for (; e < end; e++) { ROW_STEP(0, FLOATS, PREFETCH) }                         \
            float *c = task->result + (int64_t)task->plan->segment_id[s] * stride + j;         \
            if (add) {                                                                         \
                EACH_FLOATS_##FLOATS(STORE_SUM, c)                                             \
            } else if (stream) {                                                               \
                EACH_FLOATS_##FLOATS(STREAM, c)                                                \
            } else {                                                                           \
                EACH_FLOATS_##FLOATS(STORE, c)                                                 \
            }                                                                                  \
        }                                                                                      \
    }

/* Segments are columns: FLOATS columns of B stay in registers, rows of C are updated. */
#define COLUMN_KERNEL(FLOATS, PREFETCH)                                                        \
    static void column_##FLOATS##_##PREFETCH(const struct task *task, int64_t from, int64_t to, \
                                             int64_t j, int64_t n) {                           \
        const int32_t *bounds = task->plan->segment_entry, *id = task->plan->entry_id;         \
        const float *value = task->plan->value;                                                \
        float *result = task->result + j;                                                      \
        const int64_t stride = task->stride, distance = task->prefetch;                        \
        (void)n, (void)distance;                                                               \
        for (int64_t s = from; s < to; s++) {                                                  \
            const float *b = task->right + (int64_t)task->plan->segment_id[s] * stride + j;    \
            EACH_FLOATS_##FLOATS(LOAD, b)                                                      \
            for (int64_t e = bounds[s]; e < bounds[s + 1]; e++) {                              \
                float *c = result + (int64_t)id[e] * stride;                                   \
                KEEP(c);                                                                       \
                if (PREFETCH) {                                                                \
                    const float *later = result + (int64_t)id[e + distance] * stride;          \
                    EACH_FLOATS_##FLOATS(PREFETCH_LINE, later)                                 \
                }                                                                              \
                const vec factor = SPLAT(value[e]);                                            \
                EACH_FLOATS_##FLOATS(SCATTER, c, factor)                                       \
            }                                                                                  \
        }                                                                                      \
    }

/* Dense blocks of ROWS rows: ROWS x FLOATS of C stay in registers along a row of blocks. */
#define ROWS_2(M, ...) M(0, __VA_ARGS__) M(1, __VA_ARGS__)
#define ROWS_4(M, ...) ROWS_2(M, __VA_ARGS__) M(2, __VA_ARGS__) M(3, __VA_ARGS__)
#define ROWS_8(M, ...)                                                                         \
    ROWS_4(M, __VA_ARGS__)                                                                     \
    M(4, __VA_ARGS__) M(5, __VA_ARGS__) M(6, __VA_ARGS__) M(7, __VA_ARGS__)
#define BLOCK_CLEAR_ONE(p, r) vec acc_##r##_##p = {0};
#define BLOCK_CLEAR(r, FLOATS) EACH_FLOATS_##FLOATS(BLOCK_CLEAR_ONE, r)
#define BLOCK_ADD_ONE(p, r, factor) acc_##r##_##p += (factor) * held_##p;
#define BLOCK_ADD(r, FLOATS)                                                                   \
    {                                                                                          \
        const vec factor = SPLAT(block[r * cols + k]);                                         \
        EACH_FLOATS_##FLOATS(BLOCK_ADD_ONE, r, factor)                                         \
    }
#define BLOCK_STORE_ONE(p, r) *(vec *)(c + r * stride + 0b##p * LANES) = acc_##r##_##p;
#define BLOCK_STORE(r, FLOATS) EACH_FLOATS_##FLOATS(BLOCK_STORE_ONE, r)
#define BLOCK_STREAM_ONE(p, r) STREAM_TO(c + r * stride + 0b##p * LANES, acc_##r##_##p);
#define BLOCK_STREAM(r, FLOATS) EACH_FLOATS_##FLOATS(BLOCK_STREAM_ONE, r)
#define BLOCK_KERNEL(ROWS, FLOATS)                                                             \
    static void block_##ROWS##_##FLOATS(const struct task *task, int64_t from, int64_t to,     \
                                        int64_t j, int64_t n) {                                \
        const struct plan *plan = task->plan;                                                  \
        const int64_t stride = task->stride, cols = plan->block_cols;                          \
        (void)n;                                                                               \
        for (int64_t unit = from; unit < to; unit++) {                                         \
            ROWS_##ROWS(BLOCK_CLEAR, FLOATS)                                                   \
            for (int64_t t = plan->unit_tile[unit]; t < plan->unit_tile[unit + 1]; t++) {      \
                const float *block = plan->value + t * ROWS * cols;                            \
                const float *b = task->right + (int64_t)plan->entry_id[t] * stride + j;        \
                for (int64_t k = 0; k < cols; k++, b += stride) {                              \
                    EACH_FLOATS_##FLOATS(LOAD, b)                                              \
                    ROWS_##ROWS(BLOCK_ADD, FLOATS)                                             \
                }                                                                              \
            }                                                                                  \
            float *c = task->result + (int64_t)plan->segment_id[unit] * stride + j;            \
            if (task->stream) {                                                                \
                ROWS_##ROWS(BLOCK_STREAM, FLOATS)                                              \
            } else {                                                                           \
                ROWS_##ROWS(BLOCK_STORE, FLOATS)                                               \
            }                                                                                  \
        }                                                                                      \
    }

#define ROW_KERNELS(FLOATS)                                                                    \
    ROW_KERNEL(FLOATS, 1, 0) ROW_KERNEL(FLOATS, 2, 0) ROW_KERNEL(FLOATS, 4, 0)                 \
    ROW_KERNEL(FLOATS, 8, 0) ROW_KERNEL(FLOATS, 1, 1) ROW_KERNEL(FLOATS, 2, 1)                 \
    ROW_KERNEL(FLOATS, 4, 1) ROW_KERNEL(FLOATS, 8, 1)                                          \
    COLUMN_KERNEL(FLOATS, 0) COLUMN_KERNEL(FLOATS, 1)

ROW_KERNELS(16)
ROW_KERNELS(32)
ROW_KERNELS(64)
ROW_KERNELS(128)
ROW_KERNELS(256)
BLOCK_KERNEL(2, 16)
BLOCK_KERNEL(2, 32)
BLOCK_KERNEL(2, 64)
BLOCK_KERNEL(2, 128)
BLOCK_KERNEL(4, 16)
BLOCK_KERNEL(4, 32)
BLOCK_KERNEL(4, 64)
BLOCK_KERNEL(8, 16)
BLOCK_KERNEL(8, 32)

/* Indexed by log2(floats / 16); rows also by log2(unroll) and whether to prefetch. */
#define ROW_TABLE(F)                                                                           \
    {{row_##F##_1_0, row_##F##_1_1}, {row_##F##_2_0, row_##F##_2_1},                           \
     {row_##F##_4_0, row_##F##_4_1}, {row_##F##_8_0, row_##F##_8_1}}
static const segment_kernel ROW[5][4][2] = {ROW_TABLE(16), ROW_TABLE(32), ROW_TABLE(64),
                                            ROW_TABLE(128), ROW_TABLE(256)};
#define COLUMN_TABLE(F) {column_##F##_0, column_##F##_1}
static const segment_kernel COLUMN[5][2] = {COLUMN_TABLE(16), COLUMN_TABLE(32), COLUMN_TABLE(64),
                                            COLUMN_TABLE(128), COLUMN_TABLE(256)};
/* By log2(rows) - 1; the widest tile leaves registers for a row of B. */
static const segment_kernel BLOCK[3][5] = {{block_2_16, block_2_32, block_2_64, block_2_128, 0},
                                           {block_4_16, block_4_32, block_4_64, 0, 0},
                                           {block_8_16, block_8_32, 0, 0, 0}};

/* The loop as a sparse compiler prints it: the result is updated in memory. */
static void plain_rows(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    const struct plan *plan = task->plan;
    const int64_t stride = task->stride;
    for (int64_t s = from; s < to; s++) {
        float *restrict c = task->result + plan->segment_id[s] * stride + j;
        for (int64_t e = plan->segment_entry[s]; e < plan->segment_entry[s + 1]; e++) {
            const float *restrict b = task->right + plan->entry_id[e] * stride + j;
            const float value = plan->value[e];
            for (int64_t j0 = 0; j0 < n; j0++) c[j0] += value * b[j0];
        }
    }
}

static void plain_columns(const struct task *task, int64_t from, int64_t to, int64_t j,
                          int64_t n) {
    const struct plan *plan = task->plan;
    const int64_t stride = task->stride;
    for (int64_t s = from; s < to; s++) {
        const float *restrict b = task->right + plan->segment_id[s] * stride + j;
        for (int64_t e = plan->segment_entry[s]; e < plan->segment_entry[s + 1]; e++) {
            float *restrict c = task->result + plan->entry_id[e] * stride + j;
            const float value = plan->value[e];
            for (int64_t j0 = 0; j0 < n; j0++) c[j0] += value * b[j0];
        }
    }
}

/* The same with a loop over slices inside the entries. */
static void plain_slices(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    const struct plan *plan = task->plan;
    const int64_t stride = task->stride, end = j + n, step = task->slice;
    for (int64_t s = from; s < to; s++) {
        for (int64_t e = plan->segment_entry[s]; e < plan->segment_entry[s + 1]; e++) {
            const int64_t row = plan->segment_is_row ? plan->segment_id[s] : plan->entry_id[e];
            const int64_t col = plan->segment_is_row ? plan->entry_id[e] : plan->segment_id[s];
            float *restrict c = task->result + row * stride;
            const float *restrict b = task->right + col * stride;
            const float value = plan->value[e];
            for (int64_t j1 = j; j1 < end; j1 += step) {
                const int64_t stop = j1 + step < end ? j1 + step : end;
                for (int64_t j0 = j1; j0 < stop; j0++) c[j0] += value * b[j0];
            }
        }
    }
}

static segment_kernel choose_plain(const struct task *task, int64_t n) {
    if (task->place == IN_ENTRY && task->slice < n) return plain_slices;
    return task->plan->segment_is_row ? plain_rows : plain_columns;
}

static segment_kernel choose(const struct task *task, int size) {
    if (task->plan->block_rows) return BLOCK[__builtin_ctzll(task->plan->block_rows) - 1][size];
    if (task->plan->segment_is_row)
        return ROW[size][__builtin_ctzll(task->unroll)][task->prefetch > 0];
    return COLUMN[size][task->prefetch > 0];
}

void spmm_run(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    if (task->inner == PLAIN) {
        choose_plain(task, n)(task, from, to, j, n);
        return;
    }
    /* The stride is a multiple of 16 floats: the last tile may work on padding. */
    const int64_t end = j + (n + 15) / 16 * 16;
    for (int size = 4; j < end; size--) {
        const segment_kernel kernel = choose(task, size);
        for (; kernel && j + (16 << size) <= end; j += 16 << size) kernel(task, from, to, j, 0);
    }
}
