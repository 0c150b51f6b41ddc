/* Tiles: the grid in squares of zones, each with a frame of GHOSTS ghost zones, and shared among
 * the ranks. This file need not be changed.
 *
 * A tile lies in an array of (side + 2 * GHOSTS) rows and columns for each quantity; rows and
 * columns count from the ghosts on, so its own zones are GHOSTS to GHOSTS + side - 1. Tiles are
 * numbered row by row, and a rank has tiles with successive numbers.
 *
 * A tile has neighbours in eight directions, numbered as they lie, with row 0 below:
 *
 *     6 7 8
 *     3 . 5      The opposite of direction d is 8 - d.
 *     0 1 2
 *
 * Those at the corners count, too: a step sweeps along one axis and then along the other, and the
 * first sweep also advances the ghost zones that the second one needs. So one exchange a step is
 * enough. */
#ifndef TILES_H
#define TILES_H

#include "measure.h" /* it comes first */

#include "problems.h"

enum { DIRECTIONS = 9, MIDDLE = 4 };

struct tile {
    long number, column, row; /* its place among the tiles */
    double *zones;            /* QUANTITIES arrays, one behind the other */
};

/* Where one of this rank's tiles meets a tile of another rank. */
struct border {
    int tile;      /* the place of this rank's tile in tiles->tile */
    int direction; /* where the other tile lies, seen from this one */
    int rank;      /* who has it */
    int count;     /* how many numbers go each way */
    int tag_out, tag_in;
    double *out, *in; /* the messages */
};

struct tiles {
    const struct problem *problem;
    struct grid grid; /* all zones */
    long columns, rows, side;
    int count; /* of this rank's tiles */
    struct tile *tile;
    int borders;
    struct border *border;
    MPI_Request *requests; /* 2 for each border */
    long swept, step;      /* zones that were computed, and steps that were made */
};

static inline long width_of(const struct tiles *tiles) { return tiles->side + 2 * GHOSTS; }

static inline double *zone_of(const struct tiles *tiles, const struct tile *tile, int k, long row,
                              long column) {
    long width = width_of(tiles);
    return tile->zones + (k * width + row) * width + column;
}

static inline void *room_for(long count, size_t size) {
    void *room = calloc((size_t)(count > 0 ? count : 1), size);
    if (!room) {
        fprintf(stderr, "There is no memory for the tiles of rank %d.\n", my_rank());
        give_up(1);
    }
    return room;
}

/* The number of the tile in a direction; -1 when the grid ends there. */
static inline long neighbour(const struct tiles *tiles, const struct tile *tile, int direction) {
    long column = tile->column + direction % 3 - 1, row = tile->row + direction / 3 - 1;
    if (tiles->problem->around_x == PERIODIC)
        column = (column + tiles->columns) % tiles->columns;
    if (tiles->problem->around_y == PERIODIC)
        row = (row + tiles->rows) % tiles->rows;
    int is_inside = column >= 0 && column < tiles->columns && row >= 0 && row < tiles->rows;
    return is_inside ? row * tiles->columns + column : -1;
}

static inline int owner(const struct tiles *tiles, long number) {
    return number < 0 ? MPI_PROC_NULL : (int)(number / tiles->count);
}

static inline int is_elsewhere(const struct tiles *tiles, const struct tile *tile, int direction) {
    long number = neighbour(tiles, tile, direction);
    return number >= 0 && owner(tiles, number) != my_rank();
}

/* The rows or columns of a block: first one and how many. `part` is -1, 0, 1: before, along and
 * behind the tile's own zones. */
static inline void extent(long side, int part, long *first, long *count) {
    *first = part < 0 ? 0 : part == 0 ? GHOSTS : GHOSTS + side;
    *count = part == 0 ? side : GHOSTS;
}

/* The ghost zones in a direction, and the tile's own zones that a neighbour in that direction has
 * as its ghost zones. */
struct block {
    long row, column, rows, columns;
};

static inline struct block ghosts_of(const struct tiles *tiles, int direction) {
    struct block block;
    extent(tiles->side, direction / 3 - 1, &block.row, &block.rows);
    extent(tiles->side, direction % 3 - 1, &block.column, &block.columns);
    return block;
}

