/* The SPADE accelerator, access by access: see docs/simulator.md for the model's rules.
 *
 * Times are picoseconds, capacities are 64-byte lines, one entry is one nonzero. A dense row
 * (or the slice of it that is being computed) is L lines and is touched as a whole. PEs run in
 * turn, each until its clock passes the end of a short quantum. Integers only, so that a
 * result is the same everywhere.
 */
#include "memory.h"

#include <math.h>
#include <stdlib.h>

enum { AHEAD = 3, TAGS_HELD = 1 << 18 }; /* prefetching tags: how far, from which count on */

/* ---- the pipeline ------------------------------------------------------------------ */

static inline void wait_until(Sim *s, Pe *pe, i64 at, int cause) {
    if (at > pe->now) {
        s->out->causes[cause] += at - pe->now;
        pe->now = at;
    }
}

/* Request the lines of one group of 16 entries: row, column, value (and earlier output). */
OUT_OF_LINE void request_group(Sim *s, Pe *pe, i64 group, i64 at) {
    i64 ready = at;
    for (int stream = 0; stream < STREAMS; stream++) {
        i64 done = memory_line(s, group, stream, READ_SPARSE, at + stream * s->m->cycle_ps);
        ready = done > ready ? done : ready;
    }
    if (s->w->operation == SDDMM && s->slice_ids < s->row_base) {
        i64 done = memory_line(s, group, STREAMS, READ_OUT, at + STREAMS * s->m->cycle_ps);
        ready = done > ready ? done : ready;
    }
    pe->group_ready[group % s->m->sparse_groups] = ready;
}

static void open_tile(Sim *s, Pe *pe, i64 tile) {
    pe->tile = tile;
    pe->entry = pe->tile_first = s->t->tile_start[tile];
    pe->tile_end = s->t->tile_start[tile + 1];
    i64 first = pe->entry / ENTRIES_A_LINE, last = (pe->tile_end - 1) / ENTRIES_A_LINE;
    i64 group = first;
    for (; group <= last && group < first + s->m->sparse_groups; group++)
        request_group(s, pe, group, pe->now + (group - first) * STREAMS * s->m->cycle_ps);
    pe->groups_issued = group;
    wait_until(s, pe, pe->group_ready[first % s->m->sparse_groups], SPARSE);
}

/* Take the next unit from this PE's own list, else from the common one; -1 if none. */
static i64 next_unit(Sim *s, i64 p) {
    i64 list = s->head[p] >= 0 ? p : s->m->pes;
    i64 tile = s->head[list];
    if (tile >= 0) {
        s->head[list] = s->next[tile];
        if (s->w->operation == SPMM) s->owner[s->t->tile_panel[tile]] = p;
    }
    return tile;
}

/* Go to the next tile of this phase; 0 when there is none left for this PE. */
OUT_OF_LINE int next_tile(Sim *s, i64 p, i64 phase_end) {
    Pe *pe = s->pe + p;
    i64 tile = pe->tile + 1;
    int same_unit = pe->tile >= 0 && s->w->operation == SPMM && tile < phase_end &&
                    s->t->tile_panel[tile] == s->t->tile_panel[pe->tile];
    if (!same_unit) tile = next_unit(s, p);
    if (tile < 0) return 0;
    open_tile(s, pe, tile);
    return 1;
}

static inline void write_outputs(Sim *s, Pe *pe) {
    i64 done = pe->entry - pe->tile_first;
    if (done % ENTRIES_A_LINE == 0 || pe->entry == pe->tile_end)
        memory_line(s, pe->entry / ENTRIES_A_LINE, STREAMS, WRITE_OUT, pe->now);
}

/* Reservation stations: when each is free again and why it was held, soonest first. */
static inline i64 hold(i64 until, int cause) { return until << 4 | cause; }

static inline i64 free_station(Pe *pe) { return pe->stations[pe->first_station & STATION_MASK]; }

