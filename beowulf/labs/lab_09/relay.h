/* A simulated rank whose functions run in a process of their own (rank.c). All ranks of a simulation are in one process,
 * where data could arrive by an address; a process of its own has nothing of the simulator's memory, nor of another
 * rank's. What the functions call of MPI is called here in their place, with a copy of their data. */
#ifndef RELAY_H
#define RELAY_H

#include "measure.h"
#include "rank.h"
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

static const long LONGEST_MESSAGE = 1L << 26;
static const int MOST_REQUESTS = 1 << 20;

static int own_end;
static pid_t own_process;

/* What the own process waits for, by the number that it knows. */
static struct pending {
    MPI_Request request;
    unsigned char *data;
    int is_used, is_receive;
} *pending;
static int pending_room;

static void start_process(void) {
    int ends[2];
    char *words[] = {(char[]){"rank"}, NULL}, *nothing[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    int code = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? errno : 0;
    if (!code) {
        posix_spawn_file_actions_adddup2(&actions, ends[1], SOCKET);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        code = posix_spawn(&own_process, SEPARATE, &actions, NULL, words, nothing);
    }
    posix_spawn_file_actions_destroy(&actions);
    if (code) {
        fprintf(stderr, "rank %d has no process of its own: %s.\n", my_rank(), strerror(code));
        give_up(4);
    }
    close(ends[1]);
    own_end = ends[0];
}

/* The process has ended before its function had returned. */
static void give_up_process(void) {
    int status = 0;
    waitpid(own_process, &status, 0);
    if (WIFSIGNALED(status))
        fprintf(stderr, "rank %d: %s\n", my_rank(), strsignal(WTERMSIG(status)));
    else
        fprintf(stderr, "rank %d ended before its function had returned.\n", my_rank());
    give_up(3);
}

static void tell(const void *head, long head_bytes, const void *data, long bytes) {
    if (!is_sent(own_end, head, head_bytes, data, bytes))
        give_up_process();
}

static void hear(void *data, long bytes) {
    if (!is_received(own_end, data, bytes))
        give_up_process();
}

static void hear_areas(int which, unsigned char **areas, int bytes) {
    for (int i = 0; i < areas_of(which); i++)
        hear(areas[i], bytes + GUARD);
}

/* `data` is where a message has been received, NULL for anything else. */
static struct arrival arrival_of(int place, const MPI_Status *status, const unsigned char *data) {
    int bytes = 0;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    return (struct arrival){place, status->MPI_SOURCE, status->MPI_TAG, bytes,
                            data && bytes > 0 ? bytes : 0};
}

static void answer_arrival(const MPI_Status *status, const unsigned char *data) {
    struct reply reply = {1, 0, 1, arrival_of(0, status, data)};
    tell(&reply, sizeof reply, data, reply.first.here);
}

static void *room_for(long bytes) {
    void *room = bytes <= LONGEST_MESSAGE ? malloc(bytes > 0 ? (size_t)bytes : 1) : NULL;
    if (!room) {
        fprintf(stderr, "rank %d has no memory for a message of %ld bytes.\n", my_rank(), bytes);
        give_up(3);
    }
    return room;
}

/* The place of a new request, under the number that the own process has given it. */
static struct pending *begin(int number, unsigned char *data, int is_receive) {
    if (number < 0 || number >= MOST_REQUESTS) {
        fprintf(stderr, "rank %d has more than %d requests.\n", my_rank(), MOST_REQUESTS);
        give_up(3);
    }
    if (number >= pending_room) {
        int room = number < 16 ? 32 : 2 * number;
        struct pending *larger = room_for(room * (long)sizeof *larger);
        memset(larger, 0, (size_t)room * sizeof *larger);
        if (pending_room)
            memcpy(larger, pending, (size_t)pending_room * sizeof *larger);
        free(pending);
        pending = larger;
        pending_room = room;
    }
    pending[number] = (struct pending){MPI_REQUEST_NULL, data, 1, is_receive};
    return &pending[number];
}

static void send_message(const struct question *asked) {
    int bytes = (int)asked->bytes, to = asked->to, tag = asked->tag;
    unsigned char *data = room_for(asked->bytes);
    hear(data, asked->bytes);
    if (asked->call == ISEND)
        check(MPI_Isend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD,
                        &begin(asked->number, data, 0)->request));
    else if (asked->call == ISSEND)
        check(MPI_Issend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD,
                         &begin(asked->number, data, 0)->request));
    else {
        check((asked->call == SEND ? MPI_Send : MPI_Ssend)(data, bytes, MPI_BYTE, to, tag,
                                                           MPI_COMM_WORLD));
        free(data);
    }
}

static void receive_message(const struct question *asked) {
    int most = (int)asked->most_bytes;
    unsigned char *data = room_for(asked->most_bytes);
    if (asked->call == IRECV) {
        check(MPI_Irecv(data, most, MPI_BYTE, asked->from, asked->from_tag, MPI_COMM_WORLD,
                        &begin(asked->number, data, 1)->request));
        return;
    }
    MPI_Status status;
    check(MPI_Recv(data, most, MPI_BYTE, asked->from, asked->from_tag, MPI_COMM_WORLD, &status));
    answer_arrival(&status, data);
    free(data);
}

static void exchange(const struct question *asked) {
    int bytes = (int)asked->bytes, most = (int)asked->most_bytes;
    unsigned char *data = room_for(asked->bytes), *into = data;
    MPI_Status status;
    hear(data, asked->bytes);
    if (asked->call == SENDRECV) {
        into = room_for(asked->most_bytes);
        check(MPI_Sendrecv(data, bytes, MPI_BYTE, asked->to, asked->tag, into, most, MPI_BYTE,
                           asked->from, asked->from_tag, MPI_COMM_WORLD, &status));
    } else {
        check(MPI_Sendrecv_replace(data, bytes, MPI_BYTE, asked->to, asked->tag, asked->from,
                                   asked->from_tag, MPI_COMM_WORLD, &status));
    }
    answer_arrival(&status, into);
    if (into != data)
        free(into);
    free(data);
}

