/* How many fetches of dense rows miss a cache when the tiles of a sparse matrix are walked.
 *
 * Every entry of the matrix refers to one row of the column operand, every run of a row's entries
 * in a tile to one row of the row operand. Some of the operands' rows are picked, and the LRU
 * stack distances of those alone, divided by the share that was picked, estimate all (SHARDS,
 * FAST 2015, with picks that are even instead of hashed). Workers take row panels in order as
 * they become idle; a worker's references are spread evenly over the entries of its panel. With
 * column panels outside, all workers finish one before the next.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 16            /* capacities */

typedef struct {
    int32_t row, column;
    int32_t object;         /* column, or columns + row */
} reference;

typedef struct {
    int64_t count;          /* references in all */
    reference *list;        /* by row, then column */
    int32_t *order, *spare, *panel, *unit, *bucket, *worker, *tree, *distance;
    double *time;
    int64_t *last;          /* place of an object's last reference, -1 for none */
} trace;

/* Even over any range of indices: multiples of the golden ratio, modulo 1 (Weyl). */
static uint32_t spread(uint32_t index)
{
    return (index + 1) * 0x9e3779b1U;
}

/* Stable sort of t->order by key[] < keys. */
static void counting_sort(trace *t, const int32_t *key, int64_t keys)
{
    memset(t->bucket, 0, (size_t)(keys + 1) * sizeof *t->bucket);
    for (int64_t i = 0; i < t->count; i++)
        t->bucket[key[i] + 1]++;
    for (int64_t k = 0; k < keys; k++)
        t->bucket[k + 1] += t->bucket[k];
    for (int64_t i = 0; i < t->count; i++) {
        int32_t j = t->order[i];
        t->spare[t->bucket[key[j]]++] = j;
    }
    int32_t *swap = t->order;
    t->order = t->spare;
    t->spare = swap;
}

typedef struct { double free; int32_t worker; } slot;

