/* SDDMM micro-kernels: result[entry] = value * (left[row] . right[column]). */
#include "kernels.h"

typedef float quad __attribute__((vector_size(16)));
typedef float loose_quad __attribute__((vector_size(16), aligned(4), may_alias));

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLES 1
#endif
#endif

/* Four partial sums of the lanes of a vector. */
static inline quad fold(vec x) {
#if LANES == 4
    return x;
#elif defined(SHUFFLES) && LANES == 8
    return __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
#elif defined(SHUFFLES)
    typedef float oct __attribute__((vector_size(32)));
    const oct half = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
    return __builtin_shufflevector(half, half, 0, 1, 2, 3) +
           __builtin_shufflevector(half, half, 4, 5, 6, 7);
#else
    quad total = {0};
    for (int i = 0; i < LANES; i += 4) total += (quad){x[i], x[i + 1], x[i + 2], x[i + 3]};
    return total;
#endif
}

static inline float sum(vec x) {
    const quad q = fold(x);
    return (q[0] + q[2]) + (q[1] + q[3]);
}

/* The sums of four vectors, one a lane. */
static inline quad sums(vec x0, vec x1, vec x2, vec x3) {
#ifdef SHUFFLES
    const quad a = fold(x0), b = fold(x1), c = fold(x2), d = fold(x3);
    const quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) +
                    __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) +
                    __builtin_shufflevector(c, d, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
#else
    return (quad){sum(x0), sum(x1), sum(x2), sum(x3)};
#endif
}

static inline void put(float *result, const float *value, float dot, int add) {
    *result = add ? *result + *value * dot : *value * dot;
}

static inline void put_quad(float *result, const float *value, quad dots, int add) {
    quad products = dots * *(const loose_quad *)value;
    if (add) products += *(const loose_quad *)result;
    *(loose_quad *)result = products;
}

