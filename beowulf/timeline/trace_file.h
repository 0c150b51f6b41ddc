/* What is in a trace file, of which each rank writes one: a head of fixed length, then events.
 *
 * It is mapped into the rank's memory and grows by pieces, so it is whole up to the last event also
 * when the rank is killed. beowulf/timeline/trace.py reads it. */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stdint.h>

enum {
    VERSION = 1,
    MOST_CALLS = 128,
    MOST_COMMS = 1024,
    MOST_CLOCKS = 4096,
    MOST_NAMES = 256,
    NAME_BYTES = 48,
    NOBODY = -1,  /* MPI_PROC_NULL, or no partner at all */
    ANYBODY = -2, /* MPI_ANY_SOURCE */
    UNKNOWN = -3, /* in another group of processes */
    ANY_TAG = -1,
};

/* What an event says. */
enum {
    SENDS = 1,
    RECEIVES = 2,
    COMPLETES = 4, /* what it began, or what its request stands for */
    COLLECTIVE = 8,
    PART = 16,    /* of the call before it: one request of several, the receive in a sendrecv */
    MARK = 32,    /* the program's own: `tag` is the name's number, 0 for none */
    FAILED = 64,  /* the call returned an error */
    WAITS = 128,  /* for requests */
    MATCHES = 256 /* a probe that took a message for a receive which follows */
};

struct event {
    int64_t began_ns, ended_ns; /* CLOCK_MONOTONIC */
    int64_t bytes;
    int32_t partner; /* rank in MPI_COMM_WORLD; the root of a collective call */
    int32_t tag;
    uint32_t request; /* 0 for none; from 1 in the order in which they began */
    uint16_t call;    /* the place in `names` */
    uint16_t flags;
    uint16_t comm; /* the place in `comms` */
    uint16_t thread;
    uint32_t left_out; /* events between the one before and this one that were not kept */
};

/* A communicator: ranks that share one agree on the digest of its members and on its number, which
 * counts those of the same members. */
struct comm {
    uint64_t members;
    uint32_t number;
    int32_t size;
};

/* One moment on both clocks: packets are dated by the second. */
struct moment {
    int64_t monotonic_ns, real_ns;
};

/* How far this rank's clock is behind that of rank 0, and how wrong that may be at most. */
struct tie {
    int64_t at_ns, behind_ns, error_ns; /* `at` 0: not measured */
};

/* The call in which a rank is: what a rank that is killed was doing. */
struct now {
    int64_t began_ns;
    int32_t partner, tag;
    int32_t call; /* its place in `calls`, from 1; 0: in none */
    int32_t padding;
};

struct head {
    char magic[8]; /* BEOTRACE */
    uint32_t version, head_bytes, event_bytes;
    int32_t rank, ranks, pid;
    int32_t finished;        /* 1: MPI_Finalize was called; 2: recording was stopped */
    uint32_t comms_left_out; /* communicators for which there was no room */
    int64_t began_ns,
        ended_ns; /* when MPI_Init was over, and MPI_Finalize; `ended` 0 if it was not */
    uint64_t events, left_out; /* kept, and not */
    int64_t left_out_since_ns;
    int32_t full; /* 1: so many events were asked for; else the errno of a disk that took no more */
    uint32_t most_events;
    uint32_t comm_count, clock_count, name_count, call_count;
    struct tie ties[2]; /* at the beginning and at the end */
    struct now now;
    char host[64], program[256];
    char calls[MOST_CALLS][32];
    uint64_t unused[MOST_CALLS][3]; /* what 1.0.0 counted: its files are read, too */
    struct comm comms[MOST_COMMS];
    struct moment clocks[MOST_CLOCKS];
    char names[MOST_NAMES][NAME_BYTES]; /* of marks */
};

#endif
