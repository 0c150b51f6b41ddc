/* How many bytes does a node move in a second: between processes, out of a file, in memory?
 *
 *     gcc -std=c11 -O2 -I ../include bandwidths.c -o bandwidths
 *     ./bandwidths --rows "pipe,mem read" --megabytes 64
 *
 * The rows are those of paper A's table 3, and TCP, in MB/s: 10^6 bytes in a second.
 *
 * pipe, AF UNIX, TCP   blocks of 64 KiB from one process to another, over the loopback (streams.h)
 * file reread     read() of a file that the kernel has in memory, in blocks of 64 KiB, and the sum
 * Mmap reread     the sum of the same file, mapped into memory
 * Bcopy (libc)    memcpy()
 * Bcopy (hand)    a copying loop of our own
 * mem read        the sum of all words of 4 bytes, each with a load of its own
 * mem write       a word of 4 bytes written everywhere, each with a store of its own
 * mem read (wide), mem write (wide)   the same by words of 8 bytes, of which a compiler may take
 *                 several at once (the paper does not have them)
 *
 * A byte that is copied counts once, although it is read and written. memcpy() may write past the
 * caches when much is to be copied; then no cache line has to be read before it is written, and it
 * is faster than our loop for a reason that has nothing to do with loops.
 *
 * --megabytes   of the file and of each array (MiB); if it is not given, twice the last cache, so
 *               that it is memory that is measured; and at least 64
 * --folder      where the file is (the temporary folder); it has no name, and is gone at the end
 * --cores       where the two processes of a stream run: free, same, apart (latencies.c)
 *
 * rows.h says which other arguments there are, and how the time is taken.
 */
#include "rows.h"

#include "arrays.h"
#include "streams.h"
#include <fcntl.h>
#include <sys/mman.h>

static enum cores cores;
static long bytes;         /* of the file and of each array: whole blocks */
static const char *folder; /* of the file */
static int file = -1;
static uint64_t *mapped, *source, *target;
static uint64_t expected;        /* the sum of the file, and of `source` */
static uint32_t expected_narrow; /* the same of words of 4 bytes */

/* ---- The measured loops ---- */

static void refuse_unless_expected(uint64_t sum, long repetitions) {
    if (sum != expected * (uint64_t)repetitions)
        refuse("Wrong data: the sum of what was read is not that of what was written.");
}

static double file_rereads(void *nothing, long repetitions) {
    (void)nothing;
    static uint64_t block[BLOCK / sizeof(uint64_t)];
    uint64_t sum = 0;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        must(lseek(file, 0, SEEK_SET), "lseek");
        for (long done = 0; done < bytes; done += BLOCK) {
            if (must(read(file, block, BLOCK), "read") != BLOCK)
                refuse("The file is shorter than it was.");
            sum += sum_of(block, BLOCK);
        }
    }
    double seconds = seconds_now() - began;
    refuse_unless_expected(sum, repetitions);
    return seconds;
}

/* `what` says which: the file in memory, or an array. */
static double sums(void *what, long repetitions) {
    const uint64_t *words = *(uint64_t **)what;
    uint64_t sum = 0;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        sum += sum_of(words, bytes);
    double seconds = seconds_now() - began;
    refuse_unless_expected(sum, repetitions);
    return seconds;
}

/* What is copied is verified; so it must not be there already. */
static void refuse_unless_copied(void) {
    if (memcmp(target, source, (size_t)bytes) != 0)
        refuse("Wrong data: the copy is not what was copied.");
    memset(target, 0, (size_t)bytes);
}

static double library_copies(void *nothing, long repetitions) {
    (void)nothing;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        memcpy(target, source, (size_t)bytes);
        keep(target);
    }
    double seconds = seconds_now() - began;
    refuse_unless_copied();
    return seconds;
}

static double hand_copies(void *nothing, long repetitions) {
    (void)nothing;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        copy_by_hand(target, source, bytes);
    double seconds = seconds_now() - began;
    refuse_unless_copied();
    return seconds;
}

static double narrow_sums(void *nothing, long repetitions) {
    (void)nothing;
    uint32_t sum = 0;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        sum += sum_of_narrow(source, bytes);
    double seconds = seconds_now() - began;
    if (sum != expected_narrow * (uint32_t)repetitions)
        refuse("Wrong data: the sum of what was read is not that of what was written.");
    return seconds;
}

