/* Plans: the entries of a CSR matrix in loop order, with the fibers of each loop level. */
#include "kernels.h"

#include <string.h>

enum level_kind { I1, I0, K1, K0 };
enum { TOO_LARGE = -1 };

struct matrix {
    int64_t rows, cols, entries;
    const int64_t *row_start; /* rows + 1 */
    const int32_t *row, *col; /* of each entry, in CSR order */
    const float *value;
};

/* What a schedule says about the sparse loops. */
struct layout {
    int64_t level[4];      /* level kinds, outermost first */
    int64_t dense[4];      /* whether each of them lists absent coordinates too */
    int64_t shift_i, shift_k; /* log2 of the split; 31: a single panel */
    int64_t parallel;      /* index of the parallel level */
    int64_t block;         /* both inner levels dense, stored as blocks */
};

/* Room for `capacity` elements in each array; the result points into it. */
struct scratch {
    int64_t capacity;
    /* Position in CSR order, row and column of each entry, sorted; and room to sort them. */
    int32_t *order, *row, *col, *spare_order, *spare_row, *spare_col;
    uint64_t *keyed, *spare_keyed;
    int64_t *histogram; /* cols + 2 */
    int32_t *phase_unit, *unit_tile, *tile_segment, *segment_entry, *segment_id, *entry_id, *source;
    float *value;
};

/* Stable counting pass over CSR order: entries by column panel. */
static void sort_by_panel(const struct matrix *m, struct scratch *s, int shift) {
    const int64_t panels = m->cols ? ((m->cols - 1) >> shift) + 1 : 1;
    memset(s->histogram, 0, (size_t)(panels + 1) * sizeof *s->histogram);
    for (int64_t e = 0; e < m->entries; e++) s->histogram[(m->col[e] >> shift) + 1]++;
    for (int64_t p = 0; p < panels; p++) s->histogram[p + 1] += s->histogram[p];
    for (int64_t e = 0; e < m->entries; e++) {
        const int64_t at = s->histogram[m->col[e] >> shift]++;
        s->order[at] = (int32_t)e;
        s->row[at] = m->row[e];
        s->col[at] = m->col[e];
    }
}

/* Stable sort of entries [from, to) by column >> shift: insertion when short, else radix. */
static void sort_range(struct scratch *s, int64_t from, int64_t to, int shift) {
    const int64_t n = to - from;
    uint64_t *keyed = s->keyed, *spare = s->spare_keyed;
    uint32_t all_bits = 0, first = 0;
    int sorted = 1;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t key = (uint32_t)(s->col[from + i] >> shift);
        keyed[i] = (uint64_t)key << 32 | (uint64_t)i;
        if (i == 0) first = key;
        all_bits |= key ^ first;
        sorted &= i == 0 || key >= keyed[i - 1] >> 32;
    }
    if (sorted) return;
    if (n <= 32) {
        for (int64_t i = 1; i < n; i++) {
            const uint64_t moving = keyed[i];
            int64_t at = i;
            for (; at > 0 && keyed[at - 1] >> 32 > moving >> 32; at--) keyed[at] = keyed[at - 1];
            keyed[at] = moving;
        }
    } else {
        const int digit = n < 2048 ? 8 : 11;
        for (int low = 0; low < 32 && all_bits >> low; low += digit) {
            int64_t count[2048] = {0};
            const uint64_t mask = (1u << digit) - 1;
            for (int64_t i = 0; i < n; i++) count[keyed[i] >> (32 + low) & mask]++;
            int64_t before = 0;
            for (uint64_t d = 0; d <= mask; d++) {
                const int64_t here = count[d];
                count[d] = before;
                before += here;
            }
            for (int64_t i = 0; i < n; i++)
                spare[count[keyed[i] >> (32 + low) & mask]++] = keyed[i];
            uint64_t *swap = keyed;
            keyed = spare;
            spare = swap;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t old = from + (int64_t)(uint32_t)keyed[i];
        s->spare_order[i] = s->order[old];
        s->spare_row[i] = s->row[old];
        s->spare_col[i] = s->col[old];
    }
    memcpy(s->order + from, s->spare_order, (size_t)n * sizeof *s->order);
    memcpy(s->row + from, s->spare_row, (size_t)n * sizeof *s->row);
    memcpy(s->col + from, s->spare_col, (size_t)n * sizeof *s->col);
}

