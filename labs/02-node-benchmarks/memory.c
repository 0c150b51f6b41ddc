/* How long does a processor wait for a word, and for how many words does it wait that long?
 *
 *     gcc -std=c11 -O2 -I ../include memory.c -o memory
 *     ./memory --pages small
 *
 * The rows are those of paper A's table 4, in nanoseconds for one load: L1 cache, L2 cache, (L3
 * cache,) Main memory. Nobody tells the program how large the caches are. It takes one word from
 * each cache line of an area, measures for areas of many sizes how long a load takes, and finds the
 * plateaus in that curve (plateaus.h).
 *
 * Each word holds the address of the next, so a load cannot begin before the last one has ended;
 * and the order is random, so nobody can guess what comes next and fetch it early. All lines form
 * one single circle (Sattolo, 1986).
 *
 * --largest-mib  the largest area, at least twice the last cache, or main memory could not be seen
 * --times-cache  the same in last caches (8), if that is not given: with 8, an eighth of the loads
 *                still ends in that cache, with 4 a quarter
 * --pages     huge   pages of 2 MiB where the kernel has them: what is seen are the caches
 *             small  pages of 4 KiB, as ordinary programs have them: a processor remembers where
 *                    some 2000 of them are, and waits longer for a word on any other
 * --passes, --chunks, --chunk-us, --seed  how many samples, how long each, in which order (rows.h)
 */
#include "rows.h"

#include "arrays.h"
#include "plateaus.h"
#include <sys/mman.h>

enum { LINE = 64, SMALLEST = 4096, MOST_SIZES = 64, HUGE_PAGE = 2 << 20, PLACES_AN_OCTAVE = 2 };
enum pages { HUGE, SMALL };
static const char *const PAGES[] = {"huge", "small", NULL};
static const char *const KNOWN[] = {"--passes", "--chunks",      "--chunk-us",    "--seed",
                                    "--pages",  "--largest-mib", "--times-cache", NULL};

struct area {
    void *memory;
    void **place; /* where the walk has come to */
    long sizes[MOST_SIZES];
    int count;
    double *samples[MOST_SIZES]; /* seconds of one load */
    int taken[MOST_SIZES];
};

/* ---- The measured loop ---- */

static double loads(void *what, long repetitions) {
    struct area *area = what;
    void **place = area->place;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        place = *place;
    keep(place);
    double seconds = seconds_now() - began;
    area->place = place;
    return seconds;
}

/* ---- Before: an area, a circle through its first lines ---- */

static void **line_at(const struct area *area, long line) {
    return (void **)((char *)area->memory + line * LINE);
}

/* Each line first leads to itself. Then, from the last to the second, each changes its goal with
 * any line before it: that joins two circles into one, every time. */
static void join_lines(struct area *area, long size, uint64_t seed) {
    long lines = size / LINE;
    for (long i = 0; i < lines; i++)
        *line_at(area, i) = line_at(area, i);
    for (long i = lines - 1; i > 0; i--) {
        void **one = line_at(area, i);
        void **other = line_at(area, (long)(next_random(&seed) % (uint64_t)i));
        void *goal = *one;
        *one = *other;
        *other = goal;
    }
    /* Each line once, in order: what fits into a cache is now there. Once round the circle would
     * take as long as linking it. */
    for (long i = 0; i < lines; i++)
        keep(*line_at(area, i));
    area->place = area->memory;
}

