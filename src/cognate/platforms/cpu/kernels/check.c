/* Compare a result with the reference, leaving NaN behind so that stale results never pass. */
#include "kernels.h"

#include <math.h>

struct truth {
    const float *reference; /* SpMM: rows x width; SDDMM: one an entry in CSR order */
    const float *tolerance; /* SpMM: one a row; SDDMM: one an entry in CSR order */
};

struct check {
    const struct task *task;
    const struct truth *truth;
    int64_t wrong, seen; /* of all threads together */
};

static void check_rows(struct check *c, int64_t from, int64_t to) {
    const struct task *task = c->task;
    int64_t wrong = 0;
    for (int64_t row = from; row < to; row++) {
        float *result = task->result + row * task->stride;
        const float *reference = c->truth->reference + row * task->width;
        const float tolerance = c->truth->tolerance[row];
        for (int64_t j = 0; j < task->width; j++) {
            wrong += !(fabsf(result[j] - reference[j]) <= tolerance);
            result[j] = NAN;
        }
    }
    __atomic_add_fetch(&c->wrong, wrong, __ATOMIC_RELAXED);
}

static void check_entries(struct check *c, int64_t from, int64_t to) {
    const struct task *task = c->task;
    int64_t wrong = 0, seen = 0;
    for (int64_t e = from; e < to; e++) {
        const int32_t source = task->plan->source[e];
        if (source >= 0) {
            const float miss = task->result[e] - c->truth->reference[source];
            wrong += !(fabsf(miss) <= c->truth->tolerance[source]);
            seen++;
        }
        task->result[e] = NAN;
    }
    __atomic_add_fetch(&c->wrong, wrong, __ATOMIC_RELAXED);
    __atomic_add_fetch(&c->seen, seen, __ATOMIC_RELAXED);
}

static void check_share(void *work, int thread, int threads) {
    struct check *c = work;
    const int64_t size = c->task->operation == SPMM ? c->task->rows : c->task->plan->entries;
    const int64_t from = size * thread / threads, to = size * (thread + 1) / threads;
    if (c->task->operation == SPMM)
        check_rows(c, from, to);
    else
        check_entries(c, from, to);
}

/* How many elements miss the reference by more than their tolerance. For SDDMM, every entry
 * of the matrix must occur in the plan once. */
int64_t check(const struct task *task, const struct truth *truth, int64_t entries) {
    struct check c = {.task = task, .truth = truth};
    run_job(check_share, &c);
    if (task->operation == SPMM) return c.wrong;
    return c.wrong + (c.seen > entries ? c.seen - entries : entries - c.seen);
}

void poison(float *result, int64_t floats) {
    for (int64_t i = 0; i < floats; i++) result[i] = NAN;
}
