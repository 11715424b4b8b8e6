/* How fast this machine can read memory, gather rows and multiply-add. */
#include "kernels.h"

struct region {
    const float *data;
    int64_t floats;
    int64_t passes;
    const int32_t *row; /* for gathers: `rows` row numbers, each row `row_floats` long */
    int64_t rows, row_floats;
};

/* Summing into eight names keeps loads independent of each other. */
#define SUM_CLEAR(p, ...) vec sum_##p = {0};
#define SUM_ADD(p, pointer) sum_##p += *(const vec *)((pointer) + 0b##p * LANES);
#define SUM_USE(p, ...) __asm__ volatile("" : : "m"(sum_##p));

static void read_share(void *work, int thread, int threads) {
    const struct region *r = work;
    const int64_t step = 8 * LANES, steps = r->floats / step;
    const int64_t from = steps * thread / threads, to = steps * (thread + 1) / threads;
    EACH_8(SUM_CLEAR, 0)
    for (int64_t pass = 0; pass < r->passes; pass++) {
        for (int64_t i = from; i < to; i++) {
            const float *at = r->data + i * step;
            KEEP(at);
            EACH_8(SUM_ADD, 0, at)
        }
    }
    EACH_8(SUM_USE, 0)
}

static void gather_share(void *work, int thread, int threads) {
    const struct region *r = work;
    const int64_t from = r->rows * thread / threads, to = r->rows * (thread + 1) / threads;
    vec sum_0 = {0};
    for (int64_t i = from; i < to; i++) {
        const float *at = r->data + (int64_t)r->row[i] * r->row_floats;
        for (int64_t k = 0; k < r->row_floats; k += LANES) sum_0 += *(const vec *)(at + k);
    }
    SUM_USE(0)
}

#if defined(__x86_64__) || defined(__i386__)
#define IN_REGISTER(x) __asm__ volatile("" : "+v"(x))
#elif defined(__aarch64__)
#define IN_REGISTER(x) __asm__ volatile("" : "+w"(x))
#else
#define IN_REGISTER(x) __asm__ volatile("" : "+m"(x))
#endif

enum { FMA_STEPS = 100000, FMA_CHAINS = 16 };
#define FMA_START(p, ...) vec x_##p = SPLAT(1.0f + 0b##p);
#define FMA_STEP(p, ...)                                                                       \
    x_##p = x_##p * factor + term;                                                             \
    IN_REGISTER(x_##p);

static void multiply_share(void *work, int thread, int threads) {
    const float *given = work;
    const vec factor = SPLAT(given[0]), term = SPLAT(given[1]);
    (void)thread, (void)threads;
    EACH_16(FMA_START, 0)
    for (int i = 0; i < FMA_STEPS; i++) { EACH_16(FMA_STEP, 0) }
}

/* Bytes a second that all threads read of a region together, `passes` times over. */
double read_rate(const float *data, int64_t floats, int64_t passes) {
    struct region region = {.data = data, .floats = floats, .passes = passes};
    const double begin = now();
    run_job(read_share, &region);
    return 4.0 * (double)(floats * passes) / (now() - begin);
}

/* Bytes a second that all threads read of dense rows in the given order. */
double gather_rate(const float *data, const int32_t *row, int64_t rows, int64_t row_floats) {
    struct region region = {.data = data, .row = row, .rows = rows, .row_floats = row_floats};
    const double begin = now();
    run_job(gather_share, &region);
    return 4.0 * (double)(rows * row_floats) / (now() - begin);
}

/* Floating-point operations a second of all threads, a multiply-add counting as two. */
double multiply_rate(int threads) {
    float given[2] = {0.999f, 1e-3f};
    const double begin = now();
    run_job(multiply_share, given);
    return 2.0 * FMA_CHAINS * LANES * FMA_STEPS * threads / (now() - begin);
}
