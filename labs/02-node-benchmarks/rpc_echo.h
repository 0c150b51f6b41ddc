/* A remote procedure that gives back the number it gets, as ONC RPC (RFC 5531) does it: the client
 * packs its arguments, sends them over UDP or TCP, and the server unpacks them, calls a function,
 * and packs the answer.
 *
 * An RPC server usually tells a portmapper on which port it listens, and clients ask there. Here
 * the server gets none (protocol 0), and the client is given the port. */
#ifndef RPC_ECHO_H
#define RPC_ECHO_H

#include "loopback.h"

#if __has_include(<rpc/rpc.h>)
#include <rpc/rpc.h>

/* Numbers from 0x20000000 are for everybody's own programs. */
enum { ECHO_PROGRAM = 0x20002002, ECHO_VERSION = 1, ECHO = 1 };

struct rpc {
    int type; /* SOCK_DGRAM or SOCK_STREAM */
    int listening;
    CLIENT *client;
};

static const char *rpc_missing(void) {
    if (access("/etc/netconfig", R_OK) != 0)
        return "there is no /etc/netconfig, which libtirpc reads. The package libtirpc-common "
               "brings it.";
    return NULL;
}

static void answer(struct svc_req *request, SVCXPRT *transport) {
    int number;
    if (request->rq_proc != ECHO)
        svcerr_noproc(transport);
    else if (!svc_getargs(transport, (xdrproc_t)xdr_int, (char *)&number))
        svcerr_decode(transport);
    else
        svc_sendreply(transport, (xdrproc_t)xdr_int, (char *)&number);
}

static void serve_rpc(void *what) {
    const struct rpc *rpc = what;
    SVCXPRT *transport = rpc->type == SOCK_STREAM ? svctcp_create(rpc->listening, 0, 0)
                                                  : svcudp_create(rpc->listening);
    if (!transport || !svc_register(transport, ECHO_PROGRAM, ECHO_VERSION, answer, 0))
        refuse("The RPC server does not start.");
    svc_run();
}

static void start_rpc(void *what) {
    struct rpc *rpc = what;
    struct sockaddr_in there;
    rpc->listening = listening_socket(rpc->type, &there);
    start_partner(serve_rpc, rpc);
    int fd = RPC_ANYSOCK;
    struct timeval retry = {2, 0};
    rpc->client = rpc->type == SOCK_STREAM
                      ? clnttcp_create(&there, ECHO_PROGRAM, ECHO_VERSION, &fd, 0, 0)
                      : clntudp_create(&there, ECHO_PROGRAM, ECHO_VERSION, retry, &fd);
    if (!rpc->client)
        refuse("The RPC client does not reach its server%s", clnt_spcreateerror(""));
}

static double rpc_round_trips(void *what, long repetitions) {
    CLIENT *client = ((const struct rpc *)what)->client;
    struct timeval patience = {PATIENCE_S, 0};
    double began = seconds_now();
    for (int i = 0; i < repetitions; i++) {
        int back = -1;
        enum clnt_stat failed = clnt_call(client, ECHO, (xdrproc_t)xdr_int, (char *)&i,
                                          (xdrproc_t)xdr_int, (char *)&back, patience);
        if (failed || back != i)
            refuse("The RPC server does not answer: %s.", clnt_sperrno(failed));
    }
    return seconds_now() - began;
}

#else

struct rpc {
    int type;
};
static const char *rpc_missing(void) {
    return "the program was compiled without libtirpc. Install the package libtirpc-dev and "
           "compile again, or leave RPC out with --rows \"pipe,AF UNIX,UDP,TCP\".";
}
static void start_rpc(void *what) { (void)what; }
static double rpc_round_trips(void *what, long repetitions) {
    (void)what;
    return (double)repetitions;
}

#endif
#endif
