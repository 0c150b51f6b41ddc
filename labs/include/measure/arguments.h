/* Arguments come in pairs, `--name value`, or are a `--name` alone. What cannot be used ends the
 * program with a sentence. */
#ifndef MEASURE_ARGUMENTS_H
#define MEASURE_ARGUMENTS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a program ends with a sentence: check.h has it for MPI programs, no_mpi.h for others. */
static inline void refuse(const char *format, ...);

/* Whether `--name` was given. */
static inline int has_argument(int argc, char **argv, const char *name) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return 0;
}

/* The text after `--name`, or `otherwise`. */
static inline const char *text_argument(int argc, char **argv, const char *name,
                                        const char *otherwise) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) != 0)
            continue;
        if (i + 1 == argc || strncmp(argv[i + 1], "--", 2) == 0)
            refuse("%s needs a value after it.", name);
        return argv[i + 1];
    }
    return otherwise;
}

/* A whole number at `*text`, from `lowest` to `highest`; `*text` moves on to what follows it. */
static inline long parse_number(const char *name, const char **text, long lowest, long highest) {
    char *end;
    errno = 0;
    long value = strtol(*text, &end, 10);
    if (end == *text)
        refuse("%s takes whole numbers, not '%s'.", name, *text);
    if (errno == ERANGE || value < lowest || value > highest)
        refuse("%s takes numbers from %ld to %ld, not %.*s.", name, lowest, highest,
               (int)(end - *text), *text);
    *text = end;
    return value;
}

/* The whole number after `--name`, or `otherwise`. */
static inline long number_argument(int argc, char **argv, const char *name, long otherwise,
                                   long lowest, long highest) {
    const char *text = text_argument(argc, argv, name, NULL);
    if (!text)
        return otherwise;
    const char *given = text;
    long value = parse_number(name, &text, lowest, highest);
    if (*text)
        refuse("%s takes a whole number, not '%s'.", name, given);
    return value;
}

/* The whole numbers after `--name`, with commas between them, into `values`; gives how many. */
static inline int list_argument(int argc, char **argv, const char *name, const char *otherwise,
                                long lowest, long highest, long *values, int most) {
    const char *given = text_argument(argc, argv, name, otherwise);
    const char *text = given;
    int count = 0;
    for (;;) {
        if (count == most)
            refuse("%s takes at most %d numbers.", name, most);
        values[count++] = parse_number(name, &text, lowest, highest);
        if (!*text)
            return count;
        if (*text++ != ',')
            refuse("%s takes whole numbers with commas between them, not '%s'.", name, given);
    }
}

/* The place of the word after `--name` in the list `words`, which ends with NULL. */
static inline int find_word(const char *name, const char *word, size_t length,
                            const char *const *words) {
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return i;
    char known[256] = "";
    for (int i = 0; words[i]; i++) {
        strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, words[i], sizeof known - strlen(known) - 1);
    }
    refuse("%s is one of %s, not '%.*s'.", name, known, (int)length, word);
    return -1;
}

static inline int word_argument(int argc, char **argv, const char *name, const char *otherwise,
                                const char *const *words) {
    const char *word = text_argument(argc, argv, name, otherwise);
    return find_word(name, word, strlen(word), words);
}

/* The places in `words` of the words after `--name`, with commas between them; gives how many. */
static inline int words_argument(int argc, char **argv, const char *name, const char *otherwise,
                                 const char *const *words, int *places, int most) {
    const char *text = text_argument(argc, argv, name, otherwise);
    for (int count = 0;;) {
        if (count == most)
            refuse("%s takes at most %d words.", name, most);
        size_t length = strcspn(text, ",");
        places[count++] = find_word(name, text, length, words);
        text += length;
        if (!*text++)
            return count;
    }
}

/* Refuse a misspelt `--name`, which would otherwise silently change nothing. */
static inline void refuse_unknown(int argc, char **argv, const char *const *known) {
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        int is_known = 0;
        for (int j = 0; known[j]; j++)
            is_known |= strcmp(argv[i], known[j]) == 0;
        if (!is_known)
            refuse("There is no argument %s.", argv[i]);
    }
}

#endif