static void probe(const struct question *asked) {
    int flag = 1;
    MPI_Status status;
    if (asked->call == PROBE)
        check(MPI_Probe(asked->from, asked->from_tag, MPI_COMM_WORLD, &status));
    else
        check(MPI_Iprobe(asked->from, asked->from_tag, MPI_COMM_WORLD, &flag, &status));
    if (flag)
        answer_arrival(&status, NULL);
    else
        tell(&(struct reply){0}, sizeof(struct reply), NULL, 0);
}

/* Wait for requests, or test them: which of them are done goes into `places`, in order, and how each of these ended
 * into `ended`. Gives how many. */
static int done_of(enum call call, int count, MPI_Request *requests, int *places, MPI_Status *ended,
                   int *flag) {
    int done = count, place = MPI_UNDEFINED;
    *flag = 1;
    for (int i = 0; i < count; i++)
        places[i] = i;
    if (call == WAIT)
        check(MPI_Wait(requests, ended));
    else if (call == WAITALL)
        check(MPI_Waitall(count, requests, ended));
    else if (call == TEST)
        check(MPI_Test(requests, flag, ended));
    else if (call == TESTALL)
        check(MPI_Testall(count, requests, flag, ended));
    else if (call == WAITSOME)
        check(MPI_Waitsome(count, requests, &done, places, ended));
    else if (call == WAITANY)
        check(MPI_Waitany(count, requests, &place, ended));
    else
        check(MPI_Testany(count, requests, &place, flag, ended));
    if (call == WAITANY || call == TESTANY) {
        places[0] = place;
        done = place == MPI_UNDEFINED ? 0 : 1;
    }
    return *flag && done > 0 ? done : 0;
}

static void finish(const struct question *asked) {
    int count = asked->count, flag;
    if (count < 0 || count > MOST_REQUESTS / 16 ||
        ((asked->call == WAIT || asked->call == TEST) && count != 1)) {
        fprintf(stderr, "rank %d waits for %d requests.\n", my_rank(), count);
        give_up(3);
    }
    int *numbers = room_for(count * (long)sizeof *numbers);
    int *places = room_for((count + 1) * (long)sizeof *places);
    MPI_Request *requests = room_for(count * (long)sizeof(MPI_Request));
    MPI_Status *ended = room_for((count + 1) * (long)sizeof(MPI_Status));
    memset(ended, 0, (size_t)(count + 1) * sizeof *ended);
    hear(numbers, count * (long)sizeof *numbers);
    for (int i = 0; i < count; i++) {
        if (numbers[i] < 0 || numbers[i] >= pending_room)
            numbers[i] = -1;
        requests[i] = MPI_REQUEST_NULL;
        if (numbers[i] < 0)
            continue;
        requests[i] = pending[numbers[i]].request;
        pending[numbers[i]].request = MPI_REQUEST_NULL; /* a request named twice counts once */
    }
    int done = done_of((enum call)asked->call, count, requests, places, ended, &flag);
    struct reply reply = {flag, done ? places[0] : MPI_UNDEFINED, done, {0, 0, 0, 0, 0}};
    if (!done)
        tell(&reply, sizeof reply, NULL, 0);
    for (int i = 0; i < count; i++)
        if (numbers[i] >= 0 && requests[i] != MPI_REQUEST_NULL)
            pending[numbers[i]].request = requests[i];
    for (int i = 0; i < done; i++) {
        int number = numbers[places[i]];
        struct pending *one = number < 0 || !pending[number].is_used ? NULL : &pending[number];
        const unsigned char *data = one && one->is_receive ? one->data : NULL;
        struct arrival arrival = reply.first = arrival_of(places[i], &ended[i], data);
        if (i == 0)
            tell(&reply, sizeof reply, data, arrival.here);
        else
            tell(&arrival, sizeof arrival, data, arrival.here);
        if (one) {
            free(one->data);
            *one = (struct pending){MPI_REQUEST_NULL, NULL, 0, 0};
        }
    }
    free(numbers);
    free(places);
    free(requests);
    free(ended);
}

/* The step as call_step() of steps.h does it, in the rank's own process. */
static void run_step(int which, unsigned char **areas, int bytes, int rank, int ranks) {
    struct start start = {which, bytes, rank, ranks};
    tell(&start, sizeof start, NULL, 0);
    for (int i = 0; i < areas_of(which); i++)
        tell(areas[i], bytes + GUARD, NULL, 0);
    for (;;) {
        struct question asked;
        hear(&asked, sizeof asked);
        switch (asked.call) {
        case SEND:
        case SSEND:
        case ISEND:
        case ISSEND:
            send_message(&asked);
            break;
        case RECV:
        case IRECV:
            receive_message(&asked);
            break;
        case SENDRECV:
        case SENDRECV_REPLACE:
            exchange(&asked);
            break;
        case PROBE:
        case IPROBE:
            probe(&asked);
            break;
        case INNER_ROWS:
            compute_inner_rows();
            break;
        case BORDER_ROWS:
            hear_areas(which, areas, bytes);
            compute_border_rows();
            break;
        case RETURNED:
            hear_areas(which, areas, bytes);
            close(own_end);
            waitpid(own_process, NULL, 0);
            return;
        default:
            finish(&asked);
        }
    }
}

#endif
