/* What tilings of a sparse matrix look like, for several tilings in one pass over its rows.
 *
 * A row size R cuts the rows into panels, a column size C the columns; a tile is their
 * crossing. All counts are exact for any extents. Work: nnz * (row sizes + column sizes) plus
 * (nonempty row segments) * row sizes for each column size.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 32

/* A segment is the run of a row's entries that lie in one column panel. */
typedef struct {
    int64_t row_panel;     /* of the counts below; -1 before the first */
    int64_t entries;       /* of the current tile */
} open_tile;

/* Distinct columns of windows of 2^0 ... 2^31 rows, summed over windows: an entry is the first
 * of its column in a window if the column's last row lies before the window's start.
 * distinct: (32), zero on entry. Returns 0, or -1 without memory. */
int reuse_profile(
    int64_t rows, int64_t cols, const int64_t *row_pointers, const int32_t *columns,
    int64_t *distinct)
{
    int32_t *last_row = malloc((size_t)(cols ? cols : 1) * sizeof *last_row);
    if (!last_row)
        return -1;
    for (int64_t c = 0; c < cols; c++)
        last_row[c] = -1;
    for (int64_t r = 0; r < rows; r++) {
        int32_t start[LIMIT], first[LIMIT] = {0};
        for (int k = 0; k < LIMIT; k++)
            start[k] = (int32_t)(r >> k << k);
        for (int64_t e = row_pointers[r]; e < row_pointers[r + 1]; e++) {
            int32_t last = last_row[columns[e]];
            last_row[columns[e]] = (int32_t)r;
            for (int k = 0; k < LIMIT; k++)
                first[k] += last < start[k];
        }
        for (int k = 0; k < LIMIT; k++)
            distinct[k] += first[k];
    }
    free(last_row);
    return 0;
}

/* One column size C: segments, and for each row size the occupied tiles and, by column panel,
 * the entries of the fullest tile. Returns -1 when memory runs out. */
static int count_tiles(
    int64_t rows, int64_t cols, const int64_t *row_pointers, const int32_t *columns,
    int64_t col_size, int n_rows, const int64_t *row_sizes, int64_t workers,
    int64_t *segments, int64_t *occupied, double *barrier_work)
{
    int64_t panels = (cols + col_size - 1) / col_size;
    open_tile *open = malloc((size_t)(panels * n_rows) * sizeof *open);
    int64_t *largest = calloc((size_t)(panels * n_rows), sizeof *largest);
    int64_t *total = calloc((size_t)panels, sizeof *total);
    if (!open || !largest || !total) {
        free(open); free(largest); free(total);
        return -1;
    }
    for (int64_t i = 0; i < panels * n_rows; i++)
        open[i] = (open_tile){-1, 0};
    int shift = -1;
    if ((col_size & (col_size - 1)) == 0)
        shift = __builtin_ctzll((unsigned long long)col_size);
    int64_t row_panel[LIMIT] = {0}, start[LIMIT] = {0};
    for (int64_t r = 0; r < rows; r++) {
        for (int k = 0; k < n_rows; k++)
            if (r - start[k] >= row_sizes[k]) {
                start[k] = r;
                row_panel[k]++;
            }
        int64_t e = row_pointers[r], end = row_pointers[r + 1];
        while (e < end) {
            int64_t q = shift >= 0 ? columns[e] >> shift : columns[e] / col_size;
            int64_t limit = (q + 1) * col_size, first = e++;
            while (e < end && columns[e] < limit)
                e++;
            int64_t entries = e - first;
            *segments += 1;
            total[q] += entries;
            open_tile *tile = open + q * n_rows;
            for (int k = 0; k < n_rows; k++) {
                if (tile[k].row_panel != row_panel[k]) {
                    if (tile[k].entries > largest[q * n_rows + k])
                        largest[q * n_rows + k] = tile[k].entries;
                    occupied[k]++;
                    tile[k] = (open_tile){row_panel[k], 0};
                }
                tile[k].entries += entries;
            }
        }
    }
    for (int64_t q = 0; q < panels; q++)
        for (int k = 0; k < n_rows; k++) {
            int64_t most = largest[q * n_rows + k];
            if (open[q * n_rows + k].entries > most)
                most = open[q * n_rows + k].entries;
            double fair = (double)total[q] / (double)workers;
            barrier_work[k] += (double)most > fair ? (double)most : fair;
        }
    free(open); free(largest); free(total);
    return 0;
}

