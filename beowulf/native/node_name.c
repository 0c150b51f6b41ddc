/* Names of nodes that are only names.
 *
 * On a cluster of the kind `local` every rank is a process of this machine, and node00, node01, ...
 * are names for 127.0.0.2, 127.0.0.3, ... No hostname can be set and no /etc/hosts be written there.
 *
 * Loaded before the C library (LD_PRELOAD), this file answers the questions that programs ask about
 * names: "what am I called?" (gethostname, uname) with BEOWULF_NODE, and "which address has node01?"
 * (getaddrinfo, gethostbyname) with 127.0.0.3. Every other question is passed on as it is.
 *
 * mpiexec tells each rank the name of its host: the classic MPICH in MPIR_CVAR_CH3_INTERFACE_HOSTNAME,
 * which is also where the rank will listen, the modern one in PMI_HOSTNAME. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { FIRST_HOST = 2, ADDRESS_BYTES = 16 };
static const char *const HOST_NAMES[] = {"MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "PMI_HOSTNAME"};

/* The address behind such a name, in `address`; 0 where it is no node's name. */
static int address_of(const char *name, char address[ADDRESS_BYTES]) {
    unsigned number = 0;
    int end = 0;
    if (!name || sscanf(name, "node%2u%n", &number, &end) != 1 || name[end])
        return 0;
    snprintf(address, ADDRESS_BYTES, "127.0.0.%u", number + FIRST_HOST);
    return 1;
}

__attribute__((constructor)) static void take_name(void) {
    char address[ADDRESS_BYTES];
    for (size_t i = 0; i < sizeof HOST_NAMES / sizeof *HOST_NAMES; i++) {
        const char *name = getenv(HOST_NAMES[i]);
        if (address_of(name, address)) {
            setenv("BEOWULF_NODE", name, 1);
            setenv(HOST_NAMES[0], address, 1);
        }
    }
}

int uname(struct utsname *about) {
    const char *name = getenv("BEOWULF_NODE");
    if (syscall(SYS_uname, about) != 0)
        return -1;
    if (name)
        snprintf(about->nodename, sizeof about->nodename, "%s", name);
    return 0;
}

int gethostname(char *name, size_t bytes) {
    struct utsname about;
    if (uname(&about) != 0)
        return -1;
    snprintf(name, bytes, "%s", about.nodename);
    return 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    char address[ADDRESS_BYTES];
    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    return next(address_of(name, address) ? address : name, service, hints, found);
}

struct hostent *gethostbyname(const char *name) {
    struct hostent *(*next)(const char *);
    char address[ADDRESS_BYTES];
    *(void **)&next = dlsym(RTLD_NEXT, "gethostbyname");
    return next(address_of(name, address) ? address : name);
}