/* Entries in the order of the layout's loops, into s->order. */
static void sort_entries(const struct matrix *m, const struct layout *l, struct scratch *s) {
    const int rows_first = l->level[0] == I1;
    const int by_column = l->level[3] == I0; /* columns outside the rows of a tile */
    if (!rows_first) {
        const int columns_outermost = l->level[1] == K0;
        sort_by_panel(m, s, columns_outermost ? 0 : (int)l->shift_k);
        if (!by_column || columns_outermost) return;
    } else {
        for (int64_t e = 0; e < m->entries; e++) s->order[e] = (int32_t)e;
        memcpy(s->row, m->row, (size_t)m->entries * sizeof *s->row);
        memcpy(s->col, m->col, (size_t)m->entries * sizeof *s->col);
        if (l->level[1] == I0) return;
    }
    /* Within a tile row, by column panel or by column; within a tile of panels, by column. */
    const int shift = by_column ? 0 : (int)l->shift_k;
    for (int64_t from = 0, to; from < m->entries; from = to) {
        const int32_t row = s->row[from] >> l->shift_i, panel = s->col[from] >> l->shift_k;
        for (to = from + 1; to < m->entries; to++) {
            if (s->row[to] >> l->shift_i != row) break;
            if (!rows_first && s->col[to] >> l->shift_k != panel) break;
        }
        sort_range(s, from, to, shift);
    }
}

struct lister {
    const struct matrix *m;
    const struct layout *l;
    struct scratch *s;
    struct plan *out;
    int64_t coordinate[4]; /* by level kind */
};

static int64_t extent(const struct lister *a, int kind) {
    const int rows = kind == I1 || kind == I0;
    const int64_t size = rows ? a->m->rows : a->m->cols;
    const int shift = (int)(rows ? a->l->shift_i : a->l->shift_k);
    if (kind == I1 || kind == K1) return size ? ((size - 1) >> shift) + 1 : 0;
    const int64_t from = a->coordinate[rows ? I1 : K1] << shift, split = (int64_t)1 << shift;
    return size - from < split ? size - from : split;
}

static int64_t coordinate_of(const struct lister *a, int kind, int64_t position) {
    const int64_t row = a->s->row[position], col = a->s->col[position];
    switch (kind) {
    case I1: return row >> a->l->shift_i;
    case I0: return row & (((int64_t)1 << a->l->shift_i) - 1);
    case K1: return col >> a->l->shift_k;
    default: return col & (((int64_t)1 << a->l->shift_k) - 1);
    }
}

static int64_t index_of(const struct lister *a, int rows) {
    return rows ? (a->coordinate[I1] << a->l->shift_i) + a->coordinate[I0]
                : (a->coordinate[K1] << a->l->shift_k) + a->coordinate[K0];
}

static int put_entry(struct lister *a, int64_t id, int64_t source) {
    struct plan *out = a->out;
    if (out->entries == a->s->capacity) return TOO_LARGE;
    a->s->entry_id[out->entries] = (int32_t)id;
    a->s->source[out->entries] = (int32_t)source;
    a->s->value[out->entries] = source < 0 ? 0 : a->m->value[source];
    out->entries++;
    return 0;
}

/* The innermost level: entries [from, to) of one segment. */
static int list_entries(struct lister *a, int64_t from, int64_t to) {
    const int kind = (int)a->l->level[3], rows = kind == I0;
    if (!a->l->dense[3]) {
        const int64_t n = to - from, at = a->out->entries;
        if (at + n > a->s->capacity) return TOO_LARGE;
        const int32_t *id = (rows ? a->s->row : a->s->col) + from, *order = a->s->order + from;
        for (int64_t i = 0; i < n; i++) {
            a->s->entry_id[at + i] = id[i];
            a->s->source[at + i] = order[i];
            a->s->value[at + i] = a->m->value[order[i]];
        }
        a->out->entries += n;
        return 0;
    }
    const int64_t size = extent(a, kind);
    for (a->coordinate[kind] = 0; a->coordinate[kind] < size; a->coordinate[kind]++) {
        const int present = from < to && coordinate_of(a, kind, from) == a->coordinate[kind];
        if (put_entry(a, index_of(a, rows), present ? a->s->order[from] : -1)) return TOO_LARGE;
        from += present;
    }
    return 0;
}

static int push(int32_t *array, int64_t *count, int64_t capacity, int64_t end) {
    if (*count + 1 >= capacity) return TOO_LARGE;
    array[++*count] = (int32_t)end;
    return 0;
}