/* Use the station that is free first until `held` says; most times that is the latest yet. */
static inline void take_station(Pe *pe, i64 window, i64 held) {
    u32 place = ++pe->first_station + (u32)window - 1;
    while (place != pe->first_station && pe->stations[(place - 1) & STATION_MASK] > held) {
        pe->stations[place & STATION_MASK] = pe->stations[(place - 1) & STATION_MASK];
        place--;
    }
    pe->stations[place & STATION_MASK] = held;
}

/* Ask this computer for the tags that a later entry will need: they exceed its own caches. */
ALWAYS_INLINE void look_ahead(Sim *s, Cache *l2, i64 entry) {
    if (entry >= s->t->entries) return;
    u32 col = s->col_base + (u32)s->t->col[entry];
    prefetch(l2, col);
    if (s->seen) __builtin_prefetch(s->seen + col, 1);
    else prefetch(&s->llc, col);
}

static void mark_busy(Sim *s, const Pe *pe) {
    i64 bin = pe->now / s->w->timeline_ps, last = s->w->timeline_bins - 1;
    s->w->timeline[(pe - s->pe) * (last + 1) + (bin < last ? bin : last)] += s->issue_ps;
}

/* One entry: its r row, its c row, its operations. */
static inline void run_entry(Sim *s, Pe *pe, Cache *l2) {
    i64 groups = s->m->sparse_groups, entry = pe->entry++;
    if (entry % ENTRIES_A_LINE == 0 && entry != pe->tile_first) {
        i64 group = entry / ENTRIES_A_LINE;
        if (pe->groups_issued <= (pe->tile_end - 1) / ENTRIES_A_LINE)
            request_group(s, pe, pe->groups_issued++, pe->now);
        wait_until(s, pe, pe->group_ready[group % groups], SPARSE);
    }
    i64 station = free_station(pe);
    wait_until(s, pe, station >> 4, station & 15);

    if (s->prefetches) look_ahead(s, l2, entry + AHEAD);
    u32 row = s->row_base + (u32)s->t->row[entry], col = s->col_base + (u32)s->t->col[entry];
    if (row != pe->row) change_row(s, pe, l2, row);
    if (s->w->operation == SDDMM && (entry - pe->tile_first) % ENTRIES_A_LINE == 0)
        pe->ready_output = 0;
    uint8_t cause = ISSUE;
    i64 ready = pe->now;
    if (touch_registers(s, pe, l2, col)) {
        s->out->counts[HITS_VRF] += s->w->lines;
    } else {
        s->out->counts[MISSES_VRF] += s->w->lines;
        ready = read_cached(s, pe, l2, col, READ_C, &cause);
    }
    if (pe->ready_row > ready) ready = pe->ready_row, cause = pe->row_cause;
    if (pe->ready_output > ready) ready = pe->ready_output, cause = DEPENDENCE;
    take_station(pe, s->window, hold(ready + s->m->simd_ps, cause));
    pe->ready_output = ready + s->step_ps;
    s->out->causes[ISSUE] += s->issue_ps;
    if (s->w->timeline) mark_busy(s, pe);
    pe->now += s->issue_ps;
    if (s->w->operation == SDDMM) write_outputs(s, pe);
}

/* Run a PE until its clock reaches `until`; 0 when it has nothing left to do in this phase. */
static int run_pe(Sim *s, i64 p, i64 until, i64 phase_end) {
    Pe *pe = s->pe + p;
    Cache *l2 = s->l2 + p / s->m->pes_per_l2;
    while (pe->now < until) {
        if (pe->entry == pe->tile_end && !next_tile(s, p, phase_end)) {
            i64 last = pe->stations[(pe->first_station + s->window - 1) & STATION_MASK];
            wait_until(s, pe, last >> 4, last & 15);
            return 0;
        }
        run_entry(s, pe, l2);
    }
    return 1;
}

/* ---- the walk ---------------------------------------------------------------------- */

static void append(Sim *s, i64 list, i64 tile) {
    s->next[tile] = -1;
    if (s->head[list] < 0) s->head[list] = tile;
    else s->next[s->tail[list]] = tile;
    s->tail[list] = tile;
}

