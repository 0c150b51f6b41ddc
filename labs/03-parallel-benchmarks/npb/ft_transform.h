/* Fast Fourier transforms of many rows at once, by the method of Stockham.
 *
 * A row of n = 2^m numbers is transformed in m / 2 passes, each of which joins four transforms into
 * one of four times the length, and one that joins two if m is odd. Stockham's order of the passes
 * writes each into the other of two buffers, and needs no reordering at the end. WIDTH rows go
 * through together and lie side by side in the buffers, so that one instruction of the processor
 * works on several of them. */
#ifndef NPB_FT_TRANSFORM_H
#define NPB_FT_TRANSFORM_H

#include "npb.h"

enum { WIDTH = 8, MOST_LENGTH = 512 };

struct complex {
    double re, im;
};

/* The same place of WIDTH rows. */
struct rows {
    double re[WIDTH], im[WIDTH];
};

/* exp(2 pi i k / MOST_LENGTH) for all k */
static struct complex roots[MOST_LENGTH];

static void make_roots(void) {
    for (int k = 0; k < MOST_LENGTH; k++) {
        double angle = 2.0 * acos(-1.0) * k / MOST_LENGTH;
        roots[k] = (struct complex){cos(angle), sin(angle)};
    }
}

/* exp(direction 2 pi i k / n); direction is +1 or -1. */
static struct complex root(int k, int n, int direction) {
    struct complex root = roots[k * (MOST_LENGTH / n)];
    return (struct complex){root.re, direction * root.im};
}

/* Join pairs: two transforms of length `done` become one of length 2 done. */
static void join_two(const struct rows *restrict from, struct rows *restrict to, int n, int done,
                     int direction) {
    int apart = n / 2, groups = n / 2 / done;
    for (int k = 0; k < done; k++) {
        struct complex w = root(k, 2 * done, direction);
        for (int g = 0; g < groups; g++) {
            const struct rows *a = &from[k * 2 * groups + g], *b = a + groups;
            struct rows *low = &to[k * groups + g], *high = low + apart;
            for (int i = 0; i < WIDTH; i++) {
                double re = w.re * b->re[i] - w.im * b->im[i];
                double im = w.re * b->im[i] + w.im * b->re[i];
                low->re[i] = a->re[i] + re;
                low->im[i] = a->im[i] + im;
                high->re[i] = a->re[i] - re;
                high->im[i] = a->im[i] - im;
            }
        }
    }
}

/* One butterfly of four: b, c and d are turned by their roots, then all sums and differences. */
static inline void join_rows(const struct rows *restrict a, int step, struct rows *restrict to,
                             int apart, const struct complex *w, double direction) {
    const struct rows *b = a + step, *c = b + step, *d = c + step;
    struct rows *to1 = to + apart, *to2 = to1 + apart, *to3 = to2 + apart;
    for (int i = 0; i < WIDTH; i++) {
        double b_re = w[0].re * b->re[i] - w[0].im * b->im[i];
        double b_im = w[0].re * b->im[i] + w[0].im * b->re[i];
        double c_re = w[1].re * c->re[i] - w[1].im * c->im[i];
        double c_im = w[1].re * c->im[i] + w[1].im * c->re[i];
        double d_re = w[2].re * d->re[i] - w[2].im * d->im[i];
        double d_im = w[2].re * d->im[i] + w[2].im * d->re[i];
        double even_re = a->re[i] + c_re, even_im = a->im[i] + c_im;
        double odd_re = a->re[i] - c_re, odd_im = a->im[i] - c_im;
        double sum_re = b_re + d_re, sum_im = b_im + d_im;
        double turned_re = direction * (d_im - b_im), turned_im = direction * (b_re - d_re);
        to->re[i] = even_re + sum_re;
        to->im[i] = even_im + sum_im;
        to1->re[i] = odd_re + turned_re;
        to1->im[i] = odd_im + turned_im;
        to2->re[i] = even_re - sum_re;
        to2->im[i] = even_im - sum_im;
        to3->re[i] = odd_re - turned_re;
        to3->im[i] = odd_im - turned_im;
    }
}

/* Join fours: four transforms of length `done` become one of length 4 done. */
static void join_four(const struct rows *restrict from, struct rows *restrict to, int n, int done,
                      int direction) {
    int apart = n / 4, groups = n / 4 / done;
    for (int k = 0; k < done; k++) {
        struct complex w[3];
        for (int j = 0; j < 3; j++)
            w[j] = root((j + 1) * k, 4 * done, direction);
        for (int g = 0; g < groups; g++)
            join_rows(&from[k * 4 * groups + g], groups, &to[k * groups + g], apart, w, direction);
    }
}

/* Transform WIDTH rows of n numbers each; the result is in the buffer that is given back. */
static struct rows *transform_rows(struct rows *rows, struct rows *other, int n, int direction) {
    int done = 1;
    while (done < n) {
        if (done * 4 <= n)
            join_four(rows, other, n, done, direction);
        else
            join_two(rows, other, n, done, direction);
        done *= done * 4 <= n ? 4 : 2;
        struct rows *written = other;
        other = rows;
        rows = written;
    }
    return rows;
}

/* Transform WIDTH rows of an array in place. The numbers of a row are `step` apart, and the rows
 * `between`. */
static void transform_block(struct complex *data, int n, size_t step, size_t between,
                            int direction) {
    static struct rows first[MOST_LENGTH], second[MOST_LENGTH];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < WIDTH; i++) {
            struct complex value = data[(size_t)k * step + (size_t)i * between];
            first[k].re[i] = value.re;
            first[k].im[i] = value.im;
        }
    const struct rows *done = transform_rows(first, second, n, direction);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < WIDTH; i++)
            data[(size_t)k * step + (size_t)i * between] =
                (struct complex){done[k].re[i], done[k].im[i]};
    count_work((long)n * WIDTH);
}

#endif
