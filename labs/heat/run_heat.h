/* What calls the functions of heat_step.c and heat_overlap.c, checks what they give and measures
 * them. This file need not be changed.
 *
 * A plate is drawn by chance, the same on every rank, so that each rank knows by itself what its
 * rows should be. What is wrong ends the run with a line that names the rank and the row. */
#ifndef RUN_HEAT_H
#define RUN_HEAT_H

#include "measure.h"
#include <math.h>
#include <signal.h>

enum { TAG = 5, STOPPED = 7, MOST_SIZES = 8, TRIALS = 4, LATE_MS = 30, LIMIT_S = 20 };
enum { FEW_COLUMNS = 8, ANNOUNCED_COLUMNS = 20000 }; /* 160 kB: the library asks before it sends */
static const double UNFILLED = -100.0, LATE = -5.0, TOLERANCE = 1e-12, SAMPLE_S = 2e-3;

/* A rank's part of a plate. Rows 0 and `rows` + 1 are ghost rows, or edges where there is no
 * neighbour: then `above` or `below` is MPI_PROC_NULL, with which messages go nowhere. */
struct plate {
    int rows, columns; /* the rank's own rows; all columns, both edges among them */
    double *old, *new; /* before a step and after it: (rows + 2) * columns numbers each */
    int above, below;  /* the ranks of the neighbours */
    long first, all;   /* the number of its row 1 in the whole plate, and of the last edge */
    long seed;
};

typedef void (*whole_step)(int rows, int columns, const double *old, double *new);
typedef void (*plate_step)(struct plate *plate);

static inline double *row_of(struct plate *plate, int row) {
    return plate->old + (size_t)row * (size_t)plate->columns;
}

/* Given: the step of rows `from` to `to` of a part. */
static inline void step_rows(struct plate *plate, int from, int to) {
    long width = plate->columns;
    for (long row = from; row <= to; row++) {
        const double *here = plate->old + row * width, *up = here - width, *down = here + width;
        double *there = plate->new + row *width;
        for (long column = 1; column < width - 1; column++)
            there[column] =
                0.25 * (up[column] + down[column] + here[column - 1] + here[column + 1]);
    }
}

/* The number at a place of the whole plate before a step, and after it. */
static inline double number_at(const struct plate *plate, long row, long column) {
    if (row == 0)
        return 1.0;
    if (row == plate->all || column == 0 || column == plate->columns - 1)
        return 0.0;
    uint64_t state = (uint64_t)(plate->seed * 1000003 + row * plate->columns + column);
    return (double)(next_random(&state) >> 11) * 0x1p-53;
}

static inline double number_after(const struct plate *plate, long row, long column) {
    return 0.25 * (number_at(plate, row - 1, column) + number_at(plate, row + 1, column) +
                   number_at(plate, row, column - 1) + number_at(plate, row, column + 1));
}

/* Where this rank is in the learner's file, for the message of a deadlock. */
static const char *doing_function = "", *doing_call = "";
static volatile int doing_line;
static char doing_node[MPI_MAX_PROCESSOR_NAME];

static inline void begin_check(const char *function) {
    begin_line("check");
    put_text("function", function);
    put_truth("right", 0);
    put_count("rank", my_rank());
    put_text("node", doing_node);
}

static inline _Noreturn void leave_all(void) {
    flush_lines();
    wait_ms(my_rank() == 0 ? 1000 : 2000); /* what others print is passed on, too */
    _exit(STOPPED);
}

/* The time is over: the library is waiting, or a loop does not end, so that nothing else of this
 * program is under way that printing could disturb. */
static inline void time_is_over(int signal) {
    (void)signal;
    begin_check(doing_function);
    put_truth("hangs", 1);
    put_count("line", doing_line);
    put_text("text", doing_line ? doing_call : "");
    end_line();
    leave_all();
}

static inline void watch(const char *function) {
    doing_function = function;
    doing_line = 0;
    alarm(LIMIT_S);
}

/* End all ranks when one of them has found a fault; the first of those says so. */
static inline void agree(const char *function, const char *fault) {
    int mine = *fault ? my_rank() : all_ranks(), first;
    check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    alarm(0);
    if (first == all_ranks())
        return;
    if (first == my_rank()) {
        begin_check(function);
        put_text("why", fault);
        end_line();
        leave_all();
    }
    wait_ms(3000); /* the first one has been heard meanwhile */
    _exit(STOPPED);
}

