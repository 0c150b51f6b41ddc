/* What it costs to make a file, to delete one, to map one into memory and to touch its pages.
 *
 * Files are empty or have 10 KiB, in a folder of their own that is gone at the end. Where that folder
 * is decides what is measured: a disk's file system, or one in memory (tmpfs). */
#ifndef FILES_H
#define FILES_H

#include "measure/no_mpi.h"

#include "measure/chunks.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAME = 64, PAGE = 4096, PAGES = 1024, MAPPED = PAGES * PAGE };
/* LMBench's way with a mapping: a byte in each 16 KiB of the first tenth is written. */
enum { TOUCHED_EACH = 16 * 1024, TOUCHED = MAPPED / 10 };

static const char *files_where = "/tmp"; /* in which folder these files are */
static char files_folder[4096];
static int mapped_file = -1;
static int page_order[PAGES];

static inline void name_file(char *path, long number) {
    snprintf(path, sizeof files_folder + MOST_NAME, "%s/%ld", files_folder, number);
}

/* The folder, and the files that an error may have left in it. */
static inline void remove_files_folder(void) {
    char path[sizeof files_folder + MOST_NAME];
    for (long i = 0; name_file(path, i), unlink(path) == 0; i++)
        ;
    rmdir(files_folder);
}

static inline void make_files_folder(void) {
    if (files_folder[0])
        return;
    char path[sizeof files_folder];
    snprintf(path, sizeof path, "%s/node-benchmark-XXXXXX", files_where);
    if (!mkdtemp(path))
        refuse("No folder can be made in %s: %s.", files_where, strerror(errno));
    strcpy(files_folder, path);
    atexit(remove_files_folder);
}

/* So many files, each with `size` bytes. */
static inline void make_files(long count, size_t size) {
    static const char content[10 * 1024];
    char path[sizeof files_folder + MOST_NAME];
    for (long i = 0; i < count; i++) {
        name_file(path, i);
        int fd = (int)must(open(path, O_CREAT | O_EXCL | O_WRONLY, 0600), "create a file");
        if (size && must(write(fd, content, size), "write") != (long)size)
            refuse("A file of %zu bytes does not fit into %s: give another --folder.", size,
                   files_where);
        close(fd);
    }
}

static inline void delete_files(long count) {
    char path[sizeof files_folder + MOST_NAME];
    for (long i = 0; i < count; i++) {
        name_file(path, i);
        must(unlink(path), "delete a file");
    }
}

/* Whether the first and the last of them are there with all of their bytes, or gone. */
static inline void refuse_unless_files(long count, size_t size, int there) {
    char path[sizeof files_folder + MOST_NAME];
    for (long i = 0; i < count; i += count > 1 ? count - 1 : 1) {
        struct stat status;
        name_file(path, i);
        int known = stat(path, &status) == 0;
        if (known != there || (known && status.st_size != (off_t)size))
            refuse("%s is %s.", path, there ? "not the file that was made" : "still there");
    }
}

/* The measured loops: `what` is how many bytes a file has. */
static inline double creations(void *what, long repetitions) {
    size_t size = *(size_t *)what;
    double began = seconds_now();
    make_files(repetitions, size);
    double seconds = seconds_now() - began;
    refuse_unless_files(repetitions, size, 1);
    delete_files(repetitions);
    return seconds;
}

static inline double deletions(void *what, long repetitions) {
    size_t size = *(size_t *)what;
    make_files(repetitions, size);
    double began = seconds_now();
    delete_files(repetitions);
    double seconds = seconds_now() - began;
    refuse_unless_files(repetitions, size, 0);
    return seconds;
}

static inline void prepare_files(void *what) {
    (void)what;
    make_files_folder();
}

/* A file whose pages say which they are, and an order of these pages that nobody foresees. */
static inline void make_mapped_file(void *what) {
    (void)what;
    if (mapped_file >= 0)
        return;
    make_files_folder();
    char path[sizeof files_folder + MOST_NAME];
    name_file(path, 0);
    mapped_file = (int)must(open(path, O_CREAT | O_EXCL | O_RDWR, 0600), "create a file");
    unlink(path); /* it is there as long as this process has it open */
    for (int i = 0; i < PAGES; i++) {
        int page[PAGE / sizeof(int)] = {i};
        if (must(write(mapped_file, page, PAGE), "write") != PAGE)
            refuse("A file of %d MiB does not fit into %s: give another --folder.", MAPPED >> 20,
                   files_where);
    }
    shuffle(page_order, PAGES, 1, 0);
}

static inline int *map_file(void) {
    int *mapping = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, mapped_file, 0);
    if (mapping == MAP_FAILED)
        must(-1, "mmap");
    return mapping;
}

/* Map the file, write into some of its pages, unmap it. What was written must be in the file. */
static inline double mappings(void *nothing, long repetitions) {
    (void)nothing;
    enum { IN_PAGE = 1 }; /* which number of a page is written */
    static int mark;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        int *mapping = map_file();
        mark++;
        for (int at = 0; at < TOUCHED; at += TOUCHED_EACH)
            mapping[at / (int)sizeof(int) + IN_PAGE] = mark;
        must(munmap(mapping, MAPPED), "munmap");
    }
    double seconds = seconds_now() - began;
    for (int at = 0; at < TOUCHED; at += TOUCHED_EACH) {
        int number = 0;
        must(pread(mapped_file, &number, sizeof number, at + (int)sizeof number * IN_PAGE),
             "pread");
        if (number != mark)
            refuse("Wrong data: %d is in the file, and %d was written into its mapping.", number,
                   mark);
    }
    return seconds;
}

/* Read a number of each page of a fresh mapping, in that order; only this is timed. */
static inline double page_faults(void *nothing, long repetitions) {
    (void)nothing;
    double seconds = 0.0;
    for (long i = 0; i < repetitions; i++) {
        const int *mapping = map_file();
        long sum = 0;
        double began = seconds_now();
        for (int j = 0; j < PAGES; j++)
            sum += mapping[(long)page_order[j] * (PAGE / (long)sizeof(int))];
        seconds += seconds_now() - began;
        if (sum != (long)PAGES * (PAGES - 1) / 2)
            refuse("Wrong data: the pages that were read are not those of the file.");
        must(munmap((void *)mapping, MAPPED), "munmap");
    }
    return seconds;
}

#endif
