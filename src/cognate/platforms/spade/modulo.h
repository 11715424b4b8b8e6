/* Remainders by multiplication with an inverse, instead of a division for each. */
#ifndef COGNATE_SPADE_MODULO_H
#define COGNATE_SPADE_MODULO_H

#include <stdint.h>

/* 2^64 / divisor, rounded up. */
static inline uint64_t inverse_of(uint32_t divisor) { return UINT64_MAX / divisor + 1; }

/* value % divisor (Lemire, Kaser and Kurz 2019: exact for 32-bit operands). */
static inline uint32_t modulo(uint32_t value, uint32_t divisor, uint64_t inverse) {
    return (uint32_t)(((unsigned __int128)(inverse * value) * divisor) >> 64);
}

#endif