#define OPERAND(u, PREFETCH)                                                                   \
    const float *y##u = others + (int64_t)id[e + u] * stride;                                  \
    KEEP(y##u);                                                                                \
    const float *later##u = PREFETCH ? others + (int64_t)id[e + u + distance] * stride : y##u; \
    vec dot##u = {0};
#define MULTIPLY(u, PREFETCH)                                                                  \
    if (PREFETCH) __builtin_prefetch(later##u + k);                                            \
    dot##u += xk * *(const vec *)(y##u + k);
#define REPEAT_1(M, P) M(0, P)
#define REPEAT_2(M, P) M(0, P) M(1, P)
#define REPEAT_4(M, P) REPEAT_2(M, P) M(2, P) M(3, P)
#define REPEAT_8(M, P) REPEAT_4(M, P) M(4, P) M(5, P) M(6, P) M(7, P)
#define PUT(u) put(result + e + u, value + e + u, sum(dot##u), add);
#define PUT_1 PUT(0)
#define PUT_2 PUT(0) PUT(1)
#define PUT_4 put_quad(result + e, value + e, sums(dot0, dot1, dot2, dot3), add);
#define PUT_8                                                                                  \
    PUT_4 put_quad(result + e + 4, value + e + 4, sums(dot4, dot5, dot6, dot7), add);

#define ENTRIES(UNROLL, PREFETCH)                                                              \
    {                                                                                          \
        REPEAT_##UNROLL(OPERAND, PREFETCH)                                                     \
        for (int64_t k = 0; k < n; k += LANES) {                                               \
            const vec xk = *(const vec *)(x + k);                                              \
            REPEAT_##UNROLL(MULTIPLY, PREFETCH)                                                \
        }                                                                                      \
        PUT_##UNROLL                                                                           \
    }

/* UNROLL entries of a segment at a time share the loads of the segment's operand. */
#define SEGMENT_KERNEL(UNROLL, PREFETCH)                                                       \
    static void dot_##UNROLL##_##PREFETCH(const struct task *task, int64_t from, int64_t to,   \
                                          int64_t j, int64_t n) {                              \
        const struct plan *plan = task->plan;                                                  \
        const int32_t *id = plan->entry_id;                                                    \
        const float *value = plan->value;                                                      \
        const float *own = (plan->segment_is_row ? task->left : task->right) + j;              \
        const float *others = (plan->segment_is_row ? task->right : task->left) + j;           \
        float *result = task->result;                                                          \
        const int64_t stride = task->stride, distance = task->prefetch;                        \
        const int add = j > 0;                                                                 \
        (void)distance;                                                                        \
        for (int64_t s = from; s < to; s++) {                                                  \
            const float *x = own + (int64_t)plan->segment_id[s] * stride;                      \
            int64_t e = plan->segment_entry[s];                                                \
            const int64_t end = plan->segment_entry[s + 1];                                    \
            for (; e + UNROLL <= end; e += UNROLL) ENTRIES(UNROLL, PREFETCH)                   \
            for (; e < end; e++) ENTRIES(1, PREFETCH)                                          \
        }                                                                                      \
    }
SEGMENT_KERNEL(1, 0)
SEGMENT_KERNEL(1, 1)
SEGMENT_KERNEL(2, 0)
SEGMENT_KERNEL(2, 1)
SEGMENT_KERNEL(4, 0)
SEGMENT_KERNEL(4, 1)
SEGMENT_KERNEL(8, 0)
SEGMENT_KERNEL(8, 1)
/* By log2(unroll) and whether to prefetch. */
static const segment_kernel DOT[4][2] = {
    {dot_1_0, dot_1_1}, {dot_2_0, dot_2_1}, {dot_4_0, dot_4_1}, {dot_8_0, dot_8_1}};

/* Dense blocks, in pieces of R x S dot products held in registers. */
#define PIECE_CLEAR(r, c) vec dot##r##c = {0};
#define PIECE_ADD(r, c) dot##r##c += left##r * right##c;
#define LOAD_LEFT(r, c) const vec left##r = *(const vec *)(x + r * stride + k);
#define LOAD_RIGHT(c, r) const vec right##c = *(const vec *)(y + c * stride + k);
#define PAIRS_22(M) M(0, 0) M(0, 1) M(1, 0) M(1, 1)
#define PAIRS_24(M) PAIRS_22(M) M(0, 2) M(0, 3) M(1, 2) M(1, 3)
#define PAIRS_42(M) PAIRS_22(M) M(2, 0) M(2, 1) M(3, 0) M(3, 1)
#define PAIRS_44(M) PAIRS_24(M) M(2, 0) M(2, 1) M(2, 2) M(2, 3) M(3, 0) M(3, 1) M(3, 2) M(3, 3)
#define PUT_ROW_2(r)                                                                           \
    put(result + r * cols, value + r * cols, sum(dot##r##0), add);                             \
    put(result + r * cols + 1, value + r * cols + 1, sum(dot##r##1), add);
#define PUT_ROW_4(r)                                                                           \
    put_quad(result + r * cols, value + r * cols,                                              \
             sums(dot##r##0, dot##r##1, dot##r##2, dot##r##3), add);
#define PUT_ROWS_2(S) PUT_ROW_##S(0) PUT_ROW_##S(1)
#define PUT_ROWS_4(S) PUT_ROWS_2(S) PUT_ROW_##S(2) PUT_ROW_##S(3)
#define PIECE(R, S)                                                                            \
    static void piece_##R##S(const float *x, const float *y, int64_t stride, int64_t n,        \
                             float *result, const float *value, int64_t cols, int add) {       \
        PAIRS_##R##S(PIECE_CLEAR)                                                              \
        for (int64_t k = 0; k < n; k += LANES) {                                               \
            REPEAT_##R(LOAD_LEFT, 0)                                                           \
            REPEAT_##S(LOAD_RIGHT, 0)                                                          \
            PAIRS_##R##S(PIECE_ADD)                                                            \
        }                                                                                      \
        PUT_ROWS_##R(S)                                                                        \
    }
PIECE(2, 2)
PIECE(2, 4)
PIECE(4, 2)
PIECE(4, 4)

static void blocks(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    const struct plan *plan = task->plan;
    const int64_t rows = plan->block_rows, cols = plan->block_cols, stride = task->stride;
    const int64_t high = rows < 4 ? 2 : 4, wide = cols < 4 ? 2 : 4;
    for (int64_t unit = from; unit < to; unit++) {
        const float *x = task->left + (int64_t)plan->segment_id[unit] * stride + j;
        for (int64_t t = plan->unit_tile[unit]; t < plan->unit_tile[unit + 1]; t++) {
            const float *y = task->right + (int64_t)plan->entry_id[t] * stride + j;
            for (int64_t r = 0; r < rows; r += high) {
                for (int64_t c = 0; c < cols; c += wide) {
                    const int64_t at = t * rows * cols + r * cols + c;
                    const float *xr = x + r * stride, *yc = y + c * stride;
                    float *result = task->result + at;
                    const float *value = plan->value + at;
                    if (high == 4 && wide == 4)
                        piece_44(xr, yc, stride, n, result, value, cols, j > 0);
                    else if (high == 4)
                        piece_42(xr, yc, stride, n, result, value, cols, j > 0);
                    else if (wide == 4)
                        piece_24(xr, yc, stride, n, result, value, cols, j > 0);
                    else
                        piece_22(xr, yc, stride, n, result, value, cols, j > 0);
                }
            }
        }
    }
}

/* The loop as a sparse compiler prints it: one scalar sum an entry and slice. */
static void plain(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    const struct plan *plan = task->plan;
    const int64_t stride = task->stride;
    const float *own = (plan->segment_is_row ? task->left : task->right) + j;
    const float *others = (plan->segment_is_row ? task->right : task->left) + j;
    for (int64_t s = from; s < to; s++) {
        const float *restrict x = own + plan->segment_id[s] * stride;
        for (int64_t e = plan->segment_entry[s]; e < plan->segment_entry[s + 1]; e++) {
            const float *restrict y = others + plan->entry_id[e] * stride;
            float dot = 0;
#pragma omp simd reduction(+ : dot)
            for (int64_t j0 = 0; j0 < n; j0++) dot += x[j0] * y[j0];
            put(task->result + e, plan->value + e, dot, j > 0);
        }
    }
}

/* The same with a loop over slices inside the entries. */
static void plain_slices(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    const struct plan *plan = task->plan;
    const int64_t stride = task->stride, end = j + n, step = task->slice;
    const float *own = plan->segment_is_row ? task->left : task->right;
    const float *others = plan->segment_is_row ? task->right : task->left;
    for (int64_t s = from; s < to; s++) {
        const float *restrict x = own + plan->segment_id[s] * stride;
        for (int64_t e = plan->segment_entry[s]; e < plan->segment_entry[s + 1]; e++) {
            const float *restrict y = others + plan->entry_id[e] * stride;
            float dot = 0;
            for (int64_t j1 = j; j1 < end; j1 += step) {
                const int64_t stop = j1 + step < end ? j1 + step : end;
#pragma omp simd reduction(+ : dot)
                for (int64_t j0 = j1; j0 < stop; j0++) dot += x[j0] * y[j0];
            }
            put(task->result + e, plan->value + e, dot, j > 0);
        }
    }
}

void sddmm_run(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    /* The stride is a multiple of 16 floats and the padding is zero on both sides. */
    const int64_t padded = (n + 15) / 16 * 16;
    if (task->inner == PLAIN)
        (task->place == IN_ENTRY && task->slice < n ? plain_slices : plain)(task, from, to, j, n);
    else if (task->plan->block_rows)
        blocks(task, from, to, j, padded);
    else
        DOT[__builtin_ctzll(task->unroll)][task->prefetch > 0](task, from, to, j, padded);
}
