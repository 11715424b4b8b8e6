/* The memory system: ports of limited bandwidth, the caches behind each other, registers. */
#ifndef COGNATE_SPADE_MEMORY_H
#define COGNATE_SPADE_MEMORY_H

#include "model.h"

/* ---- bandwidth --------------------------------------------------------------------- */

static inline u32 *bin_of(const Port *port, i64 bin) {
    return port->busy + (bin & (port->bins - 1)) * port->channels;
}

/* Fill one channel from `bin` on until `each` ps are placed; the last bin takes any rest. */
static void spill(Port *port, i64 channel, i64 each, i64 bin, i64 last) {
    for (; each > 0; bin++) {
        u32 *busy = bin_of(port, bin) + channel;
        i64 room = bin >= last ? each : BIN_PS - (i64)*busy;
        i64 placed = each < room ? each : room;
        *busy += (u32)placed;
        each -= placed;
    }
}

/* Occupy `wide` channels from `first` for `each` ps, from the first time bin with room on all
 * of them and on into the next ones; returns when that begins. Bins do not mind that PEs come
 * out of order within a quantum. */
static inline i64 occupy(Port *port, Full *full, i64 first, i64 wide, i64 each, i64 at) {
    i64 bin = at / BIN_PS, own = bin, last = port->first_bin + port->bins - 1, most;
    for (;; bin++) {
        if (bin >= full->from && bin < full->to) bin = full->to;
        const u32 *busy = bin_of(port, bin) + first;
        most = 0;
        for (i64 c = 0; c < wide; c++) most = busy[c] > most ? busy[c] : most;
        if (most < BIN_PS || bin >= last) break;
        if (bin == full->to) full->to++;
        else full->from = bin, full->to = bin + 1;
    }
    u32 *busy = bin_of(port, bin) + first;
    if (most + each <= BIN_PS)
        for (i64 c = 0; c < wide; c++) busy[c] += (u32)each;
    else
        for (i64 c = 0; c < wide; c++) spill(port, first + c, each, bin, last);
    i64 start = bin == own ? at : bin * BIN_PS + most;
    return start > at ? start : at;
}

OUT_OF_LINE i64 memory_row(Sim *s, u32 id, int kind, i64 at) {
    s->out->traffic[kind] += s->w->lines;
    u32 group = modulo(id ^ id >> 4 ^ id >> 9, s->row_groups, s->group_inverse);
    return occupy(&s->memory, s->full_row + group, group * s->row_channels, s->row_channels,
                  s->row_ps, at) + s->m->link_ps + s->m->dram_ps;
}

static inline i64 memory_line(Sim *s, i64 line, int stream, int kind, i64 at) {
    s->out->traffic[kind]++;
    u32 hash = (u32)(line + 5 * stream);
    u32 channel = modulo(hash ^ hash >> 4 ^ hash >> 9, (u32)s->m->channels, s->channel_inverse);
    return occupy(&s->memory, s->memory.full + channel, channel, 1, s->m->line_ps, at) +
           s->m->link_ps + s->m->dram_ps;
}

/* A row through a cache's port; returns when its turn comes. */
static inline i64 port_row(Port *port, i64 channel, i64 at) {
    if (!port->row_ps) return at;
    return occupy(port, port->full + channel, channel, 1, port->row_ps, at);
}

/* Bins before `at` will not be asked for again. */
static void forget_before(Port *port, i64 at) {
    i64 bin = at / BIN_PS;
    size_t row = sizeof *port->busy * (size_t)port->channels;
    if (!port->bins) return;
    if (bin - port->first_bin >= port->bins)
        memset(port->busy, 0, row * (size_t)port->bins);
    else
        for (i64 b = port->first_bin; b < bin; b++) memset(bin_of(port, b), 0, row);
    port->first_bin = bin;
}

/* ---- caches ------------------------------------------------------------------------ */

/* Use a row in the LLC; see `seen` in Sim. */
static inline int touch_llc(Sim *s, u32 id, u32 dirty, u32 *victim) {
    if (!s->seen) return touch(&s->llc, id, dirty, victim);
    int held = s->seen[id];
    s->seen[id] = 1;
    return held;
}

static inline void write_llc(Sim *s, u32 id, i64 at) {
    u32 victim = 0;
    if (!s->llc.ways) {
        memory_row(s, id, WRITE_R, at);
        return;
    }
    if (!touch_llc(s, id, DIRTY, &victim) && victim & DIRTY)
        memory_row(s, victim & ~DIRTY, WRITE_R, at);
}

static inline void write_l2(Sim *s, Cache *l2, u32 id, i64 at) {
    u32 victim = 0;
    if (!l2->ways) write_llc(s, id, at);
    else if (!touch(l2, id, DIRTY, &victim) && victim & DIRTY)
        write_llc(s, victim & ~DIRTY, at);
}

/* Read a row through L2 and the LLC; returns when it is ready and from where. */
static inline i64 read_shared(Sim *s, Cache *l2, u32 id, int kind, i64 at, uint8_t *cause) {
    const Machine *m = s->m;
    i64 lines = s->w->lines, *counts = s->out->counts;
    u32 victim = 0;
    if (l2->ways) {
        at = port_row(&s->l2_port, l2 - s->l2, at);
        if (touch(l2, id, 0, &victim)) {
            counts[HITS_L2] += lines;
            *cause = L2;
            return at + m->l2_ps;
        }
        counts[MISSES_L2] += lines;
        if (victim & DIRTY) write_llc(s, victim & ~DIRTY, at);
    }
    if (s->llc.ways) {
        victim = 0;
        at = port_row(&s->llc_port, 0, at);
        if (touch_llc(s, id, 0, &victim)) {
            counts[HITS_LLC] += lines;
            *cause = LLC;
            return at + m->llc_ps;
        }
        counts[MISSES_LLC] += lines;
        if (victim & DIRTY) memory_row(s, victim & ~DIRTY, WRITE_R, at);
    }
    *cause = DRAM;
    return memory_row(s, id, kind, at + m->lookup_ps);
}

