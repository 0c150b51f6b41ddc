/* Recorder: what does each rank of an MPI program do, and when?
 *
 * As profile.c of lab 03 it stands between a program and the library: it defines MPI_Send and its
 * like, notes when each began and ended, and passes it on to PMPI_Send. profile.c adds up; this file
 * keeps every call, with partner, tag, bytes, communicator and request, in a file of the rank's own
 * (trace_file.h).
 *
 *     beowulf run --trace -n 4 PROGRAM
 *
 * BEOWULF_TRACE_CLOCKS=1, for machines with clocks of their own: at the beginning and at the end each
 * rank asks rank 0 what time it is. BEOWULF_TRACE names the folder for the files; without it nothing is recorded until the program
 * calls beowulf_trace_start(FOLDER). BEOWULF_TRACE_MOST: so many events are kept of each rank, the
 * later ones are only counted.
 *
 * Marks of the program's own: MPI_Pcontrol(10, "name") begins one, MPI_Pcontrol(11, "name") ends it.
 * Levels 0 and 1 are kept without a name; NPB's programs mark with them the part that they time. */
#define _GNU_SOURCE
#include "trace_file.h"
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    DEFAULT_MOST = 1000000,
    PIECE = 32768, /* events by which the file grows */
    SMALLEST_PIECE = 512,
    FEW = 64,   /* so many requests are noted without asking for memory */
    ASKED = 20, /* times that a rank asks for the time of rank 0 */
    CLOCK_TAG = 12345,
    BEGIN_MARK = 10,
    END_MARK = 11,
};
#define CLOCK_EVERY_NS 500000000LL

/* clang-format off */
#define CALLS(X)                                                                                   \
    X(Finalize)                                                                                    \
    X(Pcontrol)                                                                                    \
    X(Send)                                                                                        \
    X(Bsend)                                                                                       \
    X(Ssend) X(Rsend) X(Isend) X(Ibsend) X(Issend) X(Irsend) X(Recv) X(Irecv) X(Sendrecv)          \
        X(Sendrecv_replace) X(Send_init) X(Bsend_init) X(Ssend_init) X(Rsend_init) X(Recv_init) X( \
            Start) X(Startall) X(Probe) X(Iprobe) X(Mprobe) X(Improbe) X(Mrecv) X(Imrecv) X(Wait)  \
            X(Waitany) X(Waitsome) X(Waitall) X(Test) X(Testany) X(Testsome) X(Testall) X(Barrier) \
                X(Bcast) X(Reduce) X(Allreduce) X(Scan) X(Exscan) X(Gather) X(Gatherv) X(Scatter)  \
                    X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv) X(Alltoallw)   \
                        X(Reduce_scatter) X(Reduce_scatter_block) X(Ibarrier) X(Ibcast) X(Ireduce) \
                            X(Iallreduce) X(Iscan) X(Iexscan) X(Igather) X(Igatherv) X(Iscatter)   \
                                X(Iscatterv) X(Iallgather) X(Iallgatherv) X(Ialltoall)             \
                                    X(Ialltoallv) X(Ireduce_scatter) X(Ireduce_scatter_block)      \
                                        X(Comm_dup) X(Comm_dup_with_info) X(Comm_split)            \
                                            X(Comm_split_type) X(Comm_create) X(Comm_create_group) \
                                                X(Cart_create) X(Cart_sub) X(Comm_free)
/* clang-format on */

#define NUMBER(name) CALL_##name,
enum call { CALLS(NUMBER) CALL_COUNT };
#define NAME(name) "MPI_" #name,
static const char *const NAMES[CALL_COUNT] = {CALLS(NAME)};

/* The file. */

static struct head *head; /* NULL: nothing is recorded */
static struct event *events;
static uint64_t room;  /* events for which the file has room */
static uint64_t taken; /* places given out */
static int file = -1;
static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER;
static int several_threads;
static int64_t clock_read_ns;
static uint32_t threads;
static __thread uint32_t thread_number; /* from 1 */
static __thread int inside; /* a call of MPI's within another one is not the program's */

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int64_t now_ns(void) { return read_clock(CLOCK_MONOTONIC); }

static void lock_tables(void) {
    if (several_threads)
        pthread_mutex_lock(&tables);
}

static void unlock_tables(void) {
    if (several_threads)
        pthread_mutex_unlock(&tables);
}

/* Both clocks at one moment: the monotonic one before and after the other. */
static void read_both_clocks(void) {
    int64_t before = now_ns(), real = read_clock(CLOCK_REALTIME), after = now_ns();
    clock_read_ns = after;
    if (head->clock_count < MOST_CLOCKS)
        head->clocks[head->clock_count++] = (struct moment){before + (after - before) / 2, real};
}

static size_t bytes_for(uint64_t count) {
    return sizeof(struct head) + count * sizeof(struct event);
}

/* Room for more events on the disk, before they are written: a full disk would end the program. Where there is no room
 * for a whole piece, which another rank may be asking for at the same time, there may be for half of it. */
static void grow(uint64_t wanted) {
    int failed = 1;
    for (uint64_t piece = PIECE; failed && piece >= SMALLEST_PIECE; piece /= 2) {
        uint64_t more = room + piece;
        if (more > head->most_events)
            more = head->most_events;
        if (more <= wanted)
            break;
        failed = posix_fallocate(file, (off_t)bytes_for(room),
                                 (off_t)(bytes_for(more) - bytes_for(room)));
        if (!failed)
            room = more;
    }
    if (failed)
        head->full = failed;
}

static void say(const char *what, const char *path, int error) {
    fprintf(stderr, "Nothing is recorded: %s %s: %s.\n", what, path, strerror(error));
}

static void open_file(const char *folder) {
    char path[4096];
    int rank, ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *wish = getenv("BEOWULF_TRACE_MOST");
    long most = wish ? atol(wish) : DEFAULT_MOST;
    if (most < 1)
        most = DEFAULT_MOST;
    snprintf(path, sizeof path, "%s/rank-%d.trace", folder, rank);
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
        say("cannot write", path, errno);
        return;
    }
    int failed = posix_fallocate(file, 0, sizeof(struct head));
    size_t whole = bytes_for((uint64_t)most);
    void *memory =
        failed ? MAP_FAILED : mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        say("cannot write", path, failed ? failed : errno);
        close(file);
        unlink(path);
        file = -1;
        return;
    }
    struct head *fresh = memory;
    memcpy(fresh->magic, "BEOTRACE", 8);
    fresh->version = VERSION;
    fresh->head_bytes = sizeof *fresh;
    fresh->event_bytes = sizeof(struct event);
    fresh->rank = rank;
    fresh->ranks = ranks;
    fresh->pid = getpid();
    fresh->began_ns = now_ns();
    fresh->most_events = (uint32_t)most;
    fresh->call_count = CALL_COUNT;
    for (int i = 0; i < CALL_COUNT; i++)
        snprintf(fresh->calls[i], sizeof fresh->calls[i], "%s", NAMES[i]);
    gethostname(fresh->host, sizeof fresh->host - 1);
    int line = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (line >= 0) {
        ssize_t got = read(line, fresh->program, sizeof fresh->program - 1);
        for (ssize_t i = 0; i + 1 < got; i++)
            if (!fresh->program[i])
                fresh->program[i] = ' ';
        close(line);
    }
    room = taken = 0;
    events = (struct event *)(fresh + 1);
    /* The world is communicator 0. */
    fresh->comms[0] = (struct comm){0, 0, ranks};
    fresh->comm_count = 1;
    head = fresh;
    read_both_clocks();
}

