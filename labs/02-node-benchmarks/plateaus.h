/* Plateaus in a curve of load times over sizes: each is a cache, the last is main memory.
 *
 * As long as all lines fit into a cache, a load takes equally long however many lines there are.
 * Once they do not fit, more and more loads go on to the next cache, until hardly any finds its
 * line in the first. Between two plateaus the curve climbs for an octave or two. */
#ifndef PLATEAUS_H
#define PLATEAUS_H

enum { MOST_PLATEAUS = 8, LEAST_PLACES = 3 };

/* From one size to the next, half an octave on, a plateau climbs less than this. */
static const double FLAT = 1.15;
/* Two neighbouring plateaus are one if the higher is less than this above the lower. */
static const double ALIKE = 1.6;

struct plateau {
    int from, to; /* places of the curve */
    double ns;
};

static inline double middle_ns(const double *ns, int from, int to) {
    /* In a plateau the curve hardly climbs, so its middle place has about the middle value. */
    int places = to - from + 1;
    return (ns[from + (places - 1) / 2] + ns[from + places / 2]) / 2.0;
}

/* A smaller area cannot take longer than a larger one. Where it seems to, something disturbed the
 * measurement: the time of the larger one is nearer to the truth. */
static inline void lower_what_was_disturbed(double *ns, int count) {
    for (int i = count - 2; i >= 0; i--)
        if (ns[i] > ns[i + 1])
            ns[i] = ns[i + 1];
}

/* The plateaus of a curve with `count` places, in their order; gives how many. */
static inline int find_plateaus(const double *ns, int count, struct plateau *list) {
    int plateaus = 0;
    for (int from = 0, to; from < count && plateaus < MOST_PLATEAUS; from = to + 1) {
        to = from;
        while (to + 1 < count && ns[to + 1] < ns[to] * FLAT)
            to++;
        if (to - from + 1 < LEAST_PLACES)
            continue;
        struct plateau *before = plateaus > 0 ? &list[plateaus - 1] : NULL;
        double here_ns = middle_ns(ns, from, to);
        if (before && here_ns < before->ns * ALIKE) {
            before->to = to;
            continue;
        }
        list[plateaus++] = (struct plateau){from, to, here_ns};
    }
    return plateaus;
}

#endif
