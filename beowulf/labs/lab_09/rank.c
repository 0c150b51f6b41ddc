/* One rank's own process in a simulation: it calls one function of stairs.c, and asks its simulated rank (relay.h) for
 * each call of MPI. It is compiled with SimGrid's mpi.h and linked without SimGrid: this file has all of its MPI. */
#define _GNU_SOURCE
#include "rank.h"
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Memory of all ranks together, beside a few MiB of each. */
static const long ALL_RANKS_BYTES = 2L << 30, EACH_BYTES = 8L << 20;

struct SMPI_Datatype {
    int bytes;
};
struct SMPI_Request {
    int number;
    void *data;
};
struct SMPI_Comm {
    int unused;
};

#define TYPE(name, type) SMPI_Datatype smpi_MPI_##name = {sizeof(type)};
TYPE(CHAR, char)
TYPE(SIGNED_CHAR, char)
TYPE(UNSIGNED_CHAR, char)
TYPE(BYTE, char)
TYPE(SHORT, short)
TYPE(UNSIGNED_SHORT, short)
TYPE(INT, int)
TYPE(UNSIGNED, int)
TYPE(LONG, long)
TYPE(UNSIGNED_LONG, long)
TYPE(LONG_LONG, long long)
TYPE(UNSIGNED_LONG_LONG, long long)
TYPE(FLOAT, float)
TYPE(DOUBLE, double)
TYPE(LONG_DOUBLE, long double)
TYPE(WCHAR, wchar_t)
TYPE(C_BOOL, _Bool)
TYPE(INT8_T, int8_t)
TYPE(INT16_T, int16_t)
TYPE(INT32_T, int32_t)
TYPE(INT64_T, int64_t)
TYPE(UINT8_T, uint8_t)
TYPE(UINT16_T, uint16_t)
TYPE(UINT32_T, uint32_t)
TYPE(UINT64_T, uint64_t)
TYPE(C_FLOAT_COMPLEX, float _Complex)
TYPE(C_DOUBLE_COMPLEX, double _Complex)
TYPE(AINT, MPI_Aint)
TYPE(OFFSET, MPI_Offset)
TYPE(COUNT, MPI_Count)

static struct SMPI_Comm world;
MPI_Comm MPI_COMM_WORLD = &world;

static struct start given;
static unsigned char *areas[MOST_AREAS];

static void wrong(const char *what) {
    fprintf(stderr, "wrong: rank %d: %s\n", given.rank, what);
    _exit(3);
}

/* An invalid address ends the process here, as anywhere else. */
static void tell(const void *head, long head_bytes, const void *data, long bytes) {
    if (!is_sent(SOCKET, head, head_bytes, data, bytes))
        raise(SIGSEGV);
}

static void hear(void *data, long bytes) {
    if (!is_received(SOCKET, data, bytes))
        raise(SIGSEGV);
}

static void tell_areas(void) {
    for (int i = 0; i < areas_of(given.which); i++)
        tell(areas[i], given.bytes + GUARD, NULL, 0);
}

static struct reply ask(struct question question, const void *data) {
    struct reply reply;
    tell(&question, sizeof question, data, question.bytes);
    hear(&reply, sizeof reply);
    return reply;
}

/* What has arrived goes into `data`, how into `status`. */
static int arrive(struct arrival arrival, void *data, MPI_Status *status) {
    hear(data, arrival.here);
    if (status)
        *status = (MPI_Status){
            .MPI_SOURCE = arrival.source, .MPI_TAG = arrival.tag, .count = (int)arrival.bytes};
    return MPI_SUCCESS;
}

static long bytes_of(int count, MPI_Datatype type, MPI_Comm comm) {
    if (comm != MPI_COMM_WORLD)
        wrong("use MPI_COMM_WORLD.");
    return (long)count * type->bytes;
}

static void send_by(enum call call, int number, const void *data, int count, MPI_Datatype type,
                    int to, int tag, MPI_Comm comm) {
    long bytes = bytes_of(count, type, comm);
    struct question question = {
        .call = call, .to = to, .tag = tag, .number = number, .bytes = bytes};
    tell(&question, sizeof question, data, bytes);
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    send_by(SEND, 0, data, count, type, to, tag, comm);
    return MPI_SUCCESS;
}

int MPI_Ssend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    send_by(SSEND, 0, data, count, type, to, tag, comm);
    return MPI_SUCCESS;
}

static int begin(MPI_Request *request, void *data) {
    static int number;
    *request = malloc(sizeof **request);
    if (!*request)
        wrong("there is no memory left.");
    **request = (struct SMPI_Request){number, data};
    return number++;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    send_by(ISEND, begin(request, NULL), data, count, type, to, tag, comm);
    return MPI_SUCCESS;
}

int MPI_Issend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request) {
    send_by(ISSEND, begin(request, NULL), data, count, type, to, tag, comm);
    return MPI_SUCCESS;
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
    struct question question = {
        .call = RECV, .from = from, .from_tag = tag, .most_bytes = bytes_of(count, type, comm)};
    return arrive(ask(question, NULL).first, data, status);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    struct question question = {.call = IRECV,
                                .from = from,
                                .from_tag = tag,
                                .number = begin(request, data),
                                .most_bytes = bytes_of(count, type, comm)};
    tell(&question, sizeof question, NULL, 0);
    return MPI_SUCCESS;
}