static void close_file(int finished) {
    if (!head)
        return;
    struct head *old = head;
    read_both_clocks();
    old->ended_ns = now_ns();
    old->finished = finished;
    head = NULL;
    size_t whole = bytes_for(old->most_events);
    size_t used = bytes_for(old->events);
    munmap(old, whole);
    if (ftruncate(file, (off_t)used) != 0) /* what is behind the last event is no harm */
        errno = 0;
    close(file);
    file = -1;
}

static void put(struct event event) {
    if (!thread_number)
        thread_number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    event.thread = (uint16_t)thread_number;
    lock_tables();
    uint64_t place = taken;
    if (place >= room && !head->full)
        grow(place);
    if (place >= room) {
        if (head->left_out++ == 0)
            head->left_out_since_ns = event.began_ns;
    } else {
        events[place] = event;
        taken = place + 1;
        __atomic_store_n(&head->events, taken, __ATOMIC_RELEASE);
    }
    unlock_tables();
}

/* Note a call that has just ended, and hand its code on. */
static int note(enum call call, int64_t began_ns, int64_t ended_ns, int code, struct event event) {
    event.began_ns = began_ns;
    event.ended_ns = ended_ns;
    event.call = (uint16_t)call;
    if (code != MPI_SUCCESS)
        event.flags |= FAILED;
    put(event);
    if (ended_ns - clock_read_ns > CLOCK_EVERY_NS)
        read_both_clocks();
    return code;
}

/* Communicators: the places of their members in the world. */

struct members {
    MPI_Comm comm;
    int size; /* 0: free */
    int *ranks;
    uint16_t place;
};

static struct members known[MOST_COMMS];
static int known_count;
static struct members *latest;

static uint64_t digest(const int *ranks, int size) {
    uint64_t sum = 14695981039346656037ULL;
    for (int i = 0; i < size; i++)
        sum = (sum ^ (uint64_t)(uint32_t)ranks[i]) * 1099511628211ULL;
    return sum;
}

/* Enter a communicator into the tables; the ranks of its members all do so in the same order. */
static struct members *enter(MPI_Comm comm) {
    int inter = 0, size = 0;
    PMPI_Comm_test_inter(comm, &inter);
    MPI_Group world, group;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    if (inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &size);
    int *ranks = malloc((size_t)size * sizeof *ranks), *own = malloc((size_t)size * sizeof *own);
    struct members *free_one = NULL;
    for (int i = 0; i < known_count && !free_one; i++)
        if (known[i].size == 0)
            free_one = &known[i];
    if (!free_one && known_count < MOST_COMMS)
        free_one = &known[known_count++];
    if (ranks && own && free_one) {
        for (int i = 0; i < size; i++)
            own[i] = i;
        PMPI_Group_translate_ranks(group, size, own, world, ranks);
        for (int i = 0; i < size; i++)
            if (ranks[i] == MPI_UNDEFINED)
                ranks[i] = UNKNOWN;
        *free_one = (struct members){comm, size, ranks, UINT16_MAX};
        ranks = NULL;
        if (head->comm_count < MOST_COMMS) {
            uint64_t members = digest(free_one->ranks, size);
            uint32_t number = 0;
            for (uint32_t i = 0; i < head->comm_count; i++)
                number += head->comms[i].members == members && head->comms[i].size == size;
            free_one->place = (uint16_t)head->comm_count;
            head->comms[head->comm_count++] = (struct comm){members, number, size};
        } else {
            head->comms_left_out++;
        }
    } else {
        free_one = NULL;
    }
    free(ranks);
    free(own);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return free_one;
}

static struct members *of(MPI_Comm comm) {
    if (latest && latest->size && latest->comm == comm)
        return latest;
    for (int i = 0; i < known_count; i++)
        if (known[i].size && known[i].comm == comm)
            return latest = &known[i];
    return latest = enter(comm);
}

static void forget(MPI_Comm comm) {
    for (int i = 0; i < known_count; i++) {
        if (known[i].size && known[i].comm == comm) {
            free(known[i].ranks);
            known[i] = (struct members){MPI_COMM_NULL, 0, NULL, 0};
        }
    }
    latest = NULL;
}

static uint16_t place_of(MPI_Comm comm) {
    if (comm == MPI_COMM_WORLD)
        return 0;
    lock_tables();
    struct members *members = of(comm);
    uint16_t place = members ? members->place : UINT16_MAX;
    unlock_tables();
    return place;
}

static int32_t in_world(MPI_Comm comm, int rank) {
    if (rank == MPI_PROC_NULL)
        return NOBODY;
    if (rank == MPI_ANY_SOURCE)
        return ANYBODY;
    if (rank == MPI_ROOT || rank < 0)
        return NOBODY;
    if (comm == MPI_COMM_WORLD)
        return rank;
    lock_tables();
    struct members *members = of(comm);
    int32_t found = members && rank < members->size ? members->ranks[rank] : UNKNOWN;
    unlock_tables();
    return found;
}

static int64_t bytes_of(int64_t count, MPI_Datatype type) {
    int size = 0;
    if (type == MPI_DATATYPE_NULL || count <= 0)
        return 0;
    PMPI_Type_size(type, &size);
    return count * size;
}

/* Requests: what began with each, until it is done. */

struct pending {
    uint64_t handle; /* 0: free, 1: was in use */
    uint32_t number;
    uint16_t flags, comm;
    int32_t partner, tag;
    int64_t bytes;
    MPI_Comm handle_of_comm;
    int persistent;
};

static struct pending *pending;
static size_t pending_size, pending_used;
static uint32_t request_count;

static uint64_t handle_of(const void *handle, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, handle, bytes);
    return value + 2; /* 0 and 1 say that a place is free */
}

static struct pending *find(uint64_t handle) {
    if (!pending_size)
        return NULL;
    for (size_t i = handle * 11400714819323198485ULL >> 20;; i++) {
        struct pending *each = &pending[i & (pending_size - 1)];
        if (each->handle == handle)
            return each;
        if (each->handle == 0)
            return NULL;
    }
}

