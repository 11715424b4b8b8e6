/* Compare a result with the reference, leaving NaN behind so that stale results never pass. */
#include "kernels.h"

#include <math.h>

struct truth {
    const float *reference; /* SpMM: rows x width; SDDMM: one an entry in CSR order */
    const float *tolerance; /* SpMM: one a row; SDDMM: one an entry in CSR order */
};

/* Elements of rows [from, to) that miss the reference by more than their tolerance. */
static int64_t check_rows(const struct task *task, const struct truth *truth, int64_t from,
                          int64_t to) {
    int64_t wrong = 0;
    for (int64_t row = from; row < to; row++) {
        float *result = task->result + row * task->stride;
        const float *reference = truth->reference + row * task->width;
        const float tolerance = truth->tolerance[row];
        for (int64_t j = 0; j < task->width; j++) {
            wrong += !(fabsf(result[j] - reference[j]) <= tolerance);
            result[j] = NAN;
        }
    }
    return wrong;
}

/* Entries [from, to) of the plan that miss the reference; *seen counts those of the matrix. */
static int64_t check_entries(const struct task *task, const struct truth *truth, int64_t from,
                             int64_t to, int64_t *seen) {
    int64_t wrong = 0, present = 0;
    for (int64_t e = from; e < to; e++) {
        const int32_t source = task->plan->source[e];
        if (source >= 0) {
            present++;
            const float miss = task->result[e] - truth->reference[source];
            wrong += !(fabsf(miss) <= truth->tolerance[source]);
        }
        task->result[e] = NAN;
    }
    *seen = present;
    return wrong;
}

/* How many elements are wrong. For SDDMM every entry of the matrix must occur once. */
int64_t check(const struct task *task, const struct truth *truth, int64_t entries) {
    if (task->operation == SPMM) return check_rows(task, truth, 0, task->rows);
    int64_t seen = 0;
    const int64_t wrong = check_entries(task, truth, 0, task->plan->entries, &seen);
    return wrong + (seen > entries ? seen - entries : entries - seen);
}

void poison(float *result, int64_t floats) {
    for (int64_t i = 0; i < floats; i++) result[i] = NAN;
}