static inline void make_plate(struct plate *plate, long all_rows, int columns, long seed) {
    long me = my_rank(), ranks = all_ranks(), inner = all_rows - 2;
    plate->first = 1 + inner * me / ranks;
    plate->rows = (int)(1 + inner * (me + 1) / ranks - plate->first);
    plate->columns = columns;
    plate->all = all_rows - 1;
    plate->seed = seed;
    plate->above = me > 0 ? (int)me - 1 : MPI_PROC_NULL;
    plate->below = me < ranks - 1 ? (int)me + 1 : MPI_PROC_NULL;
    long bytes = (plate->rows + 2) * (long)columns * (long)sizeof(double);
    plate->old = (double *)(void *)message_buffer(bytes, 2);
    plate->new = (double *)(void *)message_buffer(bytes, 2);
}

/* The next row to look at, the last one at the end; 0 after it. */
static inline int next_row(const struct plate *plate, int row, int every) {
    if (row == plate->rows)
        return 0;
    return row + every < plate->rows ? row + every : plate->rows;
}

/* What a step is to fill becomes nothing: ghost rows of a neighbour's, and rows of `new`, of which
 * only each `every`th and the last are looked at, because computing again takes long. */
static inline void empty_plate(struct plate *plate, int every) {
    int neighbours[] = {plate->above, plate->below}, ghosts[] = {0, plate->rows + 1};
    for (int i = 0; i < 2; i++)
        for (int column = 0; column < plate->columns && neighbours[i] != MPI_PROC_NULL; column++)
            row_of(plate, ghosts[i])[column] = UNFILLED;
    for (int row = 1; row > 0; row = next_row(plate, row, every))
        for (int column = 1; column < plate->columns - 1; column++)
            plate->new[(long)row * plate->columns + column] = NAN;
}

/* The plate before a step. */
static inline void fill_plate(struct plate *plate) {
    for (int row = 0; row <= plate->rows + 1; row++)
        for (int column = 0; column < plate->columns; column++) {
            long place = (long)row * plate->columns + column;
            plate->old[place] = number_at(plate, plate->first - 1 + row, column);
            plate->new[place] = plate->old[place];
        }
    empty_plate(plate, 1);
}

/* What is wrong with one row of `new`; an empty text when nothing is. */
static inline int row_fault(const struct plate *plate, int row, char *why, size_t most) {
    long number = plate->first - 1 + row;
    const char *border = row == 1 || row == plate->rows ? ", a border row," : "";
    const double *there = plate->new + (size_t)row *(size_t)plate->columns;
    for (int column = 0; column < plate->columns; column++) {
        int edge = column == 0 || column == plate->columns - 1;
        double wanted = edge ? 0.0 : number_after(plate, number, column);
        if (fabs(there[column] - wanted) <= TOLERANCE)
            continue;
        if (isnan(there[column]))
            snprintf(why, most, "row %ld%s is not filled at column %d", number, border, column);
        else if (edge)
            snprintf(why, most, "the edge of `new` is overwritten: row %ld, column %d", number,
                     column);
        else if (*border && there[column] < 0.0)
            snprintf(why, most,
                     "row %ld, a border row, is computed without the neighbour's row: before it has"
                     " arrived, or after its owner wrote over it",
                     number);
        else
            snprintf(why, most,
                     "row %ld, column %d of `new` is %.6g; the mean of its neighbours in `old` is"
                     " %.6g",
                     number, column, there[column], wanted);
        return 1;
    }
    return 0;
}

static inline void plate_fault(const struct plate *plate, int every, char *why, size_t most) {
    int outer[] = {0, plate->rows + 1}, neighbours[] = {plate->above, plate->below};
    why[0] = '\0';
    for (int row = 1; row > 0; row = next_row(plate, row, every))
        if (row_fault(plate, row, why, most))
            return;
    for (int i = 0; i < 2; i++)
        for (int column = 0; column < plate->columns && neighbours[i] == MPI_PROC_NULL; column++)
            if (plate->new[(long)outer[i] * plate->columns + column] !=
                number_at(plate, plate->first - 1 + outer[i], column))
                snprintf(why, most, "the edge of `new` is overwritten: its %s row",
                         i == 0 ? "first" : "last");
}

