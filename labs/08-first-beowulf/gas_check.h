/* --check: whether exchange_ghosts brings the right numbers to the right ghost zones. Each zone
 * holds a number that says which zone it is; so of a wrong ghost zone it can be said what came. */
#ifndef GAS_CHECK_H
#define GAS_CHECK_H

enum { TRIALS = 4, LATE_MS = 30, LIMIT_S = 20 };

static inline double zone_number(const struct tiles *tiles, long row, long column, int k,
                                 int trial) {
    long rows = tiles->grid.rows, columns = tiles->grid.columns;
    row = (row + rows) % rows, column = (column + columns) % columns;
    return (double)((((trial + 1) * rows + row) * columns + column) * QUANTITIES + k);
}

/* What is wrong with a ghost zone; an empty text when nothing is. */
static inline void ghost_fault(const struct tiles *tiles, const struct border *border, long row,
                               long column, int k, int trial, char *why, size_t size) {
    static const char *const sides[] = {"below left", "below",      "below right", "left",       "",
                                        "right",      "above left", "above",       "above right"};
    const struct tile *tile = &tiles->tile[border->tile];
    long grid_row = tile->row * tiles->side + row - GHOSTS;
    long grid_column = tile->column * tiles->side + column - GHOSTS;
    double has = *zone_of(tiles, tile, k, row, column);
    double wanted = zone_number(tiles, grid_row, grid_column, k, trial);
    if (has == wanted)
        return;
    int length =
        snprintf(why, size, "rank %d: tile %ld, ghost zones %s (from rank %d): ", my_rank(),
                 tile->number, sides[border->direction], border->rank);
    why += length, size -= (size_t)length;
    long zones = tiles->grid.rows * tiles->grid.columns, columns = tiles->grid.columns;
    long last = (TRIALS + 1) * zones * QUANTITIES;
    int is_number = has >= 0.0 && has < (double)last && has == floor(has);
    long number = is_number ? (long)has : 0, zone = number / QUANTITIES, should = (long)wanted;
    if (isnan(has))
        snprintf(why, size, "they are not filled");
    else if (has == 0.0)
        snprintf(why, size,
                 "zeros are there: they are used before they have arrived, or fewer "
                 "numbers come than are needed");
    else if (!is_number)
        snprintf(why, size, "%g is there, and no zone has this number", has);
    else if (zone / zones != trial + 1)
        snprintf(why, size,
                 "they are from an earlier exchange: they are used before new ones have "
                 "arrived, or sent before they are packed");
    else
        snprintf(
            why, size,
            "row %ld, column %ld of the grid, quantity %d, should be there, and it is row %ld, "
            "column %ld, quantity %ld",
            should / QUANTITIES % zones / columns, should / QUANTITIES % columns, k,
            zone % zones / columns, zone % columns, number % QUANTITIES);
}

/* A message that nothing waited for may be there in time by chance. */
static inline void find_open_request(const struct tiles *tiles, char *why, size_t size) {
    for (int i = 0; i < 2 * tiles->borders && !*why; i++)
        if (tiles->requests[i] != MPI_REQUEST_NULL)
            snprintf(why, size, "rank %d: tiles->requests[%d] is still open: nothing waited for it",
                     my_rank(), i);
}

static inline void find_fault(const struct tiles *tiles, int trial, char *why, size_t size) {
    for (int i = 0; i < tiles->borders; i++) {
        struct block block = ghosts_of(tiles, tiles->border[i].direction);
        for (int k = 0; k < QUANTITIES; k++)
            for (long row = block.row; row < block.row + block.rows; row++)
                for (long column = block.column; column < block.column + block.columns; column++)
                    if (!*why)
                        ghost_fault(tiles, &tiles->border[i], row, column, k, trial, why, size);
    }
}

/* The first rank with a fault writes it. */
static inline void write_check(const char *why, int hangs) {
    begin_line("check");
    put_text("function", "exchange_ghosts");
    put_truth("right", !*why);
    if (hangs)
        put_truth("hangs", 1);
    if (*why)
        put_text("why", why);
    end_line();
    flush_lines();
}

static inline void time_is_over(int signal) {
    (void)signal;
    if (my_rank() == 0)
        write_check("exchange_ghosts does not end: a message that it waits for was not sent", 1);
    wait_ms(my_rank() == 0 ? 1000 : 2000); /* what others print is passed on, too */
    _exit(3);
}

/* Gives whether all is right. */
static inline int check_exchange(struct tiles *tiles, exchange_function exchange) {
    char why[400] = "";
    signal(SIGALRM, time_is_over);
    for (int trial = 0; trial < TRIALS && !*why; trial++) {
        begin_gas(tiles);
        for (struct place place = {0}; next_zone(tiles, &place);)
            for (int k = 0; k < QUANTITIES; k++)
                *zone_of(tiles, place.tile, k, place.row, place.column) =
                    zone_number(tiles, place.grid_row, place.grid_column, k, trial);
        check(MPI_Barrier(MPI_COMM_WORLD));
        if ((my_rank() + trial) % 2) /* who comes late shows what does not wait */
            wait_ms(LATE_MS);
        alarm(LIMIT_S);
        exchange(tiles);
        find_fault(tiles, trial, why, sizeof why);
        find_open_request(tiles, why, sizeof why);
        int mine = *why ? my_rank() : all_ranks(), first;
        check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
        alarm(0);
        if (first < all_ranks())
            check(MPI_Bcast(why, sizeof why, MPI_CHAR, first, MPI_COMM_WORLD));
    }
    if (my_rank() == 0)
        write_check(why, 0);
    return !*why;
}

#endif
