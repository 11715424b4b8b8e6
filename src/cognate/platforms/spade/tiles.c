/* Coordinate tiles of a sparse matrix, in the order in which they are walked. */
#include <stdint.h>
#include <stdlib.h>

/* Stable counting sort of (row, column) pairs by key / width; 0, or 1 without memory. */
static int sort_by(const int32_t *key, int64_t width, int64_t buckets, int64_t n,
                   const int32_t *row, const int32_t *col, int32_t *row_out, int32_t *col_out) {
    int64_t *next = calloc((size_t)buckets + 1, sizeof *next);
    if (!next) return 1;
    for (int64_t i = 0; i < n; i++) next[key[i] / width + 1]++;
    for (int64_t b = 0; b < buckets; b++) next[b + 1] += next[b];
    for (int64_t i = 0; i < n; i++) {
        int64_t to = next[key[i] / width]++;
        row_out[to] = row[i];
        col_out[to] = col[i];
    }
    free(next);
    return 0;
}

/* Expand CSR to coordinates ordered by (column panel, row, column) if `columns_outer`, else
 * by (row panel, column panel, row, column). Returns 0, or 1 without memory. */
int order_entries(int64_t rows, int64_t cols, const int64_t *row_pointers,
                  const int32_t *columns, int64_t panel_rows, int64_t panel_cols,
                  int64_t columns_outer, int32_t *row_out, int32_t *col_out) {
    int64_t n = row_pointers[rows], status = 1;
    int64_t row_panels = (rows + panel_rows - 1) / panel_rows;
    int64_t col_panels = (cols + panel_cols - 1) / panel_cols;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = row_pointers[r]; i < row_pointers[r + 1]; i++) {
            row_out[i] = (int32_t)r;
            col_out[i] = columns[i];
        }
    if (col_panels <= 1 || n == 0) return 0;
    int32_t *row = malloc((size_t)n * sizeof *row), *col = malloc((size_t)n * sizeof *col);
    if (row && col) {
        status = sort_by(col_out, panel_cols, col_panels, n, row_out, col_out, row, col);
        if (!status && !columns_outer)
            status = sort_by(row, panel_rows, row_panels, n, row, col, row_out, col_out);
        if (!status && columns_outer)
            for (int64_t i = 0; i < n; i++) row_out[i] = row[i], col_out[i] = col[i];
    }
    free(row);
    free(col);
    return (int)status;
}

/* Find where tiles start in ordered entries. Writes the first entry and the row panel of each
 * tile, and the first tile of each column panel's phase if `columns_outer` (else one phase
 * holds everything). With null outputs it only counts. Returns the number of tiles. */
int64_t find_tiles(int64_t n, const int32_t *row, const int32_t *col, int64_t panel_rows,
                   int64_t panel_cols, int64_t columns_outer, int64_t *tile_start,
                   int32_t *tile_panel, int64_t *phase_start, int64_t *phases) {
    int64_t tiles = 0, phase = 0, row_panel = -1, col_panel = -1, row_end = 0, col_end = 0;
    int64_t row_first = 0, col_first = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = row[i], c = col[i];
        if (row_panel >= 0 && r >= row_first && r < row_end && c >= col_first && c < col_end)
            continue;
        int64_t before = col_panel;
        row_panel = r / panel_rows;
        col_panel = c / panel_cols;
        row_first = row_panel * panel_rows, row_end = row_first + panel_rows;
        col_first = col_panel * panel_cols, col_end = col_first + panel_cols;
        if (phase == 0 || (columns_outer && col_panel != before)) {
            if (phase_start) phase_start[phase] = tiles;
            phase++;
        }
        if (tile_start) {
            tile_start[tiles] = i;
            tile_panel[tiles] = (int32_t)row_panel;
        }
        tiles++;
    }
    if (tile_start) tile_start[tiles] = n;
    if (phase_start) phase_start[phase] = tiles;
    *phases = phase;
    return tiles;
}