/* What is timed: a step of the whole plate, a part of an exchange and a step, or both. */
struct operation {
    const char *function, *way, *quantity;
    plate_step go;
    int checked;
};

static inline double run_operation(const struct operation *operation, struct plate *plate,
                                   long repetitions) {
    char why[240] = "";
    int every = 1 + plate->rows / 8;
    empty_plate(plate, every);
    watch(operation->function);
    check(MPI_Barrier(MPI_COMM_WORLD));
    double began = MPI_Wtime();
    for (long i = 0; i < repetitions; i++)
        operation->go(plate);
    double seconds = slowest(MPI_Wtime() - began);
    if (operation->checked)
        plate_fault(plate, every, why, sizeof why);
    agree(operation->function, why);
    return seconds;
}

static inline void write_sample(const struct operation *operation, const struct plate *plate,
                                long repetitions, double seconds, long pass) {
    if (my_rank() > 0)
        return;
    begin_line("sample");
    put_text("quantity", operation->quantity);
    put_text("way", operation->way);
    put_count("rows", plate->all + 1);
    put_count("columns", plate->columns);
    put_count("repetitions", repetitions);
    put_number("seconds", seconds);
    put_count("pass", pass);
    end_line();
}

/* Go round all operations on all plates, in a new order each pass. */
static inline void measure_all(const char *program, const struct operation *operations, int count,
                               struct plate *plates, int sizes, long passes) {
    long repetitions[MOST_SIZES * 4];
    int order[MOST_SIZES * 4], places = count * sizes;
    for (int i = 0; i < places; i++) { /* also a warm-up */
        double once = run_operation(&operations[i % count], &plates[i / count], 1);
        repetitions[i] = once < SAMPLE_S ? (long)(SAMPLE_S / once + 1.0) : 1;
        check(MPI_Bcast(&repetitions[i], 1, MPI_LONG, 0, MPI_COMM_WORLD));
    }
    keep_lines_back();
    begin_about(program, clock_resolution(), passes * places);
    if (my_rank() == 0)
        end_line();
    for (long pass = 0; pass < passes; pass++) {
        shuffle(order, places, 1, pass);
        for (int i = 0; i < places; i++) {
            const struct operation *operation = &operations[order[i] % count];
            struct plate *plate = &plates[order[i] / count];
            double seconds = run_operation(operation, plate, repetitions[order[i]]);
            write_sample(operation, plate, repetitions[order[i]], seconds, pass);
        }
        flush_lines();
    }
    if (my_rank() == 0)
        write_end();
}

static inline void begin_heat(int *argc, char ***argv) {
    int length;
    start_mpi(argc, argv);
    check(MPI_Get_processor_name(doing_node, &length));
    signal(SIGALRM, time_is_over);
}

static whole_step heat_step_of_file;

static inline void step_of_file(struct plate *plate) {
    heat_step_of_file(plate->rows + 2, plate->columns, plate->old, plate->new);
}