static inline struct block edge_of(const struct tiles *tiles, int direction) {
    struct block block = ghosts_of(tiles, 8 - direction);
    block.row += (direction / 3 - 1) * tiles->side;
    block.column += (direction % 3 - 1) * tiles->side;
    return block;
}

enum way { OUT_OF_TILE, INTO_TILE };

/* Copy a block of a tile to a list of numbers, or the list into the block. */
static inline void copy_block(const struct tiles *tiles, const struct tile *tile,
                              struct block block, double *list, enum way way) {
    size_t size = (size_t)block.columns * sizeof(double);
    for (int k = 0; k < QUANTITIES; k++)
        for (long row = 0; row < block.rows; row++, list += block.columns) {
            double *zones = zone_of(tiles, tile, k, block.row + row, block.column);
            memcpy(way == INTO_TILE ? zones : list, way == INTO_TILE ? list : zones, size);
        }
}

/* For exchange_ghosts: put what the neighbour needs into border->out. */
static inline void pack(const struct tiles *tiles, const struct border *border) {
    copy_block(tiles, &tiles->tile[border->tile], edge_of(tiles, border->direction), border->out,
               OUT_OF_TILE);
}

/* For exchange_ghosts: put what has come from the neighbour, border->in, into the ghost zones. */
static inline void unpack(const struct tiles *tiles, const struct border *border) {
    copy_block(tiles, &tiles->tile[border->tile], ghosts_of(tiles, border->direction), border->in,
               INTO_TILE);
}

/* Copy the ghost zones of a tile in a direction, if the neighbour is this rank's, too. */
static inline void copy_own_ghosts(const struct tiles *tiles, const struct tile *tile,
                                   int direction) {
    struct block from = edge_of(tiles, 8 - direction), to = ghosts_of(tiles, direction);
    long number = neighbour(tiles, tile, direction);
    if (number < 0 || owner(tiles, number) != my_rank())
        return;
    const struct tile *other = &tiles->tile[number % tiles->count];
    for (int k = 0; k < QUANTITIES; k++)
        for (long row = 0; row < to.rows; row++)
            memcpy(zone_of(tiles, tile, k, to.row + row, to.column),
                   zone_of(tiles, other, k, from.row + row, from.column),
                   (size_t)to.columns * sizeof(double));
}

/* Where the grid ends, ghost zones mirror the tile's zones at a wall, or repeat the last zone. */
static inline void end_grid(const struct tiles *tiles, const struct tile *tile, int is_y,
                            int behind) {
    enum around around = is_y ? tiles->problem->around_y : tiles->problem->around_x;
    long side = tiles->side, edge = behind ? GHOSTS + side - 1 : GHOSTS, way = behind ? 1 : -1;
    for (int k = 0; k < QUANTITIES; k++) {
        double sign = around == WALLS && k == (is_y ? MOMENTUM_ACROSS : MOMENTUM) ? -1.0 : 1.0;
        for (long ghost = 1; ghost <= GHOSTS; ghost++)
            for (long i = 0; i < width_of(tiles); i++) {
                long to = edge + way * ghost;
                long from = around == WALLS ? edge - way * (ghost - 1) : edge;
                double value = *zone_of(tiles, tile, k, is_y ? from : i, is_y ? i : from);
                *zone_of(tiles, tile, k, is_y ? to : i, is_y ? i : to) = sign * value;
            }
    }
}

/* Both ends of the grid along an axis. */
static inline void end_axis(const struct tiles *tiles, int is_y) {
    for (int i = 0; i < tiles->count; i++)
        for (int behind = 0; behind < 2; behind++) {
            int direction = MIDDLE + (is_y ? 3 : 1) * (behind ? 1 : -1);
            if (neighbour(tiles, &tiles->tile[i], direction) < 0)
                end_grid(tiles, &tiles->tile[i], is_y, behind);
        }
}

/* The given stand-in for an exchange: as if the grid ended at the borders to other ranks. */
static inline void end_at_borders(const struct tiles *tiles) {
    for (int i = 0; i < tiles->borders; i++) {
        const struct border *border = &tiles->border[i];
        struct block to = ghosts_of(tiles, border->direction);
        long last = GHOSTS + tiles->side - 1;
        for (int k = 0; k < QUANTITIES; k++)
            for (long row = to.row; row < to.row + to.rows; row++)
                for (long column = to.column; column < to.column + to.columns; column++) {
                    long near_row = row < GHOSTS ? GHOSTS : row > last ? last : row;
                    long near_column = column < GHOSTS ? GHOSTS : column > last ? last : column;
                    *zone_of(tiles, &tiles->tile[border->tile], k, row, column) =
                        *zone_of(tiles, &tiles->tile[border->tile], k, near_row, near_column);
                }
    }
}

