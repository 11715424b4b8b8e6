/* What a sparse compiler prints by default (CSR, rows in parallel, dynamic chunks of 32). */
#include <stdint.h>
#include <string.h>

void taco_spmm(int64_t rows, int64_t width, const int32_t *restrict start,
               const int32_t *restrict col, const float *restrict value, const float *restrict B,
               float *restrict C) {
    memset(C, 0, (size_t)(rows * width) * sizeof *C);
#pragma omp parallel for schedule(dynamic, 32)
    for (int32_t i = 0; i < rows; i++)
        for (int32_t p = start[i]; p < start[i + 1]; p++)
            for (int32_t j = 0; j < width; j++)
                C[i * width + j] = C[i * width + j] + value[p] * B[col[p] * width + j];
}

void taco_sddmm(int64_t rows, int64_t width, const int32_t *restrict start,
                const int32_t *restrict col, const float *restrict value, const float *restrict B,
                const float *restrict D, float *restrict C) {
#pragma omp parallel for schedule(dynamic, 32)
    for (int32_t i = 0; i < rows; i++)
        for (int32_t p = start[i]; p < start[i + 1]; p++) {
            float sum = 0;
            for (int32_t j = 0; j < width; j++) sum += B[i * width + j] * D[col[p] * width + j];
            C[p] = value[p] * sum;
        }
}