/* --rows 100,500: plates of so many rows and columns. --passes 10 */
static inline int measure_step(int argc, char **argv, whole_step step) {
    static const char *const KNOWN[] = {"--rows", "--passes", NULL};
    const struct operation operation = {"heat_step", "C", "step_s", step_of_file, 1};
    struct plate plates[MOST_SIZES], small;
    long rows[MOST_SIZES];
    char why[240];

    begin_heat(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    if (all_ranks() != 1)
        refuse("A step is measured on one rank: mpiexec -n 1 ./heat_step");
    int sizes = list_argument(argc, argv, "--rows", "100,500", 3, 20000, rows, MOST_SIZES);
    long passes = number_argument(argc, argv, "--passes", 10, 0, 10000);
    heat_step_of_file = step;
    make_plate(&small, 7, 9, 1);
    fill_plate(&small);
    watch("heat_step");
    step_of_file(&small);
    plate_fault(&small, 1, why, sizeof why);
    agree("heat_step", why);
    for (int i = 0; i < sizes; i++) {
        make_plate(&plates[i], rows[i], (int)rows[i], 2);
        fill_plate(&plates[i]);
    }
    measure_all("heat_step", &operation, 1, plates, sizes, passes);
    check(MPI_Finalize());
    return 0;
}

static inline void only_exchange(struct plate *plate) {
    int columns = plate->columns, rows = plate->rows;
    check(MPI_Sendrecv(row_of(plate, 1), columns, MPI_DOUBLE, plate->above, TAG,
                       row_of(plate, rows + 1), columns, MPI_DOUBLE, plate->below, TAG,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(MPI_Sendrecv(row_of(plate, rows), columns, MPI_DOUBLE, plate->below, TAG,
                       row_of(plate, 0), columns, MPI_DOUBLE, plate->above, TAG, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
}

static inline void only_step(struct plate *plate) { step_rows(plate, 1, plate->rows); }

/* Call it on small and wide plates, where every other rank comes late, and each writes over its
 * border rows as soon as the call has returned: so a receive that nobody waited for shows. */
static inline void try_overlap(const char *function, plate_step step) {
    const int widths[] = {FEW_COLUMNS, ANNOUNCED_COLUMNS};
    char why[240];
    for (int trial = 0; trial < 2 * TRIALS; trial++) {
        struct plate plate;
        make_plate(&plate, (1 + trial / 2) * all_ranks() + 2, widths[trial % 2], trial);
        fill_plate(&plate);
        watch(function);
        check(MPI_Barrier(MPI_COMM_WORLD));
        if ((my_rank() + trial / 2) % 2)
            wait_ms(LATE_MS);
        step(&plate);
        for (int row = 1; row <= plate.rows; row++)
            for (int column = 0; column < plate.columns; column++)
                row_of(&plate, row)[column] = LATE;
        plate_fault(&plate, 1, why, sizeof why);
        agree(function, why);
    } /* a plate is kept: a message may still come from it */
}

/* --rows 802, of the whole plate. --columns 8000,20000. --passes 10 */
static inline int measure_overlap(int argc, char **argv, plate_step before, plate_step during) {
    static const char *const KNOWN[] = {"--rows", "--columns", "--passes", NULL};
    const struct operation operations[] = {
        {"exchange", "exchange", "exchange_s", only_exchange, 0},
        {"compute", "compute", "compute_s", only_step, 0},
        {"one_after_the_other", "before", "step_s", before, 1},
        {"overlapped", "overlapped", "step_s", during, 1},
    };
    struct plate plates[MOST_SIZES];
    long columns[MOST_SIZES];

    begin_heat(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    if (all_ranks() < 2)
        refuse("Two ranks or more share a plate: mpiexec -n 2 ./heat_overlap");
    long rows = number_argument(argc, argv, "--rows", 802, 3, 100000);
    long passes = number_argument(argc, argv, "--passes", 10, 0, 10000);
    int sizes =
        list_argument(argc, argv, "--columns", "8000,20000", 3, 1000000, columns, MOST_SIZES);
    if (rows < all_ranks() + 2)
        refuse("%d ranks share at least %d rows.", all_ranks(), all_ranks() + 2);
    try_overlap("one_after_the_other", before);
    try_overlap("overlapped", during);
    for (int i = 0; i < sizes; i++) {
        make_plate(&plates[i], rows, (int)columns[i], 100);
        fill_plate(&plates[i]);
    }
    measure_all("heat_overlap", operations, 4, plates, sizes, passes);
    check(MPI_Finalize());
    return 0;
}

/* From here on, a call that may wait notes its line. In parentheses a name is no macro. */
static inline int noted(int line, const char *call) {
    doing_call = call;
    doing_line = line;
    return 0;
}
#define MPI_Send(...) (noted(__LINE__, "MPI_Send"), (MPI_Send)(__VA_ARGS__))
#define MPI_Recv(...) (noted(__LINE__, "MPI_Recv"), (MPI_Recv)(__VA_ARGS__))
#define MPI_Sendrecv(...) (noted(__LINE__, "MPI_Sendrecv"), (MPI_Sendrecv)(__VA_ARGS__))
#define MPI_Wait(...) (noted(__LINE__, "MPI_Wait"), (MPI_Wait)(__VA_ARGS__))
#define MPI_Waitall(...) (noted(__LINE__, "MPI_Waitall"), (MPI_Waitall)(__VA_ARGS__))
#define MPI_Test(...) (noted(__LINE__, "MPI_Test"), (MPI_Test)(__VA_ARGS__))
#define MPI_Testall(...) (noted(__LINE__, "MPI_Testall"), (MPI_Testall)(__VA_ARGS__))

#endif