static inline i64 read_cached(Sim *s, Pe *pe, Cache *l2, u32 id, int kind, uint8_t *cause) {
    u32 victim = 0;
    if (touch(&pe->l1, id, 0, &victim)) {
        s->out->counts[HITS_L1] += s->w->lines;
        *cause = L1;
        return pe->now + s->m->l1_ps;
    }
    s->out->counts[MISSES_L1] += s->w->lines;
    if (victim & DIRTY) write_l2(s, l2, victim & ~DIRTY, pe->now);
    return read_shared(s, l2, id, kind, pe->now, cause);
}

/* An r row past the caches: through the bypass buffer's victim cache to memory. */
static inline i64 read_bypassing(Sim *s, Pe *pe, u32 id, uint8_t *cause) {
    u32 victim = 0;
    if (pe->vc.ways) {
        if (touch(&pe->vc, id, 0, &victim)) {
            s->out->counts[HITS_VC] += s->w->lines;
            *cause = L1;
            return pe->now + s->m->vc_ps;
        }
        s->out->counts[MISSES_VC] += s->w->lines;
        if (victim & DIRTY) memory_row(s, victim & ~DIRTY, WRITE_R, pe->now);
    }
    *cause = DRAM;
    return memory_row(s, id, READ_R, pe->now);
}

/* Write an output row back from the vector registers. */
static inline void write_row(Sim *s, Pe *pe, Cache *l2, u32 id) {
    u32 victim = 0;
    if (!s->w->bypass) {
        if (!touch(&pe->l1, id, DIRTY, &victim) && victim & DIRTY)
            write_l2(s, l2, victim & ~DIRTY, pe->now);
    } else if (!pe->vc.ways) {
        memory_row(s, id, WRITE_R, pe->now);
    } else if (!touch(&pe->vc, id, DIRTY, &victim) && victim & DIRTY) {
        memory_row(s, victim & ~DIRTY, WRITE_R, pe->now);
    }
}

/* ---- vector registers -------------------------------------------------------------- */

static inline void forget_dirty(Pe *pe, u32 id) {
    for (u32 i = 0; i < pe->dirty_count; i++)
        if (pe->dirty[i] == id) {
            memmove(pe->dirty + i, pe->dirty + i + 1, (--pe->dirty_count - i) * sizeof(u32));
            return;
        }
}

/* A row falls out of the vector registers: if it is dirty, it is written back. */
static inline void fall_out(Sim *s, Pe *pe, Cache *l2, u32 victim) {
    if (!(victim & DIRTY)) return;
    forget_dirty(pe, victim & ~DIRTY);
    write_row(s, pe, l2, victim & ~DIRTY);
}

/* Put a c row into the vector registers; returns 1 if it was there. */
static inline int touch_registers(Sim *s, Pe *pe, Cache *l2, u32 id) {
    u32 victim = 0;
    if (touch(&pe->registers, id, 0, &victim)) return 1;
    fall_out(s, pe, l2, victim);
    return 0;
}

/* The write-back manager: above the high mark, clean the oldest rows down to the low one. */
static void clean_registers(Sim *s, Pe *pe, Cache *l2) {
    i64 lines = s->w->lines;
    if (pe->dirty_count * lines <= s->m->dirty_high) return;
    u32 cleaned = 0;
    while (cleaned < pe->dirty_count && (pe->dirty_count - cleaned) * lines > s->m->dirty_low) {
        u32 id = pe->dirty[cleaned++];
        uint64_t found = match(pe->vector_rows, pe->registers.lanes, id);
        if (found) pe->vector_rows[__builtin_ctzll(found)] &= ~DIRTY;
        write_row(s, pe, l2, id);
    }
    pe->dirty_count -= cleaned;
    memmove(pe->dirty, pe->dirty + cleaned, pe->dirty_count * sizeof(u32));
}

/* Put the current r row among the other registers, where it is not yet. */
OUT_OF_LINE void retire_row(Sim *s, Pe *pe, Cache *l2) {
    if (!pe->row) return;
    int writes = s->w->operation == SPMM;
    u32 last = pe->registers.ways - 1, victim = pe->vector_rows[last];
    to_front(pe->vector_rows, pe->registers.lanes, last, pe->row | (writes ? DIRTY : 0));
    fall_out(s, pe, l2, victim);
    if (writes) {
        pe->dirty[pe->dirty_count++] = pe->row;
        clean_registers(s, pe, l2);
    }
    pe->row = 0;
}

OUT_OF_LINE void change_row(Sim *s, Pe *pe, Cache *l2, u32 id) {
    retire_row(s, pe, l2);
    u32 held = take_out(&pe->registers, id);
    pe->row = id;
    if (s->w->operation == SPMM) pe->ready_output = 0;
    if (held) {
        if (held & DIRTY) forget_dirty(pe, id);
        s->out->counts[HITS_VRF] += s->w->lines;
        pe->ready_row = pe->now;
        pe->row_cause = ISSUE;
        return;
    }
    s->out->counts[MISSES_VRF] += s->w->lines;
    pe->ready_row = s->w->bypass ? read_bypassing(s, pe, id, &pe->row_cause)
                                 : read_cached(s, pe, l2, id, READ_R, &pe->row_cause);
}

#endif