static void widen(void) {
    size_t before = pending_size;
    struct pending *old = pending;
    size_t live = 0;
    for (size_t i = 0; i < before; i++)
        live += old[i].handle > 1;
    size_t size = 256;
    while (size < live * 4)
        size *= 2;
    struct pending *fresh = calloc(size, sizeof *fresh);
    if (!fresh)
        return;
    pending = fresh;
    pending_size = size;
    pending_used = live;
    for (size_t i = 0; i < before; i++) {
        if (old[i].handle <= 1)
            continue;
        size_t at = old[i].handle * 11400714819323198485ULL >> 20;
        while (fresh[at & (size - 1)].handle)
            at++;
        fresh[at & (size - 1)] = old[i];
    }
    free(old);
}

/* Remember what a request stands for; its number. */
static uint32_t remember(uint64_t handle, struct event event, MPI_Comm comm, int persistent) {
    lock_tables();
    if (pending_used * 2 >= pending_size)
        widen();
    uint32_t number = ++request_count;
    if (pending_size) {
        struct pending *place = find(handle);
        if (!place) {
            size_t at = handle * 11400714819323198485ULL >> 20;
            while (pending[at & (pending_size - 1)].handle > 1)
                at++;
            place = &pending[at & (pending_size - 1)];
            pending_used += place->handle == 0;
        }
        *place = (struct pending){handle,    number,      event.flags, event.comm, event.partner,
                                  event.tag, event.bytes, comm,        persistent};
    }
    unlock_tables();
    return number;
}

#define HANDLE(request) handle_of(&(request), sizeof(request))

/* What is known of a request before a call may end it. */
static struct pending before(MPI_Request request) {
    struct pending found = {0};
    if (request == MPI_REQUEST_NULL)
        return found;
    lock_tables();
    struct pending *place = find(HANDLE(request));
    if (place)
        found = *place;
    unlock_tables();
    return found;
}

/* The event of a request that is done. */
static struct event completed(const struct pending *known_request, const MPI_Status *status) {
    struct event event = {.partner = known_request->partner,
                          .tag = known_request->tag,
                          .bytes = known_request->bytes,
                          .request = known_request->number,
                          .comm = known_request->comm,
                          .flags = COMPLETES};
    if (!known_request->number)
        event.partner = NOBODY;
    if (known_request->flags & RECEIVES && known_request->partner != NOBODY && status) {
        MPI_Count got = 0;
        PMPI_Get_elements_x(status, MPI_BYTE, &got);
        event.bytes = got;
        event.tag = status->MPI_TAG;
        event.partner = in_world(known_request->handle_of_comm, status->MPI_SOURCE);
    }
    if (known_request->handle && !known_request->persistent) {
        lock_tables();
        struct pending *place = find(known_request->handle);
        if (place && place->number == known_request->number)
            place->handle = 1;
        unlock_tables();
    }
    return event;
}

/* Requests of a call that takes many, as they were before it. */
struct many {
    struct pending few[FEW], *all;
    MPI_Status some[FEW], *statuses;
    int own_statuses;
};

static int many_before(struct many *many, int count, const MPI_Request *requests,
                       MPI_Status *statuses, int ignored) {
    size_t wanted = count > 0 ? (size_t)count : 0;
    many->all = wanted <= FEW ? many->few : malloc(wanted * sizeof *many->all);
    many->own_statuses = ignored;
    many->statuses = !ignored        ? statuses
                     : wanted <= FEW ? many->some
                                     : malloc(wanted * sizeof(MPI_Status));
    if (!many->all || !many->statuses) {
        if (many->all != many->few)
            free(many->all);
        return 0;
    }
    for (size_t i = 0; i < wanted; i++)
        many->all[i] = before(requests[i]);
    return 1;
}

static void many_after(struct many *many) {
    if (many->all != many->few)
        free(many->all);
    if (many->own_statuses && many->statuses != many->some)
        free(many->statuses);
}

static void put_part(const struct pending *request, const MPI_Status *status, enum call call,
                     int64_t began_ns, int64_t ended_ns) {
    if (!request->handle)
        return;
    struct event part = completed(request, status);
    part.flags |= PART;
    part.call = (uint16_t)call;
    part.began_ns = began_ns;
    part.ended_ns = ended_ns;
    put(part);
}

#define RECORDED (head && !inside)
/* A call that is not recorded, or within another one. */
#define PASS(pmpi)                                                                                 \
    if (!RECORDED)                                                                                 \
    return pmpi
#define RUN(pmpi)                                                                                  \
    int64_t began_ns = now_ns();                                                                   \
    head->now.began_ns = began_ns;                                                                 \
    inside++;                                                                                      \
    int code = pmpi;                                                                               \
    inside--;                                                                                      \
    head->now.call = 0;                                                                            \
    int64_t ended_ns = now_ns()

/* What is about to begin, for the case that it never ends. */
static void begins(enum call call, int32_t partner, int32_t tag) {
    head->now.partner = partner;
    head->now.tag = tag;
    head->now.call = call + 1;
}

/* Clocks of several machines: the answer that came back fastest says most. */

static void tie_to_rank_0(struct tie *tie) {
    const char *wish = getenv("BEOWULF_TRACE_CLOCKS");
    if (!wish || !atoi(wish))
        return;
    int64_t theirs = 0;
    MPI_Comm comm;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int rank = 1; rank < head->ranks; rank++) {
        for (int i = 0; i < ASKED; i++) {
            int64_t asked = now_ns();
            if (head->rank == 0) {
                PMPI_Recv(NULL, 0, MPI_BYTE, rank, CLOCK_TAG, comm, MPI_STATUS_IGNORE);
                theirs = now_ns();
                PMPI_Send(&theirs, 1, MPI_INT64_T, rank, CLOCK_TAG, comm);
            } else if (head->rank == rank) {
                PMPI_Send(NULL, 0, MPI_BYTE, 0, CLOCK_TAG, comm);
                PMPI_Recv(&theirs, 1, MPI_INT64_T, 0, CLOCK_TAG, comm, MPI_STATUS_IGNORE);
                int64_t answered = now_ns(), error = (answered - asked) / 2;
                if (!tie->at_ns || error < tie->error_ns)
                    *tie = (struct tie){asked + error, theirs - (asked + error), error};
            }
        }
    }
    if (head->rank == 0)
        *tie = (struct tie){now_ns(), 0, 0};
    PMPI_Comm_free(&comm);
}

/* Beginning and end. */