/* List the units of a phase: those of known owner on the owner's list, the rest for all. */
static void assign_units(Sim *s, i64 phase) {
    i64 pes = s->m->pes, first = s->t->phase_start[phase], last = s->t->phase_start[phase + 1];
    for (i64 p = 0; p <= pes; p++) s->head[p] = -1;
    for (i64 tile = first; tile < last; tile++) {
        i64 panel = s->t->tile_panel[tile];
        if (s->w->operation == SPMM && tile > first && panel == s->t->tile_panel[tile - 1])
            continue;
        i64 owner = s->m->dynamic ? s->owner[panel] : panel % pes;
        append(s, owner >= 0 ? owner : pes, tile);
    }
}

/* Let every PE whose clock is before `until` run; returns the earliest clock after that. */
static i64 run_quantum(Sim *s, i64 until, i64 phase_end) {
    i64 earliest = INT64_MAX;
    for (i64 p = 0; p < s->m->pes; p++) {
        if (s->clock[p] < until)
            s->clock[p] = run_pe(s, p, until, phase_end) ? s->pe[p].now : INT64_MAX;
        earliest = s->clock[p] < earliest ? s->clock[p] : earliest;
    }
    return earliest;
}

static void run_phase(Sim *s, i64 phase, int cause) {
    i64 pes = s->m->pes, end = s->pe[0].now, next = end;
    assign_units(s, phase);
    for (i64 p = 0; p < pes; p++) s->pe[p].tile = -1, s->clock[p] = end;
    for (i64 until = end; next < INT64_MAX;) {
        forget_before(&s->memory, until);
        forget_before(&s->l2_port, until);
        forget_before(&s->llc_port, until);
        until += s->m->quantum_ps;
        next = run_quantum(s, until, s->t->phase_start[phase + 1]);
        if (next < INT64_MAX && next > until) until = next;
    }
    for (i64 p = 0; p < pes; p++) end = s->pe[p].now > end ? s->pe[p].now : end;
    for (i64 p = 0; p < pes; p++) wait_until(s, s->pe + p, end, cause);
}

/* Empty registers into L1 or the victim cache, L1 into L2, victim caches into memory. */
static i64 flush(Sim *s) {
    i64 most = 0, written = 0, lines = s->w->lines;
    for (i64 p = 0; p < s->m->pes; p++) {
        Pe *pe = s->pe + p;
        Cache *l2 = s->l2 + p / s->m->pes_per_l2;
        retire_row(s, pe, l2);
        for (u32 i = 0; i < pe->dirty_count; i++) write_row(s, pe, l2, pe->dirty[i]);
        i64 cached = dirty_rows(&pe->l1) * lines;
        most = cached > most ? cached : most;
        if (pe->vc.ways) written += dirty_rows(&pe->vc) * lines;
        if (!s->l2->ways && !s->llc.ways) written += cached;
    }
    s->out->traffic[WRITE_R] += written;
    i64 to_l2 = most * s->m->cycle_ps, to_memory = written * s->m->line_ps / s->m->channels;
    return to_l2 > to_memory ? to_l2 : to_memory;
}

/* ---- setting up -------------------------------------------------------------------- */

static u32 *place(Cache *cache, u32 *tags, i64 size) {
    cache->tags = tags;
    return tags + size;
}