static void allocate(struct area *area, long largest, enum pages pages, long samples) {
    area->memory = mmap(NULL, (size_t)(largest + HUGE_PAGE), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area->memory == MAP_FAILED)
        refuse("There is no memory for %ld MiB.", largest >> 20);
    uintptr_t begins = ((uintptr_t)area->memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    area->memory = (void *)begins;
    /* A kernel without huge pages refuses; how many there are is in the first line. */
    (void)madvise(area->memory, (size_t)largest, pages == HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(area->memory, 0, (size_t)largest);
    /* Two sizes an octave: 4, 6, 8, 12... KiB */
    for (long size = SMALLEST; size <= largest; size *= 2) {
        area->sizes[area->count++] = size;
        if (size * 3 / 2 <= largest)
            area->sizes[area->count++] = size * 3 / 2;
    }
    for (int i = 0; i < area->count; i++)
        if (!(area->samples[i] = calloc((size_t)samples, sizeof(double))))
            refuse("There is no memory for the samples.");
}

/* ---- Lines ---- */

/* How much of this process's memory is in huge pages. */
static long huge_kib(void) {
    long kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "AnonHugePages: %ld kB", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

static enum pages pages;

static void about_pages(void) {
    put_text("pages", PAGES[pages]);
    put_count("in_huge_pages_bytes", huge_kib() * 1024);
    put_count("last_cache_bytes", last_cache_bytes());
}

static void take_samples(struct area *area, int i, long chunks, double chunk_s, double tick_s,
                         long pass) {
    long repetitions = calibrate(loads, area, chunk_s, tick_s);
    for (long j = 0; j < chunks; j++) {
        double seconds = loads(area, repetitions);
        while (seconds < shortest_chunk(chunk_s, tick_s) && repetitions < MOST_REPETITIONS)
            seconds = loads(area, repetitions *= 2);
        area->samples[i][area->taken[i]++] = seconds / (double)repetitions;
        begin_line("sample");
        put_text("quantity", "load_ns");
        put_count("size_bytes", area->sizes[i]);
        put_text("pages", PAGES[pages]);
        put_count("repetitions", repetitions);
        put_number("seconds", seconds);
        put_count("pass", pass);
        end_line();
    }
}

/* A cache's load time is that in the middle of its plateau; that of main memory the one for the
 * largest area, where the fewest loads still find something in a cache. It is at least twice the
 * last cache, so the last octave is main memory's, even if the curve still climbs there or
 * something disturbed its end. */
static void write_plateau(const char *name, const struct area *area, const struct plateau *plateau,
                          const double *median_ns, const double *best_ns) {
    int last = plateau->to == area->count - 1;
    int from = last ? plateau->to : plateau->from;
    begin_line("result");
    put_text("row", name);
    put_text("quantity", "load_ns");
    put_number("median", middle_ns(median_ns, from, plateau->to));
    put_number("best", middle_ns(best_ns, from, plateau->to));
    put_count("from_bytes", area->sizes[plateau->from]);
    put_count("to_bytes", area->sizes[plateau->to]);
    end_line();
}

static void write_results(const struct area *area) {
    static const char *const CACHES[] = {"L1 cache", "L2 cache", "L3 cache", "L4 cache",
                                         "L5 cache", "L6 cache", "L7 cache", "L8 cache"};
    double median_ns[MOST_SIZES], best_ns[MOST_SIZES];
    struct plateau list[MOST_PLATEAUS + 1];
    for (int i = 0; i < area->count; i++) {
        median_ns[i] = median_of(area->samples[i], area->taken[i]) * 1e9;
        best_ns[i] = area->samples[i][0] * 1e9; /* median_of() has put them in order */
    }
    lower_what_was_disturbed(best_ns, area->count);
    int plateaus = find_plateaus(best_ns, area->count, list);
    int largest = area->count - 1;
    if (plateaus < 2 || list[plateaus - 1].to < largest - PLACES_AN_OCTAVE) {
        if (plateaus > 0 && list[plateaus - 1].to == largest)
            list[plateaus - 1].to--;
        list[plateaus++] = (struct plateau){largest, largest, best_ns[largest]};
    }
    list[plateaus - 1].to = largest;
    for (int i = 0; i < plateaus; i++) {
        const char *name = i == plateaus - 1 ? "Main memory" : CACHES[i];
        write_plateau(name, area, &list[i], median_ns, best_ns);
    }
}

/* ---- main ---- */

/* So many times the last cache, of which the least is twice; no more than a gibibyte of it. */
static long usual_largest_mib(long least_mib, long times_cache) {
    long mib = times_cache * least_mib / 2;
    mib = mib < 1024 ? mib : 1024;
    return mib < least_mib ? least_mib : mib;
}

int main(int argc, char **argv) {
    refuse_unknown(argc, argv, KNOWN);
    long passes = number_argument(argc, argv, "--passes", 3, 1, 1000);
    long chunks = number_argument(argc, argv, "--chunks", 11, 1, 100);
    long chunk_us = number_argument(argc, argv, "--chunk-us", 1000, 1, 10000000);
    long seed = number_argument(argc, argv, "--seed", 1, 0, 1000000000);
    long least_mib = last_cache_bytes() < 16 << 20 ? 32 : 2 * last_cache_bytes() >> 20;
    long times_cache = number_argument(argc, argv, "--times-cache", 8, 2, 64);
    long usual_mib = usual_largest_mib(least_mib, times_cache);
    long largest = number_argument(argc, argv, "--largest-mib", usual_mib, least_mib, 1 << 20)
                   << 20;
    pages = (enum pages)word_argument(argc, argv, "--pages", "huge", PAGES);
    refuse_unless_free(largest);

    static struct area area;
    allocate(&area, largest, pages, passes * chunks);
    double tick_s = clock_resolution();
    const struct family memory = {.program = "memory", .about = about_pages};
    write_about(&memory, tick_s, area.count * passes * chunks, seed);
    flush_lines();
    keep_lines_back();
    for (long pass = 0; pass < passes; pass++) {
        int order[MOST_SIZES];
        shuffle(order, area.count, seed, pass);
        for (int i = 0; i < area.count; i++) {
            join_lines(&area, area.sizes[order[i]], (uint64_t)(seed + pass));
            take_samples(&area, order[i], chunks, (double)chunk_us * 1e-6, tick_s, pass);
        }
        flush_lines();
    }
    write_results(&area);
    write_end();
    return 0;
}