/* Entries of the worker that finishes last when idle workers take row panels in order. */
static double greedy_makespan(
    int64_t rows, const int64_t *row_pointers, int64_t row_size, int64_t workers,
    int64_t *largest, double *heap)
{
    int64_t panels = (rows + row_size - 1) / row_size;
    double last = 0;
    memset(heap, 0, (size_t)workers * sizeof *heap);
    for (int64_t p = 0; p < panels; p++) {
        int64_t first = p * row_size;
        int64_t end = first + row_size < rows ? first + row_size : rows;
        int64_t entries = row_pointers[end] - row_pointers[first];
        if (entries > *largest)
            *largest = entries;
        double load = heap[0] + (double)entries;
        if (load > last)
            last = load;
        int64_t hole = 0;
        for (;;) {
            int64_t child = 2 * hole + 1;
            if (child >= workers)
                break;
            if (child + 1 < workers && heap[child + 1] < heap[child])
                child++;
            if (heap[child] >= load)
                break;
            heap[hole] = heap[child];
            hole = child;
        }
        heap[hole] = load;
    }
    return last;
}

/* segments: (n_cols); occupied, barrier_work: (n_cols, n_rows); largest_panel, makespan:
 * (n_rows). All zero on entry. Returns 0, or -1 without memory. */
int tile_statistics(
    int64_t rows, int64_t cols, const int64_t *row_pointers, const int32_t *columns,
    int n_rows, const int64_t *row_sizes, int n_cols, const int64_t *col_sizes, int64_t workers,
    int64_t *segments, int64_t *occupied, double *barrier_work, int64_t *largest_panel,
    double *makespan)
{
    double *heap = malloc((size_t)workers * sizeof *heap);
    int outcome = heap ? 0 : -1;
    for (int j = 0; j < n_cols && !outcome; j++)
        outcome = count_tiles(rows, cols, row_pointers, columns, col_sizes[j], n_rows, row_sizes,
                              workers, &segments[j], occupied + j * n_rows,
                              barrier_work + j * n_rows);
    for (int k = 0; k < n_rows && !outcome; k++)
        makespan[k] = greedy_makespan(rows, row_pointers, row_sizes[k], workers,
                                      &largest_panel[k], heap);
    free(heap);
    return outcome;
}

/* Distinct cells of a grid whose cells are 2^shift rows by 2^shift columns, block rows in order,
 * first touched first within one. Writes cells and their counts; returns how many there are,
 * capacity + 1 as soon as there are more than `capacity`, or -1 without memory. */
int64_t pool_pattern(
    int64_t rows, int64_t cols, const int64_t *row_pointers, const int32_t *columns, int shift,
    int64_t capacity, int32_t *cell_rows, int32_t *cell_columns, int32_t *counts)
{
    int64_t width = (cols >> shift) + 1, found = 0;
    int64_t *cell_of = malloc((size_t)width * sizeof *cell_of);
    if (!cell_of)
        return -1;
    for (int64_t q = 0; q < width; q++)
        cell_of[q] = -1;
    int64_t first_of_block = 0;
    for (int64_t r = 0; r < rows; r++) {
        if ((r & (((int64_t)1 << shift) - 1)) == 0)
            first_of_block = found;
        for (int64_t e = row_pointers[r]; e < row_pointers[r + 1]; e++) {
            int64_t q = columns[e] >> shift;
            if (cell_of[q] < first_of_block) {
                if (found == capacity) {
                    free(cell_of);
                    return capacity + 1;
                }
                cell_of[q] = found;
                cell_rows[found] = (int32_t)(r >> shift);
                cell_columns[found] = (int32_t)q;
                counts[found++] = 0;
            }
            counts[cell_of[q]]++;
        }
    }
    free(cell_of);
    return found;
}