static u32 *set_up_caches(Sim *s) {
    const Machine *m = s->m;
    i64 lines = s->w->lines, groups = (m->pes + m->pes_per_l2 - 1) / m->pes_per_l2;
    Cache l1, vc, l2;
    i64 l1_size = shape(&l1, m->l1_sets, m->l1_ways, lines);
    i64 vc_size = shape(&vc, s->w->bypass ? m->vc_sets : 0, m->vc_ways, lines);
    i64 l2_size = shape(&l2, m->l2_sets, m->l2_ways, lines);
    i64 llc_size = shape(&s->llc, m->llc_sets, m->llc_ways, lines);
    i64 ids = 1 + s->w->slices * (s->w->rows + s->w->cols);
    if (holds_all(&s->llc, ids)) {
        s->seen = calloc((size_t)ids, sizeof *s->seen);
        if (!s->seen) return NULL;
        llc_size = 0;
    }
    u32 *tags = calloc((size_t)(m->pes * (l1_size + vc_size) + groups * l2_size + llc_size + 64),
                       sizeof *tags);
    if (!tags) return NULL;
    s->prefetches = groups * l2_size + llc_size > TAGS_HELD;
    u32 *at = tags;
    i64 held = m->registers / lines - 1; /* the current r row has its own registers */
    for (i64 p = 0; p < m->pes; p++) {
        Pe *pe = s->pe + p;
        pe->l1 = l1, pe->vc = vc;
        at = place(&pe->l1, at, l1_size);
        at = place(&pe->vc, at, vc_size);
        shape(&pe->registers, 1, held > 1 ? held : 1, 1);
        pe->registers.tags = pe->vector_rows;
    }
    for (i64 g = 0; g < groups; g++) {
        s->l2[g] = l2;
        at = place(&s->l2[g], at, l2_size);
    }
    place(&s->llc, at, llc_size);
    return tags;
}

/* A port of `channels` channels with room for `horizon_ps`; returns 0 without memory. */
static int set_up_port(Port *port, i64 row_ps, i64 channels, i64 horizon_ps) {
    port->row_ps = row_ps;
    port->channels = channels;
    if (!row_ps) return 1;
    for (port->bins = 64; port->bins < horizon_ps / BIN_PS;) port->bins *= 2;
    port->busy = calloc((size_t)(port->bins * channels), sizeof *port->busy);
    port->full = calloc((size_t)channels, sizeof *port->full);
    return port->busy && port->full;
}

/* Horizons cover all that can be asked for at once, several times over. */
static int set_up_ports(Sim *s) {
    const Machine *m = s->m;
    i64 lines = s->w->lines, groups = (m->pes + m->pes_per_l2 - 1) / m->pes_per_l2;
    i64 each = 3 * m->window + m->registers + 4 * m->sparse_groups + 8 * lines;
    i64 wait = 2 * m->quantum_ps + m->link_ps + m->dram_ps + m->llc_ps;
    i64 horizon = 4 * m->pes * each * m->line_ps / m->channels + wait;
    s->row_channels = lines < m->channels ? lines : m->channels;
    s->row_groups = (u32)(m->channels / s->row_channels);
    s->group_inverse = inverse_of(s->row_groups);
    s->channel_inverse = inverse_of((u32)m->channels);
    s->row_ps = (lines * m->line_ps + s->row_channels - 1) / s->row_channels;
    s->full_row = calloc((size_t)m->channels, sizeof *s->full_row);
    return s->full_row && set_up_port(&s->memory, s->row_ps, m->channels, horizon) &&
           set_up_port(&s->l2_port, lines * m->l2_line_fs / 1000, groups, horizon) &&
           set_up_port(&s->llc_port, lines * m->llc_line_fs / 1000, 1, horizon);
}

/* The caches from which outputs go to memory: how many they are, and their first. */
static i64 last_caches(Sim *s, Cache **first, size_t *stride) {
    *stride = sizeof(Pe);
    if (s->w->bypass) return *first = &s->pe->vc, s->pe->vc.ways ? s->m->pes : 0;
    if (s->llc.ways) return *first = &s->llc, 1;
    *stride = sizeof(Cache), *first = s->l2;
    return s->l2->ways ? (s->m->pes + s->m->pes_per_l2 - 1) / s->m->pes_per_l2 : 0;
}

/* How many more slices fit in what is empty of those caches, when one took `grown` rows. */
static double slices_that_fit(Sim *s, i64 held_before, i64 *held_now) {
    Cache *cache;
    size_t stride;
    i64 count = last_caches(s, &cache, &stride), held = 0, room = 0;
    if (s->seen && !s->w->bypass) return HUGE_VAL;
    for (i64 i = 0; i < count; i++, cache = (Cache *)((char *)cache + stride)) {
        held += held_rows(cache);
        room += (i64)cache->sets * cache->ways;
    }
    *held_now = held;
    return held > held_before ? (double)(room - held) / (double)(held - held_before) : 0;
}