int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int to, int tag, void *into,
                 int most, MPI_Datatype as, int from, int from_tag, MPI_Comm comm,
                 MPI_Status *status) {
    struct question question = {
        .call = SENDRECV, .to = to, .tag = tag, .from = from, .from_tag = from_tag};
    question.bytes = bytes_of(count, type, comm);
    question.most_bytes = bytes_of(most, as, comm);
    return arrive(ask(question, data).first, into, status);
}

int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int tag, int from,
                         int from_tag, MPI_Comm comm, MPI_Status *status) {
    struct question question = {
        .call = SENDRECV_REPLACE, .to = to, .tag = tag, .from = from, .from_tag = from_tag};
    question.bytes = bytes_of(count, type, comm);
    return arrive(ask(question, data).first, data, status);
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    bytes_of(0, MPI_BYTE, comm);
    struct question question = {.call = PROBE, .from = from, .from_tag = tag};
    return arrive(ask(question, NULL).first, NULL, status);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    bytes_of(0, MPI_BYTE, comm);
    struct reply reply =
        ask((struct question){.call = IPROBE, .from = from, .from_tag = tag}, NULL);
    *flag = reply.flag;
    return *flag ? arrive(reply.first, NULL, status) : MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count) {
    *count = type->bytes && status->count % type->bytes == 0 ? status->count / type->bytes
                                                             : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* Wait for these requests, or test them. `places` says which of them are done; each has its status at its own place in
 * `statuses`, or, with `in_order`, those that are done have the first ones. */
static struct reply finish(enum call call, int count, MPI_Request *requests, int *places,
                           MPI_Status *statuses, int in_order) {
    struct question question = {.call = call, .count = count, .bytes = count * (long)sizeof(int)};
    int *numbers = malloc(count > 0 ? (size_t)question.bytes : 1);
    if (!numbers)
        wrong("there is no memory left.");
    for (int i = 0; i < count; i++)
        numbers[i] = requests[i] ? requests[i]->number : -1;
    struct reply reply = ask(question, numbers);
    free(numbers);
    struct arrival one = reply.first;
    for (int i = 0; i < reply.arrivals; i++) {
        MPI_Status status;
        if (i > 0)
            hear(&one, sizeof one);
        MPI_Request request = requests[one.place];
        arrive(one, request ? request->data : NULL, &status);
        free(request);
        requests[one.place] = MPI_REQUEST_NULL;
        if (places)
            places[i] = one.place;
        if (statuses)
            statuses[in_order ? i : one.place] = status;
    }
    return reply;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    finish(WAIT, 1, request, NULL, status, 0);
    return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses) {
    finish(WAITALL, count, requests, NULL, statuses, 0);
    return MPI_SUCCESS;
}

int MPI_Waitany(int count, MPI_Request requests[], int *place, MPI_Status *status) {
    *place = finish(WAITANY, count, requests, NULL, status, 1).number;
    return MPI_SUCCESS;
}

int MPI_Waitsome(int count, MPI_Request requests[], int *done, int *places, MPI_Status statuses[]) {
    int all = 0;
    for (int i = 0; i < count; i++)
        all += requests[i] != MPI_REQUEST_NULL;
    int found = finish(WAITSOME, count, requests, places, statuses, 1).arrivals;
    *done = all ? found : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    *flag = finish(TEST, 1, request, NULL, status, 0).flag;
    return MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses) {
    *flag = finish(TESTALL, count, requests, NULL, statuses, 0).flag;
    return MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request requests[], int *place, int *flag, MPI_Status *status) {
    struct reply reply = finish(TESTANY, count, requests, NULL, status, 1);
    *place = reply.number;
    *flag = reply.flag;
    return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    bytes_of(0, MPI_BYTE, comm);
    *rank = given.rank;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *ranks) {
    bytes_of(0, MPI_BYTE, comm);
    *ranks = given.ranks;
    return MPI_SUCCESS;
}

void compute_inner_rows(void) {
    struct question question = {.call = INNER_ROWS};
    tell(&question, sizeof question, NULL, 0);
}

/* The neighbours' rows are sent along as far as they have arrived. */
void compute_border_rows(void) {
    struct question question = {.call = BORDER_ROWS};
    tell(&question, sizeof question, NULL, 0);
    tell_areas();
}

/* What smpicc puts in the place of malloc, calloc and free. */
void *smpi_shared_malloc_intercept(size_t bytes, const char *file, int line) {
    (void)file, (void)line;
    return malloc(bytes);
}

void *smpi_shared_calloc_intercept(size_t count, size_t bytes, const char *file, int line) {
    (void)file, (void)line;
    return calloc(count, bytes);
}

void smpi_shared_free(void *data) { free(data); }

int main(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the simulator */
    hear(&given, sizeof given);
    rlim_t most = (rlim_t)(ALL_RANKS_BYTES / given.ranks + EACH_BYTES);
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    for (int i = 0; i < areas_of(given.which); i++) {
        size_t room = (size_t)(given.bytes + GUARD + 4095) / 4096 * 4096;
        if (!(areas[i] = aligned_alloc(4096, room)))
            wrong("there is no memory for the data.");
        hear(areas[i], given.bytes + GUARD);
    }
    call_step(given.which, areas, given.bytes, given.rank, given.ranks);
    struct question question = {.call = RETURNED};
    tell(&question, sizeof question, NULL, 0);
    tell_areas();
    _exit(0);
}
