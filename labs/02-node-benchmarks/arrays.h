/* Arrays in memory, and the loops that read, write and copy them. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "measure/no_mpi.h"

#include <stdint.h>
#include <unistd.h>

/* The compiler must assume that someone reads and changes all memory that `place` leads to. */
static inline void keep(const void *place) { __asm__ volatile("" : : "r"(place) : "memory"); }

/* The size of the largest cache that one core sees, as the kernel tells it; 0 if it does not. A C
 * library may add up the caches of all cores. */
static inline long last_cache_bytes(void) {
    long largest_kib = 0;
    for (int i = 0; i < 8; i++) {
        char path[64];
        long kib = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        FILE *file = fopen(path, "r");
        if (!file)
            break;
        if (fscanf(file, "%ldK", &kib) == 1 && kib > largest_kib)
            largest_kib = kib;
        fclose(file);
    }
    return largest_kib * 1024;
}

/* The bytes that can still be had, as /proc/meminfo estimates them. */
static inline double available_bytes(void) {
    double kib = 0.0;
    char line[256];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib * 1024.0;
}

/* Before anything is allocated: memory that is promised and then lacks ends other programs. */
static inline void refuse_unless_free(long bytes) {
    double available = available_bytes();
    if ((double)bytes > 0.8 * available)
        refuse("This needs %.2f GB of memory, and %.2f GB are free.", (double)bytes / 1e9,
               available / 1e9);
}

/* `bytes` zeros, touched: the kernel hands out a page only when it is first written. */
static inline uint64_t *array_of(long bytes) {
    void *array = aligned_alloc(4096, (size_t)bytes);
    if (!array)
        refuse("There is no memory for %ld bytes.", bytes);
    memset(array, 0, (size_t)bytes);
    keep(array);
    return array;
}

/* Four sums, because the next addition to one of them must wait for the last one. */
static inline uint64_t sum_of(const uint64_t *words, long bytes) {
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (long i = 0; i < bytes / 8; i += 8) {
        a += words[i] + words[i + 4];
        b += words[i + 1] + words[i + 5];
        c += words[i + 2] + words[i + 6];
        d += words[i + 3] + words[i + 7];
    }
    return a + b + c + d;
}

/* keep() in the loop: a compiler would otherwise see through it and call memcpy() in its place. */
static inline void copy_by_hand(uint64_t *to, const uint64_t *from, long bytes) {
    for (long i = 0; i < bytes / 8; i += 8) {
        to[i] = from[i];
        to[i + 1] = from[i + 1];
        to[i + 2] = from[i + 2];
        to[i + 3] = from[i + 3];
        to[i + 4] = from[i + 4];
        to[i + 5] = from[i + 5];
        to[i + 6] = from[i + 6];
        to[i + 7] = from[i + 7];
        keep(to);
    }
}

/* LMBench's way of reading and writing all: words of 4 bytes, each with a load or a store of its own
 * (volatile). Blocks are added up from the beginning, and written from their ends, as its
 * `a = b = ... = 1` does it. A compiler may take several of the wide words at once. */
enum { NARROW_BLOCK = 128 };

static inline uint32_t sum_of_narrow(const uint64_t *array, long bytes) {
    const volatile uint32_t *words = (const volatile uint32_t *)array;
    uint32_t sum = 0;
    for (long i = 0; i < bytes / 4; i += 8) {
        uint32_t eight = words[i] + words[i + 1] + words[i + 2] + words[i + 3] + words[i + 4] +
                         words[i + 5] + words[i + 6] + words[i + 7];
        sum += eight;
    }
    return sum;
}

static inline void write_everywhere_narrow(uint64_t *array, uint32_t word, long bytes) {
    volatile uint32_t *words = (volatile uint32_t *)array;
    for (long i = 0; i < bytes / 4; i += NARROW_BLOCK)
#pragma GCC unroll 128
        for (int j = NARROW_BLOCK - 1; j >= 0; j--)
            words[i + j] = word;
}

static inline void write_everywhere(uint64_t *to, uint64_t word, long bytes) {
    for (long i = 0; i < bytes / 8; i += 8) {
        for (int j = 0; j < 8; j++)
            to[i + j] = word;
        keep(to);
    }
}

#endif