/* A rank's run begins when MPI_Init is over: before, mpiexec is still starting the others. */
static void after_init(int level) {
    const char *folder = getenv("BEOWULF_TRACE");
    several_threads = level == MPI_THREAD_MULTIPLE;
    if (folder && *folder)
        open_file(folder);
    if (head)
        tie_to_rank_0(&head->ties[0]);
    if (head)
        head->began_ns = now_ns();
}

int MPI_Init(int *argc, char ***argv) {
    int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS)
        after_init(MPI_THREAD_SINGLE);
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS)
        after_init(*provided);
    return code;
}

int MPI_Finalize(void) {
    PASS(PMPI_Finalize());
    tie_to_rank_0(&head->ties[1]);
    begins(CALL_Finalize, NOBODY, 0);
    RUN(PMPI_Finalize());
    note(CALL_Finalize, began_ns, ended_ns, code, (struct event){.partner = NOBODY});
    close_file(1);
    return code;
}

/* For a program that goes on: an engine records from one cell to the next. 0 when it records. */
int beowulf_trace_start(const char *folder) {
    int level = MPI_THREAD_SINGLE, there = 0;
    PMPI_Initialized(&there);
    if (!there || head)
        return 1;
    PMPI_Query_thread(&level);
    several_threads = level == MPI_THREAD_MULTIPLE;
    for (int i = 0; i < known_count; i++)
        free(known[i].ranks);
    memset(known, 0, sizeof known);
    known_count = 0;
    latest = NULL;
    open_file(folder);
    return head ? 0 : 2;
}

void beowulf_trace_stop(void) { close_file(2); }

/* A program's own marks. */
int MPI_Pcontrol(const int level, ...) {
    if (!RECORDED)
        return MPI_SUCCESS;
    int64_t began_ns = now_ns();
    int32_t number = 0;
    if (level == BEGIN_MARK || level == END_MARK) {
        va_list more;
        va_start(more, level);
        const char *name = va_arg(more, const char *);
        va_end(more);
        lock_tables();
        for (uint32_t i = 0; i < head->name_count && !number; i++)
            if (!strncmp(head->names[i], name, NAME_BYTES - 1))
                number = (int32_t)i + 1;
        if (!number && head->name_count < MOST_NAMES) {
            snprintf(head->names[head->name_count], NAME_BYTES, "%s", name);
            number = (int32_t)++head->name_count;
        }
        unlock_tables();
    }
    return note(CALL_Pcontrol, began_ns, now_ns(), MPI_SUCCESS,
                (struct event){.flags = MARK, .partner = NOBODY, .tag = number, .bytes = level});
}

/* From one rank to another. */