/* Records that a fiber at this depth is complete. */
static int close_fiber(struct lister *a, int depth) {
    struct plan *out = a->out;
    const int parallel = (int)a->l->parallel, tile = parallel < 2 ? parallel + 1 : 2;
    const int64_t room = a->s->capacity;
    int status = 0;
    if (depth == 2) {
        if (out->segments + 1 >= room) return TOO_LARGE;
        a->s->segment_id[out->segments] = (int32_t)index_of(a, (int)out->segment_is_row);
        status |= push(a->s->segment_entry, &out->segments, room, out->entries);
    }
    if (depth == tile) status |= push(a->s->tile_segment, &out->tiles, room, out->segments);
    if (depth == parallel) status |= push(a->s->unit_tile, &out->units, room, out->tiles);
    if (depth == parallel - 1) status |= push(a->s->phase_unit, &out->phases, room, out->units);
    return status;
}

/* The fibers at `depth` that hold entries [from, to). */
static int list_level(struct lister *a, int depth, int64_t from, int64_t to) {
    if (depth == 3) return list_entries(a, from, to);
    const int kind = (int)a->l->level[depth], dense = (int)a->l->dense[depth];
    const int64_t size = extent(a, kind);
    int64_t next = 0;
    while (from < to || (dense && next < size)) {
        const int64_t here = from < to ? coordinate_of(a, kind, from) : size;
        const int64_t chosen = dense ? next : here;
        int64_t end = from;
        if (chosen == here) {
            if (size == 1)
                end = to;
            else
                while (end < to && coordinate_of(a, kind, end) == here) end++;
        }
        a->coordinate[kind] = chosen;
        if (list_level(a, depth + 1, from, end) || close_fiber(a, depth)) return TOO_LARGE;
        from = end;
        next = chosen + 1;
    }
    return 0;
}

/* Dense blocks: units are rows of blocks, tiles are blocks. */
static int list_blocks(struct lister *a) {
    const struct matrix *m = a->m;
    struct scratch *s = a->s;
    struct plan *out = a->out;
    const int64_t high = (int64_t)1 << a->l->shift_i, wide = (int64_t)1 << a->l->shift_k;
    int64_t e = 0;
    for (int64_t row = 0; row < m->rows; row += high) {
        const int64_t end = m->row_start[row + high < m->rows ? row + high : m->rows];
        if (end == e && !a->l->dense[0]) continue;
        if (out->units + 1 >= s->capacity) return TOO_LARGE;
        s->segment_id[out->units] = (int32_t)row;
        while (e < end) {
            const int32_t panel = s->col[e] >> a->l->shift_k;
            float *value = s->value + out->entries;
            int32_t *source = s->source + out->entries;
            if (out->tiles + 2 >= s->capacity || out->entries + high * wide > s->capacity)
                return TOO_LARGE;
            memset(value, 0, (size_t)(high * wide) * sizeof *value);
            memset(source, -1, (size_t)(high * wide) * sizeof *source);
            for (; e < end && s->col[e] >> a->l->shift_k == panel; e++) {
                const int64_t at = (s->row[e] - row) * wide + (s->col[e] & (wide - 1));
                value[at] = m->value[s->order[e]];
                source[at] = s->order[e];
            }
            s->entry_id[out->tiles++] = panel << a->l->shift_k;
            out->entries += high * wide;
        }
        s->unit_tile[++out->units] = (int32_t)out->tiles;
    }
    out->block_rows = high;
    out->block_cols = wide;
    return 0;
}

/* Lays a matrix out; the arrays of *out point into the scratch. 0, or -1 if the scratch's
 * capacity does not suffice. */
int plan_build(const struct matrix *m, const struct layout *l, struct scratch *s,
               struct plan *out) {
    struct lister a = {.m = m, .l = l, .s = s, .out = out};
    memset(out, 0, sizeof *out);
    out->segment_is_row = l->level[3] == K0;
    s->phase_unit[0] = s->unit_tile[0] = s->tile_segment[0] = s->segment_entry[0] = 0;
    sort_entries(m, l, s);
    const int status = l->block ? list_blocks(&a) : list_level(&a, 0, 0, m->entries);
    if (status) return status;
    if (l->parallel == 0) {
        out->phases = 1;
        s->phase_unit[1] = (int32_t)out->units;
    }
    out->phase_unit = s->phase_unit;
    out->unit_tile = s->unit_tile;
    out->tile_segment = s->tile_segment;
    out->segment_entry = s->segment_entry;
    out->segment_id = s->segment_id;
    out->entry_id = s->entry_id;
    out->source = s->source;
    out->value = s->value;
    return 0;
}
