/* What the four programs of this lab share: work of a known length, and the times of two ranks. */
#ifndef OVERLAP_H
#define OVERLAP_H

#include "measure.h"
#include <sys/socket.h>

enum { TAG = 7, WARM_UPS = 10, MOST_SIZES = 64, MOST_SOCKETS = 1024 };

static const char *const WORKS[] = {"delay", "loop", NULL};

/* How a rank works: it sleeps, or computes in a loop. Either way it may interrupt itself `tests`
 * times to call MPI_Test. */
struct work {
    int loop;
    int tests;
    double rounds_per_us;
};

/* The number after `--name`, such as 0.25, or `otherwise`. */
static inline double decimal_argument(int argc, char **argv, const char *name, double otherwise,
                                      double lowest, double highest) {
    const char *text = text_argument(argc, argv, name, NULL);
    if (!text)
        return otherwise;
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end)
        refuse("%s takes a number, not '%s'.", name, text);
    if (!(value >= lowest && value <= highest))
        refuse("%s takes numbers from %g to %g, not %s.", name, lowest, highest, text);
    return value;
}

/* --work and --tests. The number of rounds a microsecond is that of the faster rank on both, so
 * that both have the same work, as in paper D, and not merely the same time. */
static inline struct work work_arguments(int argc, char **argv, const char *otherwise) {
    struct work work = {0, 0, 0.0};
    work.loop = word_argument(argc, argv, "--work", otherwise, WORKS);
    work.tests = (int)number_argument(argc, argv, "--tests", 0, 0, 1000000);
    double mine = calibrate_work();
    check(MPI_Allreduce(&mine, &work.rounds_per_us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return work;
}

static inline void work_once(const struct work *work, double seconds) {
    if (work->loop) {
        compute_us(seconds * 1e6, work->rounds_per_us);
    } else {
        struct timespec rest = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
        while (nanosleep(&rest, &rest) != 0)
            ; /* a signal woke us: sleep what is left */
    }
}

/* Work for so many seconds. With --tests the work is cut into as many slices, each followed by an
 * MPI_Test of `request`: a call in which MPI may move any message on, not only this one. */
static inline void do_work(const struct work *work, double seconds, MPI_Request *request) {
    int slices = request && work->tests ? work->tests : 1;
    for (int i = 0; i < slices; i++) {
        int done;
        work_once(work, seconds / slices);
        if (request && work->tests)
            check(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

/* The fields of the first line that all four programs share. */
static inline void put_work(const struct work *work, double seconds) {
    if (my_rank() != 0)
        return;
    put_text("work", WORKS[work->loop]);
    put_count("tests", work->tests);
    put_number("work_s", seconds);
    put_number("rounds_per_us", work->rounds_per_us);
    put_text("synchronised", "MPI_Barrier before each measured operation");
}

/* Bring the `count` times of rank 1 to rank 0, behind its own. Nothing of it is measured. */
static inline void gather_times(double *mine, double *of_both, int count) {
    check(MPI_Gather(mine, count, MPI_DOUBLE, of_both, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
}

/* A sample of one operation. The caller puts its other coordinates and ends the line. */
static inline void begin_sample(const char *quantity, double seconds, long pass, long size) {
    begin_line("sample");
    put_text("quantity", quantity);
    put_count("repetitions", 1);
    put_number("seconds", seconds);
    put_count("pass", pass);
    put_count("size_bytes", size);
}

/* A message there and back. */
static inline void exchange(unsigned char *buffer, int size) {
    if (my_rank() == 0) {
        check(MPI_Send(buffer, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD));
        check(MPI_Recv(buffer, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        check(MPI_Recv(buffer, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(MPI_Send(buffer, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
    }
}

/* How many bytes the kernel takes from a rank for a connection and keeps until they have arrived, as
 * the kernel itself says of the first connected TCP socket of this process; 0 where MPI has none. */
static inline long send_buffer_bytes(void) {
    for (int socket = 3; socket < MOST_SOCKETS; socket++) {
        struct sockaddr_storage other;
        int bytes;
        socklen_t length = sizeof other, size = sizeof bytes;
        if (getpeername(socket, (struct sockaddr *)&other, &length) == 0 &&
            (other.ss_family == AF_INET || other.ss_family == AF_INET6) &&
            getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0)
            return bytes;
    }
    return 0;
}

/* The first message between the two ranks sets up their connection, so it has a line of its own, with
 * the connection's send buffer; some of each size follow, which are not counted, to get everything
 * warm. */
static inline void warm_up(unsigned char *buffer, const long *sizes, int count) {
    double start = MPI_Wtime();
    exchange(buffer, (int)sizes[0]);
    double seconds = MPI_Wtime() - start;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < WARM_UPS; j++)
            exchange(buffer, (int)sizes[i]);
    if (my_rank() == 0) {
        begin_line("first");
        put_count("size_bytes", sizes[0]);
        put_number("seconds", seconds);
        put_text("way", "there and back");
        put_count("send_buffer_bytes", send_buffer_bytes());
        end_line();
    }
}

static inline long largest_of(const long *sizes, int count) {
    long largest = 0;
    for (int i = 0; i < count; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    return largest;
}

static inline void refuse_other_than_two_ranks(void) {
    if (all_ranks() != 2)
        refuse("This program takes two ranks (mpiexec -n 2), not %d.", all_ranks());
}

#endif