/* Whether the slices left would repeat this one, the second or a later one. SDDMM repeats its
 * second slice. In SpMM outputs go to memory only once the caches are full of them: slices
 * repeat until then, if that comes too late to matter, or once a slice writes just what it
 * produces, or two running write the same and no less than that. */
static int is_steady(const Sim *s, const Totals *after, double fit, i64 slices_left) {
    if (s->w->operation == SDDMM || fit >= (double)slices_left) return 1;
    i64 produced = s->w->used_rows * s->w->lines;
    i64 written = after[2].traffic[WRITE_R] - after[1].traffic[WRITE_R];
    i64 earlier = after[1].traffic[WRITE_R] - after[0].traffic[WRITE_R];
    if (100 * llabs(written - produced) <= produced) return 1;
    return 100 * written >= 98 * produced && 100 * llabs(written - earlier) <= written;
}

/* Run slices, each ending in a barrier, until all are done or the rest is known. */
static void run(Sim *s, Result *result) {
    i64 slices = s->w->slices, held = 0, held_before;
    u32 ids = (u32)(s->w->rows + s->w->cols);
    Totals *after = result->after;
    s->slice_ids = ids;
    for (i64 slice = 0; slice < slices; slice++) {
        s->row_base = 1 + (u32)slice * ids;
        s->col_base = s->row_base + (u32)s->w->rows;
        for (i64 phase = 0; phase < s->t->phases; phase++) {
            int is_last = slice == slices - 1 && phase == s->t->phases - 1;
            run_phase(s, phase, is_last ? IMBALANCE : BARRIER);
        }
        s->out->ps = s->pe[0].now;
        after[0] = after[1], after[1] = after[2], after[2] = *s->out;
        result->slices = slice + 1;
        if (!s->w->extrapolate || slices < 3) continue;
        held_before = held;
        double fit = slices_that_fit(s, held_before, &held);
        if (slice > 0 && is_steady(s, after, fit, slices - slice - 1)) break;
    }
    i64 written = s->out->traffic[WRITE_R];
    result->flush_ps = flush(s);
    result->flushed = s->out->traffic[WRITE_R] - written;
}

/* Simulate `work` on `tiling`. Returns 0, or 1 when there is not enough memory. */
int simulate(const Machine *machine, const Tiling *tiling, const Work *work, Result *result) {
    Totals totals = {0};
    Sim s = {.m = machine, .w = work, .t = tiling, .out = &totals};
    memset(result, 0, sizeof *result);
    i64 lines = work->lines, per_issue = lines * machine->cycle_ps;
    s.window = machine->window / lines > 1 ? machine->window / lines : 1;
    s.issue_ps = per_issue;
    s.step_ps = machine->simd_ps > per_issue ? machine->simd_ps : per_issue;
    i64 lists = machine->pes + 1;
    s.pe = calloc((size_t)machine->pes, sizeof *s.pe);
    s.l2 = calloc((size_t)machine->pes, sizeof *s.l2);
    s.next = malloc(sizeof *s.next * (size_t)(tiling->tiles + 3 * lists + tiling->panels + 1));
    u32 *tags = s.pe && s.l2 ? set_up_caches(&s) : NULL;
    int status = 1;
    if (tags && set_up_ports(&s) && s.next) {
        s.head = s.next + tiling->tiles;
        s.tail = s.head + lists;
        s.clock = s.tail + lists;
        s.owner = s.clock + lists;
        for (i64 i = 0; i < tiling->panels; i++) s.owner[i] = -1;
        run(&s, result);
        status = 0;
    }
    Port *ports[] = {&s.memory, &s.l2_port, &s.llc_port};
    for (int i = 0; i < 3; i++) free(ports[i]->busy), free(ports[i]->full);
    free(s.full_row), free(s.next), free(s.seen), free(tags), free(s.l2), free(s.pe);
    return status;
}
