/* What the simulator works on: the machine, the tiled matrix, the state of a run. */
#ifndef COGNATE_SPADE_MODEL_H
#define COGNATE_SPADE_MODEL_H

#ifndef CACHE_HEADER /* benchmarks/simulator.py builds with a naive one, for comparison */
#define CACHE_HEADER "cache.h"
#endif
#include CACHE_HEADER
#include "modulo.h"

/* Inlined into the loop over entries, what it calls now and then would slow all of it. */
#define OUT_OF_LINE static __attribute__((noinline))

typedef int64_t i64;
typedef uint32_t u32;

enum { ENTRIES_A_LINE = 16, STREAMS = 3, STATION_MASK = 63, MOST_GROUPS = 64 };
enum { MOST_REGISTERS = 64, BIN_PS = 50000 };
enum { SPMM, SDDMM };
enum { ISSUE, DEPENDENCE, SPARSE, L1, L2, LLC, DRAM, BARRIER, IMBALANCE, CAUSES };
enum { HITS_VRF, MISSES_VRF, HITS_L1, MISSES_L1, HITS_VC, MISSES_VC, HITS_L2, MISSES_L2,
       HITS_LLC, MISSES_LLC, COUNTS };
enum { READ_SPARSE, READ_R, READ_C, WRITE_R, READ_OUT, WRITE_OUT, TRAFFICS };

typedef struct {
    i64 pes, pes_per_l2, cycle_ps, quantum_ps, dynamic;
    i64 registers, dirty_high, dirty_low, window, simd_ps, sparse_groups;
    i64 l1_sets, l1_ways, vc_sets, vc_ways, l2_sets, l2_ways, llc_sets, llc_ways;
    i64 l1_ps, vc_ps, l2_ps, llc_ps, lookup_ps, link_ps, dram_ps;
    i64 channels, line_ps, l2_line_fs, llc_line_fs;
} Machine;

typedef struct {
    i64 entries, tiles, phases, panels;
    const int32_t *row, *col;  /* (entries): coordinates in the order of the walk */
    const i64 *tile_start;     /* (tiles + 1): first entry */
    const int32_t *tile_panel; /* (tiles): row panel */
    const i64 *phase_start;    /* (phases + 1): first tile; phases end in a barrier */
} Tiling;

typedef struct {
    i64 operation, rows, cols, lines, bypass, used_rows;
    i64 slices, extrapolate; /* extrapolate: stop when slices repeat */
    i64 *timeline;           /* (pes, timeline_bins): issue time of each PE, or null */
    i64 timeline_bins, timeline_ps;
} Work;

typedef struct {
    i64 ps;                /* time from the start */
    i64 causes[CAUSES];    /* PE time by what it was spent on, summed over PEs */
    i64 counts[COUNTS];    /* lines */
    i64 traffic[TRAFFICS]; /* lines to and from memory */
} Totals;

typedef struct {
    Totals after[3];       /* up to the end of the last three slices that were simulated */
    i64 flush_ps, flushed; /* time and lines of the final write-back to memory */
    i64 slices;            /* how many were simulated; the rest repeat the last */
} Result;

typedef struct {
    i64 now, ready_row, ready_output; /* when the r row is there, and the output register */
    i64 entry, tile_end, tile_first, tile, groups_issued;
    u32 row;                        /* identity of the current r row, 0 before the first */
    uint8_t row_cause;
    i64 stations[STATION_MASK + 1]; /* a ring, in order, see hold() */
    u32 first_station;
    i64 group_ready[MOST_GROUPS];
    u32 vector_rows[MOST_REGISTERS]; /* tags of the vector registers, see Cache */
    u32 dirty[MOST_REGISTERS];       /* dirty rows in them, oldest first */
    u32 dirty_count;
    Cache registers, l1, vc;
} Pe;

typedef struct {
    i64 from, to; /* bins from .. to-1 are known to be full */
} Full;

/* Something of limited bandwidth: busy time of `channels` channels in bins of time. */
typedef struct {
    i64 row_ps, bins, channels, first_bin; /* row_ps: what a dense row takes, 0 if unlimited */
    u32 *busy;                             /* (bins, channels), a ring of bins */
    Full *full;
} Port;

typedef struct {
    const Machine *m;
    const Work *w;
    const Tiling *t;
    Totals *out;
    Pe *pe;
    Cache *l2;
    Cache llc;
    uint8_t *seen; /* instead of the LLC's tags where all rows fit: whether each was used */
    i64 window, step_ps, issue_ps, prefetches;
    u32 row_base, col_base; /* identities of row 0 and column 0 in this slice */
    u32 slice_ids;
    Port memory, l2_port, llc_port;
    Full *full_row;
    i64 row_channels, row_ps;
    u32 row_groups;
    uint64_t group_inverse, channel_inverse; /* of row_groups and of the channels, see modulo() */
    /* assignment: lists of units (first tiles) for each PE and one for all */
    i64 *next, *head, *tail, *owner;
    i64 *clock; /* (pes): each PE's clock, INT64_MAX when it is done with the phase */
} Sim;

#endif