static inline void make_borders(struct tiles *tiles) {
    tiles->border = room_for((long)tiles->count * DIRECTIONS, sizeof *tiles->border);
    tiles->requests = room_for((long)tiles->count * DIRECTIONS * 2, sizeof(MPI_Request));
    for (int i = 0; i < tiles->count * DIRECTIONS * 2; i++)
        tiles->requests[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < tiles->count; i++)
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            const struct tile *tile = &tiles->tile[i];
            if (direction == MIDDLE || !is_elsewhere(tiles, tile, direction))
                continue;
            struct block block = ghosts_of(tiles, direction);
            long number = neighbour(tiles, tile, direction);
            long count = block.rows * block.columns * QUANTITIES;
            tiles->border[tiles->borders++] = (struct border){
                .tile = i,
                .direction = direction,
                .rank = owner(tiles, number),
                .count = (int)count,
                .tag_out = (int)number * DIRECTIONS + 8 - direction, /* as the other one sees it */
                .tag_in = (int)tile->number * DIRECTIONS + direction,
                .out = room_for(count, sizeof(double)),
                .in = room_for(count, sizeof(double)),
            };
        }
}

/* This rank's tiles, without gas. */
static inline struct tiles make_tiles(const struct problem *problem, long columns, long rows,
                                      long side) {
    struct tiles tiles = {.problem = problem, .columns = columns, .rows = rows, .side = side};
    tiles.grid = make_grid(problem, columns * side, rows * side);
    tiles.count = (int)(columns * rows / all_ranks());
    long zones = width_of(&tiles) * width_of(&tiles) * QUANTITIES;
    refuse_more_memory("The tiles need too much memory",
                       (double)zones * tiles.count * sizeof(double));
    tiles.tile = room_for(tiles.count, sizeof *tiles.tile);
    for (int i = 0; i < tiles.count; i++) {
        struct tile *tile = &tiles.tile[i];
        tile->number = (long)my_rank() * tiles.count + i;
        tile->column = tile->number % columns, tile->row = tile->number / columns;
        tile->zones = room_for(zones, sizeof(double));
    }
    make_borders(&tiles);
    return tiles;
}

/* An own zone of this rank: its tile, its place in the tile and in the whole grid. */
struct place {
    const struct tile *tile;
    long row, column, grid_row, grid_column;
};

/* The next own zone of this rank; the first one for a place with tile NULL. Gives 0 at the end. */
static inline int next_zone(const struct tiles *tiles, struct place *place) {
    if (!place->tile)
        *place = (struct place){.tile = tiles->tile, .row = GHOSTS, .column = GHOSTS};
    else if (++place->column == GHOSTS + tiles->side) {
        place->column = GHOSTS;
        if (++place->row == GHOSTS + tiles->side) {
            place->row = GHOSTS;
            if (++place->tile == tiles->tile + tiles->count)
                return 0;
        }
    }
    place->grid_row = place->tile->row * tiles->side + place->row - GHOSTS;
    place->grid_column = place->tile->column * tiles->side + place->column - GHOSTS;
    return 1;
}

/* The gas at the beginning. Ghost zones are not numbers until something fills them. */
static inline void begin_gas(struct tiles *tiles) {
    long zones = width_of(tiles) * width_of(tiles) * QUANTITIES;
    for (int i = 0; i < tiles->count; i++)
        for (long j = 0; j < zones; j++)
            tiles->tile[i].zones[j] = NAN;
    for (struct place place = {0}; next_zone(tiles, &place);) {
        double zone[QUANTITIES];
        begin_zone(tiles->problem, &tiles->grid, place.grid_column, place.grid_row, zone);
        for (int k = 0; k < QUANTITIES; k++)
            *zone_of(tiles, place.tile, k, place.row, place.column) = zone[k];
    }
    tiles->step = tiles->swept = 0;
}

#endif