/* Give `load` to the worker that is idle first; returns its start. */
static double assign(slot *heap, int64_t workers, double load, int32_t *worker)
{
    slot top = heap[0];
    *worker = top.worker;
    double start = top.free;
    top.free += load;
    int64_t hole = 0;
    for (;;) {
        int64_t child = 2 * hole + 1;
        if (child >= workers)
            break;
        if (child + 1 < workers && heap[child + 1].free < heap[child].free)
            child++;
        if (heap[child].free >= top.free)
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = top;
    return start;
}

/* Times and workers of all references, which are in the order of a single worker's walk; a unit
 * is a run of one row panel (and column panel, when those are outside). Returns the last time. */
static double schedule(
    trace *t, int64_t row_size, int64_t col_size, int outer, int64_t rows,
    const int64_t *row_pointers, double share, slot *heap, int64_t workers)
{
    double end = 0;
    int64_t phase = -1;
    for (int64_t w = 0; w < workers; w++)
        heap[w] = (slot){0, (int32_t)w};
    for (int64_t first = 0; first < t->count;) {
        reference here = t->list[t->order[first]];
        int64_t p = here.row / row_size, q = outer ? here.column / col_size : 0;
        int64_t after = first;
        while (after < t->count) {
            reference next = t->list[t->order[after]];
            if (next.row / row_size != p || (outer && next.column / col_size != q))
                break;
            after++;
        }
        if (outer && q != phase) {
            phase = q;
            for (int64_t w = 0; w < workers; w++)
                heap[w].free = end;
        }
        /* Tiles are counted by their picked references, row panels exactly. */
        double load = (double)(after - first) / share;
        if (!outer) {
            int64_t last_row = (p + 1) * row_size < rows ? (p + 1) * row_size : rows;
            load = (double)(row_pointers[last_row] - row_pointers[p * row_size]);
        }
        int32_t worker;
        double start = assign(heap, workers, load, &worker);
        for (int64_t i = first; i < after; i++) {
            t->time[t->order[i]] = start + load * (double)(i - first) / (double)(after - first);
            t->worker[t->order[i]] = worker;
        }
        if (start + load > end)
            end = start + load;
        first = after;
    }
    return end;
}

/* LRU stack distances of t->order: of all references, of each worker's by themselves, or of
 * those to the column operand only. -1 for the first reference of an object, -2 for one that
 * repeats its tile's row or is left out. */
enum which { ALL, ALONE, COLUMNS };

static void stack_distances(trace *t, int64_t cols, int64_t col_size, enum which which)
{
    int64_t n = t->count, from = 0;
    memset(t->tree, 0, (size_t)(n + 1) * sizeof *t->tree);
    for (int64_t i = 0; i < n; i++)
        t->last[t->list[i].object] = -1;
    for (int64_t i = 0; i < n; i++) {
        int32_t j = t->order[i];
        reference here = t->list[j];
        if (which == COLUMNS && here.object >= cols) {
            t->distance[j] = -2;
            continue;
        }
        if (which == ALONE && i && t->worker[j] != t->worker[t->order[i - 1]])
            from = i;
        int64_t last = t->last[here.object];
        if (last >= from && here.object >= cols &&
                t->list[t->order[last]].column / col_size == here.column / col_size) {
            t->distance[j] = -2;
            continue;
        }
        if (last < from) {
            t->distance[j] = -1;
        } else {
            int32_t between = 0;
            for (int64_t k = i; k > 0; k -= k & -k)
                between += t->tree[k];
            for (int64_t k = last; k > 0; k -= k & -k)
                between -= t->tree[k];
            t->distance[j] = between - 1;
            for (int64_t k = last + 1; k <= n; k += k & -k)
                t->tree[k]--;
        }
        for (int64_t k = i + 1; k <= n; k += k & -k)
            t->tree[k]++;
        t->last[here.object] = i;
    }
}

static void count_misses(
    const trace *t, int64_t cols, double share, int n_capacities, const double *capacities,
    double *column_misses, double *row_misses)
{
    for (int64_t i = 0; i < t->count; i++) {
        int32_t distance = t->distance[i];
        if (distance == -2)
            continue;
        double *misses = t->list[i].object < cols ? column_misses : row_misses;
        for (int k = 0; k < n_capacities; k++)
            misses[k] += distance < 0 || distance >= capacities[k] * share;
    }
    for (int k = 0; k < n_capacities; k++) {
        column_misses[k] /= share;
        row_misses[k] /= share;
    }
}

static int collect(trace *t, int64_t rows, int64_t cols, const int64_t *row_pointers,
                   const int32_t *columns, uint32_t threshold)
{
    int64_t room = 1024;
    t->list = malloc((size_t)room * sizeof *t->list);
    for (int64_t r = 0; r < rows && t->list; r++) {
        int row_picked = spread((uint32_t)r + 0x5bd1U) <= threshold;
        for (int64_t e = row_pointers[r]; e < row_pointers[r + 1]; e++) {
            if (t->count + 2 > room) {
                room *= 2;
                reference *grown = realloc(t->list, (size_t)room * sizeof *t->list);
                if (!grown)
                    return -1;
                t->list = grown;
            }
            int32_t c = columns[e];
            if (row_picked)
                t->list[t->count++] = (reference){(int32_t)r, c, (int32_t)(cols + r)};
            if (spread((uint32_t)c) <= threshold)
                t->list[t->count++] = (reference){(int32_t)r, c, c};
        }
    }
    return t->list ? 0 : -1;
}

/* Misses of n_walks walks (row_sizes, col_sizes, outer) at n_capacities capacities, in dense
 * rows: alone for the cache of one worker, shared for one cache of all, streamed for the columns
 * in one cache of all that the row operand goes past. Outputs have shape (n_walks,
 * n_capacities), zero on entry. Returns 0, or -1 without memory. */
int trace_misses(
    int64_t rows, int64_t cols, const int64_t *row_pointers, const int32_t *columns,
    uint32_t threshold, int64_t workers, int n_walks, const int64_t *row_sizes,
    const int64_t *col_sizes, const int32_t *outer, int n_capacities, const double *capacities,
    double *columns_alone, double *rows_alone, double *columns_shared, double *rows_shared,
    double *streamed)
{
    trace t = {0};
    double share = ((double)threshold + 1) / 4294967296.0;
    int outcome = collect(&t, rows, cols, row_pointers, columns, threshold);
    double none[LIMIT] = {0};
    int64_t n = t.count, most = n + rows + cols + workers + 2;
    slot *heap = malloc((size_t)workers * sizeof *heap);
    int32_t *ints = malloc((size_t)(7 * (n + 1) + most) * sizeof *ints);
    t.time = malloc((size_t)(n + 1) * sizeof *t.time);
    t.last = malloc((size_t)(rows + cols + 1) * sizeof *t.last);
    if (outcome || !heap || !ints || !t.time || !t.last)
        n_walks = outcome = -1;
    else {
        int32_t **parts[] = {&t.order, &t.spare, &t.panel, &t.unit, &t.worker, &t.tree, &t.distance};
        for (int i = 0; i < 7; i++)
            *parts[i] = ints + i * (n + 1);
        t.bucket = ints + 7 * (n + 1);
    }
    for (int w = 0; w < n_walks && n; w++) {
        for (int64_t i = 0; i < n; i++) {
            t.order[i] = (int32_t)i;
            t.panel[i] = (int32_t)(t.list[i].row / row_sizes[w]);
            t.unit[i] = (int32_t)(t.list[i].column / col_sizes[w]);
        }
        counting_sort(&t, t.unit, cols / col_sizes[w] + 1);
        if (!outer[w])
            counting_sort(&t, t.panel, rows / row_sizes[w] + 1);
        double end = schedule(&t, row_sizes[w], col_sizes[w], outer[w], rows, row_pointers, share,
                              heap, workers);
        for (int64_t i = 0; i < n; i++)
            t.unit[i] = (int32_t)((double)(n - 1) * t.time[i] / (end > 0 ? end : 1));
        counting_sort(&t, t.unit, n);
        stack_distances(&t, cols, col_sizes[w], ALL);
        count_misses(&t, cols, share, n_capacities, capacities, columns_shared + w * n_capacities,
                     rows_shared + w * n_capacities);
        stack_distances(&t, cols, col_sizes[w], COLUMNS);
        count_misses(&t, cols, share, n_capacities, capacities, streamed + w * n_capacities, none);
        counting_sort(&t, t.worker, workers);
        stack_distances(&t, cols, col_sizes[w], ALONE);
        count_misses(&t, cols, share, n_capacities, capacities, columns_alone + w * n_capacities,
                     rows_alone + w * n_capacities);
    }
    free(t.list); free(heap); free(ints); free(t.time); free(t.last);
    return outcome;
}