#define SEND(NAME, CALL, COUNT)                                                                    \
    int MPI_##NAME(const void *data, COUNT count, MPI_Datatype type, int to, int tag,              \
                   MPI_Comm comm) {                                                                \
        PASS(PMPI_##NAME(data, count, type, to, tag, comm));                                       \
        begins(CALL_##CALL, in_world(comm, to), tag);                                              \
        RUN(PMPI_##NAME(data, count, type, to, tag, comm));                                        \
        return note(CALL_##CALL, began_ns, ended_ns, code,                                         \
                    (struct event){.flags = SENDS,                                                 \
                                   .partner = in_world(comm, to),                                  \
                                   .tag = tag,                                                     \
                                   .bytes = bytes_of(count, type),                                 \
                                   .comm = place_of(comm)});                                       \
    }

#define ISEND(NAME, CALL, COUNT, PERSISTENT, FLAGS)                                                \
    int MPI_##NAME(const void *data, COUNT count, MPI_Datatype type, int to, int tag,              \
                   MPI_Comm comm, MPI_Request *request) {                                          \
        PASS(PMPI_##NAME(data, count, type, to, tag, comm, request));                              \
        RUN(PMPI_##NAME(data, count, type, to, tag, comm, request));                               \
        struct event event = {.flags = SENDS,                                                      \
                              .partner = in_world(comm, to),                                       \
                              .tag = tag,                                                          \
                              .bytes = bytes_of(count, type),                                      \
                              .comm = place_of(comm)};                                             \
        if (code == MPI_SUCCESS)                                                                   \
            event.request = remember(HANDLE(*request), event, comm, PERSISTENT);                   \
        event.flags = FLAGS;                                                                       \
        return note(CALL_##CALL, began_ns, ended_ns, code, event);                                 \
    }

#define IRECV(NAME, CALL, COUNT, PERSISTENT, FLAGS)                                                \
    int MPI_##NAME(void *data, COUNT count, MPI_Datatype type, int from, int tag, MPI_Comm comm,   \
                   MPI_Request *request) {                                                         \
        PASS(PMPI_##NAME(data, count, type, from, tag, comm, request));                            \
        RUN(PMPI_##NAME(data, count, type, from, tag, comm, request));                             \
        struct event event = {.flags = RECEIVES,                                                   \
                              .partner = in_world(comm, from),                                     \
                              .tag = tag == MPI_ANY_TAG ? ANY_TAG : tag,                           \
                              .bytes = bytes_of(count, type),                                      \
                              .comm = place_of(comm)};                                             \
        if (code == MPI_SUCCESS)                                                                   \
            event.request = remember(HANDLE(*request), event, comm, PERSISTENT);                   \
        event.flags = FLAGS;                                                                       \
        return note(CALL_##CALL, began_ns, ended_ns, code, event);                                 \
    }

/* What a receive got, by its status. */
static struct event received(MPI_Comm comm, int from, int tag, int64_t room_bytes,
                             const MPI_Status *status, int code) {
    struct event event = {.flags = RECEIVES,
                          .partner = in_world(comm, from),
                          .tag = tag == MPI_ANY_TAG ? ANY_TAG : tag,
                          .bytes = room_bytes,
                          .comm = place_of(comm)};
    if (code == MPI_SUCCESS) {
        event.flags |= COMPLETES;
        if (from != MPI_PROC_NULL) {
            MPI_Count got = 0;
            PMPI_Get_elements_x(status, MPI_BYTE, &got);
            event.bytes = got;
            event.tag = status->MPI_TAG;
            event.partner = in_world(comm, status->MPI_SOURCE);
        }
    }
    return event;
}

#define OWN_STATUS                                                                                 \
    MPI_Status own;                                                                                \
    if (status == MPI_STATUS_IGNORE)                                                               \
    status = &own

#define RECV(NAME, COUNT)                                                                          \
    int MPI_##NAME(void *data, COUNT count, MPI_Datatype type, int from, int tag, MPI_Comm comm,   \
                   MPI_Status *status) {                                                           \
        PASS(PMPI_##NAME(data, count, type, from, tag, comm, status));                             \
        OWN_STATUS;                                                                                \
        begins(CALL_Recv, in_world(comm, from), tag);                                              \
        RUN(PMPI_##NAME(data, count, type, from, tag, comm, status));                              \
        return note(CALL_Recv, began_ns, ended_ns, code,                                           \
                    received(comm, from, tag, bytes_of(count, type), status, code));               \
    }

/* A send and a receive: the receive is a part of its own. */
static int note_both(enum call call, int64_t began_ns, int64_t ended_ns, int code,
                     struct event send, struct event receive) {
    note(call, began_ns, ended_ns, code, send);
    receive.flags |= PART;
    receive.call = (uint16_t)call;
    receive.began_ns = began_ns;
    receive.ended_ns = ended_ns;
    put(receive);
    return code;
}

#define SENDRECV(NAME, COUNT)                                                                      \
    int MPI_##NAME(const void *data, COUNT count, MPI_Datatype type, int to, int tag, void *got,   \
                   COUNT most, MPI_Datatype got_type, int from, int got_tag, MPI_Comm comm,        \
                   MPI_Status *status) {                                                           \
        PASS(PMPI_##NAME(data, count, type, to, tag, got, most, got_type, from, got_tag, comm,     \
                         status));                                                                 \
        OWN_STATUS;                                                                                \
        begins(CALL_Sendrecv, in_world(comm, from), got_tag);                                      \
        RUN(PMPI_##NAME(data, count, type, to, tag, got, most, got_type, from, got_tag, comm,      \
                        status));                                                                  \
        return note_both(CALL_Sendrecv, began_ns, ended_ns, code,                                  \
                         (struct event){.flags = SENDS,                                            \
                                        .partner = in_world(comm, to),                             \
                                        .tag = tag,                                                \
                                        .bytes = bytes_of(count, type),                            \
                                        .comm = place_of(comm)},                                   \
                         received(comm, from, got_tag, bytes_of(most, got_type), status, code));   \
    }

#define SENDRECV_REPLACE(NAME, COUNT)                                                              \
    int MPI_##NAME(void *data, COUNT count, MPI_Datatype type, int to, int tag, int from,          \
                   int got_tag, MPI_Comm comm, MPI_Status *status) {                               \
        PASS(PMPI_##NAME(data, count, type, to, tag, from, got_tag, comm, status));                \
        OWN_STATUS;                                                                                \
        begins(CALL_Sendrecv_replace, in_world(comm, from), got_tag);                              \
        RUN(PMPI_##NAME(data, count, type, to, tag, from, got_tag, comm, status));                 \
        return note_both(CALL_Sendrecv_replace, began_ns, ended_ns, code,                          \
                         (struct event){.flags = SENDS,                                            \
                                        .partner = in_world(comm, to),                             \
                                        .tag = tag,                                                \
                                        .bytes = bytes_of(count, type),                            \
                                        .comm = place_of(comm)},                                   \
                         received(comm, from, got_tag, bytes_of(count, type), status, code));      \
    }

#define MRECV(NAME, COUNT)                                                                         \
    int MPI_##NAME(void *data, COUNT count, MPI_Datatype type, MPI_Message *message,               \
                   MPI_Status *status) {                                                           \
        PASS(PMPI_##NAME(data, count, type, message, status));                                     \
        OWN_STATUS;                                                                                \
        struct pending probed = before_message(*message);                                          \
        RUN(PMPI_##NAME(data, count, type, message, status));                                      \
        struct event event = completed(&probed, code == MPI_SUCCESS ? status : NULL);              \
        event.flags = RECEIVES | COMPLETES;                                                        \
        return note(CALL_Mrecv, began_ns, ended_ns, code, event);                                  \
    }

#define IMRECV(NAME, COUNT)                                                                        \
    int MPI_##NAME(void *data, COUNT count, MPI_Datatype type, MPI_Message *message,               \
                   MPI_Request *request) {                                                         \
        PASS(PMPI_##NAME(data, count, type, message, request));                                    \
        struct pending probed = before_message(*message);                                          \
        RUN(PMPI_##NAME(data, count, type, message, request));                                     \
        struct event event = completed(&probed, NULL);                                             \
        event.flags = RECEIVES;                                                                    \
        event.bytes = bytes_of(count, type);                                                       \
        if (code == MPI_SUCCESS)                                                                   \
            event.request = remember(HANDLE(*request), event, probed.handle_of_comm, 0);           \
        return note(CALL_Imrecv, began_ns, ended_ns, code, event);                                 \
    }

/* Messages have handles as requests have; no request has the same. */
#define MESSAGE_BIT (1ULL << 62)

static struct pending before_message(MPI_Message message) {
    struct pending found = {.partner = NOBODY, .flags = RECEIVES};
    lock_tables();
    struct pending *place = find(HANDLE(message) | MESSAGE_BIT);
    if (place) {
        found = *place;
        found.persistent = 0;
    }
    unlock_tables();
    return found;
}

static int note_probe(enum call call, int64_t began_ns, int64_t ended_ns, int code, MPI_Comm comm,
                      int from, int tag, int there, const MPI_Status *status,
                      const MPI_Message *message) {
    struct event event = {.partner = in_world(comm, from),
                          .tag = tag == MPI_ANY_TAG ? ANY_TAG : tag,
                          .comm = place_of(comm)};
    if (code == MPI_SUCCESS && there && from != MPI_PROC_NULL) {
        event = received(comm, from, tag, 0, status, code);
        event.flags = 0;
        if (message && *message != MPI_MESSAGE_NO_PROC) {
            struct event taken_by_probe = event;
            taken_by_probe.flags = RECEIVES;
            event.flags = MATCHES;
            event.request = remember(HANDLE(*message) | MESSAGE_BIT, taken_by_probe, comm, 0);
        }
    }
    return note(call, began_ns, ended_ns, code, event);
}

/* clang-format off */
SEND(Send, Send, int) SEND(Bsend, Bsend, int) SEND(Ssend, Ssend, int) SEND(Rsend, Rsend, int)
ISEND(Isend, Isend, int, 0, SENDS) ISEND(Ibsend, Ibsend, int, 0, SENDS)
ISEND(Issend, Issend, int, 0, SENDS) ISEND(Irsend, Irsend, int, 0, SENDS)
ISEND(Send_init, Send_init, int, 1, 0) ISEND(Bsend_init, Bsend_init, int, 1, 0)
ISEND(Ssend_init, Ssend_init, int, 1, 0) ISEND(Rsend_init, Rsend_init, int, 1, 0)
RECV(Recv, int) IRECV(Irecv, Irecv, int, 0, RECEIVES) IRECV(Recv_init, Recv_init, int, 1, 0)
SENDRECV(Sendrecv, int) SENDRECV_REPLACE(Sendrecv_replace, int)
MRECV(Mrecv, int) IMRECV(Imrecv, int)
#if MPI_VERSION >= 4 /* mpi4py calls these */
SEND(Send_c, Send, MPI_Count) SEND(Bsend_c, Bsend, MPI_Count)
SEND(Ssend_c, Ssend, MPI_Count) SEND(Rsend_c, Rsend, MPI_Count)
ISEND(Isend_c, Isend, MPI_Count, 0, SENDS) ISEND(Ibsend_c, Ibsend, MPI_Count, 0, SENDS)
ISEND(Issend_c, Issend, MPI_Count, 0, SENDS) ISEND(Irsend_c, Irsend, MPI_Count, 0, SENDS)
ISEND(Send_init_c, Send_init, MPI_Count, 1, 0) ISEND(Bsend_init_c, Bsend_init, MPI_Count, 1, 0)
ISEND(Ssend_init_c, Ssend_init, MPI_Count, 1, 0) ISEND(Rsend_init_c, Rsend_init, MPI_Count, 1, 0)
RECV(Recv_c, MPI_Count) IRECV(Irecv_c, Irecv, MPI_Count, 0, RECEIVES)
IRECV(Recv_init_c, Recv_init, MPI_Count, 1, 0)
SENDRECV(Sendrecv_c, MPI_Count) SENDRECV_REPLACE(Sendrecv_replace_c, MPI_Count)
MRECV(Mrecv_c, MPI_Count) IMRECV(Imrecv_c, MPI_Count)
#endif
    /* clang-format on */

    int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    PASS(PMPI_Probe(from, tag, comm, status));
    OWN_STATUS;
    begins(CALL_Probe, in_world(comm, from), tag);
    RUN(PMPI_Probe(from, tag, comm, status));
    return note_probe(CALL_Probe, began_ns, ended_ns, code, comm, from, tag, 1, status, NULL);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *there, MPI_Status *status) {
    PASS(PMPI_Iprobe(from, tag, comm, there, status));
    OWN_STATUS;
    RUN(PMPI_Iprobe(from, tag, comm, there, status));
    return note_probe(CALL_Iprobe, began_ns, ended_ns, code, comm, from, tag, *there, status, NULL);
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    PASS(PMPI_Mprobe(from, tag, comm, message, status));
    OWN_STATUS;
    begins(CALL_Mprobe, in_world(comm, from), tag);
    RUN(PMPI_Mprobe(from, tag, comm, message, status));
    return note_probe(CALL_Mprobe, began_ns, ended_ns, code, comm, from, tag, 1, status, message);
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int *there, MPI_Message *message,
                MPI_Status *status) {
    PASS(PMPI_Improbe(from, tag, comm, there, message, status));
    OWN_STATUS;
    RUN(PMPI_Improbe(from, tag, comm, there, message, status));
    return note_probe(CALL_Improbe, began_ns, ended_ns, code, comm, from, tag, *there, status,
                      message);
}

/* A persistent request begins: as a send or a receive of its own, with a new number. */
static struct event started(MPI_Request request) {
    struct event event = {.partner = NOBODY};
    lock_tables();
    struct pending *place = find(HANDLE(request));
    if (place) {
        place->number = ++request_count;
        event = (struct event){.flags = place->flags,
                               .partner = place->partner,
                               .tag = place->tag,
                               .bytes = place->bytes,
                               .request = place->number,
                               .comm = place->comm};
    }
    unlock_tables();
    return event;
}

int MPI_Start(MPI_Request *request) {
    PASS(PMPI_Start(request));
    RUN(PMPI_Start(request));
    return note(CALL_Start, began_ns, ended_ns, code, started(*request));
}

int MPI_Startall(int count, MPI_Request requests[]) {
    PASS(PMPI_Startall(count, requests));
    RUN(PMPI_Startall(count, requests));
    note(CALL_Startall, began_ns, ended_ns, code, (struct event){.partner = NOBODY});
    for (int i = 0; i < count; i++) {
        struct event part = started(requests[i]);
        part.flags |= PART;
        part.call = CALL_Startall;
        part.began_ns = began_ns;
        part.ended_ns = ended_ns;
        put(part);
    }
    return code;
}

/* Waiting. */

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    PASS(PMPI_Wait(request, status));
    OWN_STATUS;
    struct pending one = before(*request);
    begins(CALL_Wait, one.number ? one.partner : NOBODY, one.tag);
    RUN(PMPI_Wait(request, status));
    struct event event = completed(&one, code == MPI_SUCCESS ? status : NULL);
    event.flags |= WAITS;
    return note(CALL_Wait, began_ns, ended_ns, code, event);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
    PASS(PMPI_Test(request, done, status));
    OWN_STATUS;
    struct pending one = before(*request);
    RUN(PMPI_Test(request, done, status));
    struct event event = {.partner = one.number ? one.partner : NOBODY,
                          .tag = one.tag,
                          .request = one.number,
                          .comm = one.comm};
    if (code == MPI_SUCCESS && *done)
        event = completed(&one, status);
    return note(CALL_Test, began_ns, ended_ns, code, event);
}

/* The call itself, and a part for each request that it ended. */
static int note_many(enum call call, int waits, int64_t began_ns, int64_t ended_ns, int code,
                     struct many *many, const int *places, int done) {
    note(call, began_ns, ended_ns, code,
         (struct event){.flags = waits ? WAITS : 0, .partner = NOBODY, .bytes = done});
    for (int i = 0; i < done && code == MPI_SUCCESS; i++)
        put_part(&many->all[places ? places[i] : i], &many->statuses[i], call, began_ns, ended_ns);
    many_after(many);
    return code;
}

/* The rank that all requests which are left are to or from; NOBODY where they are several. */
static int32_t only_partner(const struct many *many, int count) {
    int32_t partner = NOBODY;
    for (int i = 0; i < count; i++) {
        if (!many->all[i].number)
            continue;
        if (partner != NOBODY && partner != many->all[i].partner)
            return NOBODY;
        partner = many->all[i].partner;
    }
    return partner;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    PASS(PMPI_Waitall(count, requests, statuses));
    struct many many;
    if (!many_before(&many, count, requests, statuses, statuses == MPI_STATUSES_IGNORE))
        return PMPI_Waitall(count, requests, statuses);
    begins(CALL_Waitall, only_partner(&many, count), 0);
    RUN(PMPI_Waitall(count, requests, many.statuses));
    return note_many(CALL_Waitall, 1, began_ns, ended_ns, code, &many, NULL, count);
}

int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    PASS(PMPI_Testall(count, requests, done, statuses));
    struct many many;
    if (!many_before(&many, count, requests, statuses, statuses == MPI_STATUSES_IGNORE))
        return PMPI_Testall(count, requests, done, statuses);
    RUN(PMPI_Testall(count, requests, done, many.statuses));
    return note_many(CALL_Testall, 0, began_ns, ended_ns, code, &many, NULL, *done ? count : 0);
}

int MPI_Waitany(int count, MPI_Request requests[], int *place, MPI_Status *status) {
    PASS(PMPI_Waitany(count, requests, place, status));
    OWN_STATUS;
    struct many many;
    if (!many_before(&many, count, requests, status, 0))
        return PMPI_Waitany(count, requests, place, status);
    begins(CALL_Waitany, NOBODY, 0);
    RUN(PMPI_Waitany(count, requests, place, status));
    return note_many(CALL_Waitany, 1, began_ns, ended_ns, code, &many, place,
                     *place != MPI_UNDEFINED);
}

int MPI_Testany(int count, MPI_Request requests[], int *place, int *done, MPI_Status *status) {
    PASS(PMPI_Testany(count, requests, place, done, status));
    OWN_STATUS;
    struct many many;
    if (!many_before(&many, count, requests, status, 0))
        return PMPI_Testany(count, requests, place, done, status);
    RUN(PMPI_Testany(count, requests, place, done, status));
    return note_many(CALL_Testany, 0, began_ns, ended_ns, code, &many, place,
                     *done && *place != MPI_UNDEFINED);
}

#define SOME(NAME, WAITING)                                                                        \
    int MPI_##NAME(int count, MPI_Request requests[], int *done, int places[],                     \
                   MPI_Status statuses[]) {                                                        \
        PASS(PMPI_##NAME(count, requests, done, places, statuses));                                \
        struct many many;                                                                          \
        if (!many_before(&many, count, requests, statuses, statuses == MPI_STATUSES_IGNORE))       \
            return PMPI_##NAME(count, requests, done, places, statuses);                           \
        RUN(PMPI_##NAME(count, requests, done, places, many.statuses));                            \
        return note_many(CALL_##NAME, WAITING, began_ns, ended_ns, code, &many, places,            \
                         *done == MPI_UNDEFINED ? 0 : *done);                                      \
    }
SOME(Waitsome, 1)
SOME(Testsome, 0)

/* Collective calls: `bytes` are those of the caller's own data. */

static struct event together(MPI_Comm comm, int root, int64_t bytes) {
    return (struct event){.flags = COLLECTIVE,
                          .partner = root < 0 ? NOBODY : in_world(comm, root),
                          .bytes = bytes,
                          .comm = place_of(comm)};
}

static int ranks_of(MPI_Comm comm) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

/* Of all parts together. */
#define SUM_OF(NAME, COUNT)                                                                        \
    static int64_t NAME(const COUNT *counts, MPI_Datatype type, MPI_Comm comm) {                   \
        int64_t sum = 0;                                                                           \
        for (int i = 0, ranks = ranks_of(comm); counts && i < ranks; i++)                          \
            sum += counts[i];                                                                      \
        return bytes_of(sum, type);                                                                \
    }
SUM_OF(sum_of, int)

/* What a rank may give to a call that takes it from its other buffer (MPI_IN_PLACE). */
static int64_t given(const void *data, int64_t count, MPI_Datatype type, int64_t else_count,
                     MPI_Datatype else_type) {
    return data == MPI_IN_PLACE ? bytes_of(else_count, else_type) : bytes_of(count, type);
}

#define OPEN(...) __VA_ARGS__
/* A collective call and its non-blocking sister: the name, the suffix of those with long counts,
 * parameters, their names, the root or -1, the bytes. */
#define TOGETHER(NAME, S, PARAMETERS, WORDS, ROOT, BYTES)                                          \
    int MPI_##NAME##S(OPEN PARAMETERS, MPI_Comm comm) {                                            \
        PASS(PMPI_##NAME##S(OPEN WORDS, comm));                                                    \
        begins(CALL_##NAME, NOBODY, 0);                                                            \
        RUN(PMPI_##NAME##S(OPEN WORDS, comm));                                                     \
        return note(CALL_##NAME, began_ns, ended_ns, code, together(comm, ROOT, BYTES));           \
    }
#define ITOGETHER(NAME, S, PARAMETERS, WORDS, ROOT, BYTES)                                         \
    int MPI_##NAME##S(OPEN PARAMETERS, MPI_Comm comm, MPI_Request *request) {                      \
        PASS(PMPI_##NAME##S(OPEN WORDS, comm, request));                                           \
        RUN(PMPI_##NAME##S(OPEN WORDS, comm, request));                                            \
        return note_begun(CALL_##NAME, began_ns, ended_ns, code, together(comm, ROOT, BYTES),      \
                          comm, request);                                                          \
    }
#define BOTH(NAME, INAME, S, PARAMETERS, WORDS, ROOT, BYTES)                                       \
    TOGETHER(NAME, S, PARAMETERS, WORDS, ROOT, BYTES)                                              \
    ITOGETHER(INAME, S, PARAMETERS, WORDS, ROOT, BYTES)

static int note_begun(enum call call, int64_t began_ns, int64_t ended_ns, int code,
                      struct event event, MPI_Comm comm, const MPI_Request *request) {
    if (code == MPI_SUCCESS)
        event.request = remember(HANDLE(*request), event, comm, 0);
    return note(call, began_ns, ended_ns, code, event);
}

int MPI_Barrier(MPI_Comm comm) {
    PASS(PMPI_Barrier(comm));
    begins(CALL_Barrier, NOBODY, 0);
    RUN(PMPI_Barrier(comm));
    return note(CALL_Barrier, began_ns, ended_ns, code, together(comm, -1, 0));
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
    PASS(PMPI_Ibarrier(comm, request));
    RUN(PMPI_Ibarrier(comm, request));
    return note_begun(CALL_Ibarrier, began_ns, ended_ns, code, together(comm, -1, 0), comm,
                      request);
}

/* clang-format off */
#define TYPE MPI_Datatype
#define COLLECTIVES(S, COUNT, PLACE)                                                               \
    BOTH(Bcast, Ibcast, S, (void *data, COUNT count, TYPE type, int root),                         \
         (data, count, type, root), root, bytes_of(count, type))                                   \
    BOTH(Reduce, Ireduce, S,                                                                       \
         (const void *data, void *all, COUNT count, TYPE type, MPI_Op op, int root),               \
         (data, all, count, type, op, root), root, bytes_of(count, type))                          \
    BOTH(Allreduce, Iallreduce, S,                                                                 \
         (const void *data, void *all, COUNT count, TYPE type, MPI_Op op),                         \
         (data, all, count, type, op), -1, bytes_of(count, type))                                  \
    BOTH(Scan, Iscan, S, (const void *data, void *all, COUNT count, TYPE type, MPI_Op op),         \
         (data, all, count, type, op), -1, bytes_of(count, type))                                  \
    BOTH(Exscan, Iexscan, S, (const void *data, void *all, COUNT count, TYPE type, MPI_Op op),     \
         (data, all, count, type, op), -1, bytes_of(count, type))                                  \
    BOTH(Gather, Igather, S,                                                                       \
         (const void *data, COUNT count, TYPE type, void *all, COUNT most, TYPE all_type,          \
          int root),                                                                               \
         (data, count, type, all, most, all_type, root), root,                                     \
         given(data, count, type, most, all_type))                                                 \
    BOTH(Gatherv, Igatherv, S,                                                                     \
         (const void *data, COUNT count, TYPE type, void *all, const COUNT counts[],               \
          const PLACE places[], TYPE all_type, int root),                                          \
         (data, count, type, all, counts, places, all_type, root), root,                           \
         given(data, count, type, 0, all_type))                                                    \
    BOTH(Scatter, Iscatter, S,                                                                     \
         (const void *all, COUNT most, TYPE all_type, void *data, COUNT count, TYPE type,          \
          int root),                                                                               \
         (all, most, all_type, data, count, type, root), root,                                     \
         given(data, count, type, most, all_type))                                                 \
    BOTH(Scatterv, Iscatterv, S,                                                                   \
         (const void *all, const COUNT counts[], const PLACE places[], TYPE all_type, void *data,  \
          COUNT count, TYPE type, int root),                                                       \
         (all, counts, places, all_type, data, count, type, root), root,                           \
         given(data, count, type, 0, all_type))                                                    \
    BOTH(Allgather, Iallgather, S,                                                                 \
         (const void *data, COUNT count, TYPE type, void *all, COUNT most, TYPE all_type),         \
         (data, count, type, all, most, all_type), -1, given(data, count, type, most, all_type))   \
    BOTH(Allgatherv, Iallgatherv, S,                                                               \
         (const void *data, COUNT count, TYPE type, void *all, const COUNT counts[],               \
          const PLACE places[], TYPE all_type),                                                    \
         (data, count, type, all, counts, places, all_type), -1,                                   \
         given(data, count, type, 0, all_type))                                                    \
    BOTH(Alltoall, Ialltoall, S,                                                                   \
         (const void *data, COUNT count, TYPE type, void *all, COUNT most, TYPE all_type),         \
         (data, count, type, all, most, all_type), -1,                                             \
         given(data, count, type, most, all_type) * ranks_of(comm))                                \
    BOTH(Alltoallv, Ialltoallv, S,                                                                 \
         (const void *data, const COUNT counts[], const PLACE places[], TYPE type, void *all,      \
          const COUNT mosts[], const PLACE all_places[], TYPE all_type),                           \
         (data, counts, places, type, all, mosts, all_places, all_type), -1,                       \
         data == MPI_IN_PLACE ? sum_of##S(mosts, all_type, comm) : sum_of##S(counts, type, comm))  \
    BOTH(Reduce_scatter, Ireduce_scatter, S,                                                       \
         (const void *data, void *part, const COUNT counts[], TYPE type, MPI_Op op),               \
         (data, part, counts, type, op), -1, sum_of##S(counts, type, comm))                        \
    BOTH(Reduce_scatter_block, Ireduce_scatter_block, S,                                           \
         (const void *data, void *part, COUNT count, TYPE type, MPI_Op op),                        \
         (data, part, count, type, op), -1, bytes_of(count, type) * ranks_of(comm))

COLLECTIVES(, int, int)
#if MPI_VERSION >= 4 /* mpi4py calls these */
SUM_OF(sum_of_c, MPI_Count)
COLLECTIVES(_c, MPI_Count, MPI_Aint)
#endif
/* clang-format on */

int MPI_Alltoallw(const void *data, const int counts[], const int places[],
                  const MPI_Datatype types[], void *all, const int mosts[], const int all_places[],
                  const MPI_Datatype all_types[], MPI_Comm comm) {
    PASS(PMPI_Alltoallw(data, counts, places, types, all, mosts, all_places, all_types, comm));
    RUN(PMPI_Alltoallw(data, counts, places, types, all, mosts, all_places, all_types, comm));
    int64_t bytes = 0;
    for (int i = 0, ranks = ranks_of(comm); data != MPI_IN_PLACE && i < ranks; i++)
        bytes += bytes_of(counts[i], types[i]);
    return note(CALL_Alltoallw, began_ns, ended_ns, code, together(comm, -1, bytes));
}

static void enter_fresh(MPI_Comm comm) {
    lock_tables();
    forget(comm); /* one that was freed may have had the same handle */
    of(comm);
    unlock_tables();
}

/* New communicators, which all of their members enter in the same order. */
#define NEW_COMM(NAME, PARAMETERS, WORDS)                                                          \
    int MPI_##NAME(OPEN PARAMETERS, MPI_Comm *fresh) {                                             \
        PASS(PMPI_##NAME(OPEN WORDS, fresh));                                                      \
        begins(CALL_##NAME, NOBODY, 0);                                                            \
        RUN(PMPI_##NAME(OPEN WORDS, fresh));                                                       \
        if (code == MPI_SUCCESS && *fresh != MPI_COMM_NULL) {                                      \
            enter_fresh(*fresh);                                                                   \
        }                                                                                          \
        return note(CALL_##NAME, began_ns, ended_ns, code, together(comm, -1, 0));                 \
    }

NEW_COMM(Comm_dup, (MPI_Comm comm), (comm))
NEW_COMM(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info), (comm, info))
NEW_COMM(Comm_split, (MPI_Comm comm, int color, int key), (comm, color, key))
NEW_COMM(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info),
         (comm, type, key, info))
NEW_COMM(Comm_create, (MPI_Comm comm, MPI_Group group), (comm, group))
NEW_COMM(Cart_create,
         (MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder),
         (comm, dimensions, sizes, periods, reorder))
NEW_COMM(Cart_sub, (MPI_Comm comm, const int kept[]), (comm, kept))

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *fresh) {
    PASS(PMPI_Comm_create_group(comm, group, tag, fresh));
    RUN(PMPI_Comm_create_group(comm, group, tag, fresh));
    if (code == MPI_SUCCESS && *fresh != MPI_COMM_NULL) {
        enter_fresh(*fresh);
    }
    /* Of the members of the group alone, so it is no collective call of `comm`. */
    return note(CALL_Comm_create_group, began_ns, ended_ns, code,
                (struct event){.partner = NOBODY, .comm = place_of(comm)});
}

int MPI_Comm_free(MPI_Comm *comm) {
    PASS(PMPI_Comm_free(comm));
    MPI_Comm old = *comm;
    struct event event = together(old, -1, 0);
    RUN(PMPI_Comm_free(comm));
    lock_tables();
    forget(old);
    unlock_tables();
    return note(CALL_Comm_free, began_ns, ended_ns, code, event);
}