/* What was written last must be at both ends and in the middle. */
static void refuse_unless_written(uint64_t word) {
    long last = bytes / (long)sizeof word - 1;
    if (target[0] != word || target[last / 2] != word || target[last] != word)
        refuse("Wrong data: what was written is not there.");
}

static double writes(void *nothing, long repetitions) {
    (void)nothing;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        write_everywhere(target, (uint64_t)i, bytes);
    double seconds = seconds_now() - began;
    refuse_unless_written((uint64_t)repetitions - 1);
    return seconds;
}

static double narrow_writes(void *nothing, long repetitions) {
    (void)nothing;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        write_everywhere_narrow(target, (uint32_t)i, bytes);
    double seconds = seconds_now() - began;
    refuse_unless_written(((uint64_t)1 << 32 | 1) * (uint64_t)(repetitions - 1));
    return seconds;
}

/* ---- Before: a file, arrays ---- */

static void fill_arrays(void *nothing) {
    (void)nothing;
    if (source)
        return;
    source = array_of(bytes);
    target = array_of(bytes);
    uint64_t state = 1;
    for (long i = 0; i < bytes / (long)sizeof *source; i++)
        expected += source[i] = next_random(&state);
    expected_narrow = sum_of_narrow(source, bytes);
}

static void write_file(void *nothing) {
    fill_arrays(nothing);
    if (file >= 0)
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/node-benchmark-XXXXXX", folder);
    file = mkstemp(path);
    if (file < 0)
        refuse("No file can be made in %s: %s.", folder, strerror(errno));
    unlink(path);
    for (long done = 0; done < bytes; done += BLOCK)
        if (write(file, (char *)source + done, BLOCK) != BLOCK)
            refuse("A file of %ld MiB does not fit into %s: give another --folder.", bytes >> 20,
                   folder);
    mapped = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        must(-1, "mmap");
}

static struct stream pipes, sockets, tcp;

static struct row ROWS[] = {
    {.name = "pipe", .run = blocks, .what = &pipes, .prepare = start_pipe, .size_bytes = BLOCK},
    {.name = "AF UNIX",
     .run = blocks,
     .what = &sockets,
     .prepare = start_unix,
     .size_bytes = BLOCK},
    {.name = "TCP", .run = blocks, .what = &tcp, .prepare = start_tcp, .size_bytes = BLOCK},
    {.name = "file reread", .run = file_rereads, .prepare = write_file},
    {.name = "Mmap reread", .run = sums, .what = &mapped, .prepare = write_file},
    {.name = "Bcopy (libc)", .run = library_copies, .prepare = fill_arrays},
    {.name = "Bcopy (hand)", .run = hand_copies, .prepare = fill_arrays},
    {.name = "mem read", .run = narrow_sums, .prepare = fill_arrays},
    {.name = "mem write", .run = narrow_writes, .prepare = fill_arrays},
    {.name = "mem read (wide)", .run = sums, .what = &source, .prepare = fill_arrays},
    {.name = "mem write (wide)", .run = writes, .prepare = fill_arrays},
};

static void about_cores(void) { put_text("cores", CORES[cores]); }

static const struct family BANDWIDTHS = {
    "bandwidths", "transfer_us", ROWS, sizeof ROWS / sizeof *ROWS, 11, 3, 10000, about_cores};
static const char *const KNOWN[] = {"--rows",  "--passes", "--chunks",    "--chunk-us", "--seed",
                                    "--cores", "--folder", "--megabytes", NULL};

int main(int argc, char **argv) {
    refuse_unknown(argc, argv, KNOWN);
    cores = (enum cores)word_argument(argc, argv, "--cores", "free", CORES);
    const char *temporary = getenv("TMPDIR");
    folder = text_argument(argc, argv, "--folder", temporary ? temporary : "/tmp");
    long usual = 2 * last_cache_bytes() >> 20;
    bytes = number_argument(argc, argv, "--megabytes", usual < 64 ? 64 : usual, 1, 1 << 20) << 20;
    refuse_unless_free(3 * bytes);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (!ROWS[i].size_bytes)
            ROWS[i].size_bytes = bytes;
    take_cores(cores);
    measure_family(&BANDWIDTHS, argc, argv);
    end_partners();
    return 0;
}
