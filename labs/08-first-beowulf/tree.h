/* The tree of Barnes and Hut (Nature 324, 1986, p. 446) and the forces that are computed with it.
 * Nothing here needs MPI. You do not need to change this file.
 *
 * The bodies are sorted along a Morton curve. It visits a cube octant by octant, and within each
 * octant again octant by octant, so that the bodies of any cell of the tree are neighbours on the
 * curve: a cell is a range of bodies. The nodes lie in the order in which the tree is walked. A
 * walk goes on with the following node when it opens a cell, and with the node `next` when it does
 * not: no stack is needed. */
#ifndef TREE_H
#define TREE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A key has 3 bits for each level. A cell with at most BUCKET bodies is not divided, and neither is
 * one of the last level, however many bodies it has: so bodies at one place do not make the tree
 * deeper and deeper. */
enum { LEVELS = 21, BUCKET = 8 };

struct body {
    double position[3], mass;
};

struct node {
    double centre[3], mass; /* the centre of mass */
    double moments[6];      /* sums of mass * offset * offset: xx, yy, zz, xy, xz, yz */
    double far2;            /* squared distance above which the cell acts as a whole */
    int first, end, next;   /* its bodies are `first` to `end` - 1 */
    int is_leaf;
};

struct place {
    uint64_t key; /* where a body is on the curve */
    int from;     /* where it was in the array that was sorted */
};

struct tree {
    struct body *bodies; /* along the curve */
    struct place *places;
    struct node *nodes;
    int count, used; /* bodies, nodes */
    double corner[3], side;
    double angle, softening2; /* the opening angle; the squared softening length */
    int quadrupoles;
};

/* The acceleration and the potential of one body, and how many bodies and cells they come from. */
struct pull {
    double x, y, z, potential;
    long pairs, cells;
};

/* Floating-point operations of add_pull and of add_quadrupole as they are written; a square root
 * and a division count as one each. The distance belongs to add_pull; those of cells that are
 * opened are not counted. */
enum { PULL_FLOPS = 22, QUADRUPOLE_FLOPS = 52 };

/* The cube around all bodies. */
static inline void bound(struct tree *tree, const struct body *bodies) {
    tree->side = 0.0;
    for (int k = 0; k < 3; k++) {
        double least = bodies[0].position[k], most = least;
        for (int i = 1; i < tree->count; i++) {
            least = fmin(least, bodies[i].position[k]);
            most = fmax(most, bodies[i].position[k]);
        }
        tree->corner[k] = least;
        tree->side = fmax(tree->side, most - least);
    }
    if (tree->side == 0.0)
        tree->side = 1.0; /* all bodies are at one place */
}

static inline uint64_t key_of(const struct tree *tree, const double *position) {
    uint64_t cell[3], key = 0, cells = (uint64_t)1 << LEVELS;
    for (int k = 0; k < 3; k++) {
        cell[k] = (uint64_t)((position[k] - tree->corner[k]) / tree->side * (double)cells);
        cell[k] = cell[k] < cells ? cell[k] : cells - 1;
    }
    for (int bit = LEVELS - 1; bit >= 0; bit--)
        for (int k = 0; k < 3; k++)
            key = key << 1 | (cell[k] >> bit & 1);
    return key;
}

/* Bodies with the same key stay in the order in which they came, so that all ranks have one
 * order. */
static inline int compare_places(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->from - b->from;
}

static inline void sort_along_curve(struct tree *tree, const struct body *bodies) {
    bound(tree, bodies);
    for (int i = 0; i < tree->count; i++)
        tree->places[i] = (struct place){key_of(tree, bodies[i].position), i};
    qsort(tree->places, (size_t)tree->count, sizeof *tree->places, compare_places);
    for (int i = 0; i < tree->count; i++)
        tree->bodies[i] = bodies[tree->places[i].from];
}

/* Which octant of a cell of this level the body is in: 0 to 7. */
static inline int octant_of(const struct tree *tree, int body, int level) {
    return (int)(tree->places[body].key >> 3 * (LEVELS - 1 - level) & 7);
}

static inline void move_into_octant(double *middle, double side, int octant) {
    for (int k = 0; k < 3; k++)
        middle[k] += (octant >> (2 - k) & 1 ? 0.25 : -0.25) * side;
}

static inline void add_mass(struct node *node, const double *position, double mass) {
    node->mass += mass;
    for (int k = 0; k < 3; k++)
        node->centre[k] += mass * position[k];
}

static inline void add_moments(struct node *node, const double *position, double mass) {
    double x = position[0] - node->centre[0], y = position[1] - node->centre[1],
           z = position[2] - node->centre[2];
    double products[] = {x * x, y * y, z * z, x * y, x * z, y * z};
    for (int k = 0; k < 6; k++)
        node->moments[k] += mass * products[k];
}

/* Mass, centre of mass and second moments: of a leaf from its bodies, of another cell from the
 * cells in it. */
static inline void sum_up(struct tree *tree, int number) {
    struct node *node = &tree->nodes[number], *nodes = tree->nodes;
    for (int i = node->first; node->is_leaf && i < node->end; i++)
        add_mass(node, tree->bodies[i].position, tree->bodies[i].mass);
    for (int i = number + 1; i < node->next; i = nodes[i].next)
        add_mass(node, nodes[i].centre, nodes[i].mass);
    for (int k = 0; k < 3; k++)
        node->centre[k] /= node->mass;
    for (int i = node->first; node->is_leaf && i < node->end; i++)
        add_moments(node, tree->bodies[i].position, tree->bodies[i].mass);
    for (int i = number + 1; i < node->next; i = nodes[i].next) {
        add_moments(node, nodes[i].centre, nodes[i].mass);
        for (int k = 0; k < 6; k++)
            node->moments[k] += nodes[i].moments[k];
    }
}

/* A cell of size s acts as a whole on a body at distance d from its centre of mass if s / d is
 * below the opening angle. The offset of the centre of mass from the middle of the cell is added to
 * the distance (Barnes 1994): a cell whose mass is in one corner would otherwise act as a whole on
 * bodies close to it. */
static inline double far_squared(const struct tree *tree, const struct node *node,
                                 const double *middle, double side) {
    double offset2 = 0.0;
    if (node->end - node->first == 1)
        return INFINITY; /* one body: no cell is cheaper */
    for (int k = 0; k < 3; k++)
        offset2 += (node->centre[k] - middle[k]) * (node->centre[k] - middle[k]);
    double far = side / tree->angle + sqrt(offset2);
    return far * far;
}

/* The node of the bodies `first` to `end` - 1, and all nodes in it. They are in one cell of this
 * level. */
static inline void build(struct tree *tree, int first, int end, int level, const double *where,
                         double side) {
    int number = tree->used++;
    struct node *node = &tree->nodes[number];
    double middle[3] = {where[0], where[1], where[2]};
    memset(node, 0, sizeof *node);
    node->first = first, node->end = end;
    /* As long as all bodies are in one octant, take that octant: the tree has no cell with a single
     * cell in it, and so it has fewer than twice as many nodes as bodies. */
    while (level < LEVELS && octant_of(tree, first, level) == octant_of(tree, end - 1, level)) {
        move_into_octant(middle, side, octant_of(tree, first, level++));
        side /= 2;
    }
    node->is_leaf = end - first <= BUCKET || level == LEVELS;
    for (int from = first, to; !node->is_leaf && from < end; from = to) {
        int octant = octant_of(tree, from, level);
        double its_middle[3] = {middle[0], middle[1], middle[2]};
        for (to = from + 1; to < end && octant_of(tree, to, level) == octant;)
            to++;
        move_into_octant(its_middle, side, octant);
        build(tree, from, to, level + 1, its_middle, side / 2);
    }
    node->next = tree->used;
    sum_up(tree, number);
    node->far2 = far_squared(tree, node, middle, side);
}

static inline void build_tree(struct tree *tree, const struct body *bodies) {
    double middle[3];
    sort_along_curve(tree, bodies);
    for (int k = 0; k < 3; k++)
        middle[k] = tree->corner[k] + tree->side / 2;
    tree->used = 0;
    build(tree, 0, tree->count, 0, middle, tree->side);
}

/* What leads from a body to what pulls it, and the square of that distance. */
struct way {
    double x, y, z, square;
};

static inline struct way way_to(const double *here, const double *there) {
    double x = there[0] - here[0], y = there[1] - here[1], z = there[2] - here[2];
    return (struct way){x, y, z, x * x + y * y + z * z};
}

/* A mass pulls. G is 1. Gives 1 / distance, softened. */
static inline double add_pull(struct pull *pull, double mass, struct way way, double softening2) {
    double near = 1.0 / sqrt(way.square + softening2), strength = mass * near * near * near;
    pull->potential -= mass * near;
    pull->x += strength * way.x;
    pull->y += strength * way.y;
    pull->z += strength * way.z;
    return near;
}

/* What a cell's second moments add to the pull of its mass: the next term of the series in 1 /
 * distance. */
static inline void add_quadrupole(struct pull *pull, const double *m, struct way way, double near) {
    double near3 = near * near * near, near5 = near3 * near * near;
    double x = m[0] * way.x + m[3] * way.y + m[4] * way.z;
    double y = m[3] * way.x + m[1] * way.y + m[5] * way.z;
    double z = m[4] * way.x + m[5] * way.y + m[2] * way.z;
    double along = x * way.x + y * way.y + z * way.z, trace = m[0] + m[1] + m[2];
    double strength = 7.5 * along * near * near - 1.5 * trace;
    pull->potential -= 1.5 * along * near5 - 0.5 * trace * near3;
    pull->x += near5 * (strength * way.x - 3.0 * x);
    pull->y += near5 * (strength * way.y - 3.0 * y);
    pull->z += near5 * (strength * way.z - 3.0 * z);
}

static inline void add_bodies(const struct tree *tree, int first, int end, int me,
                              struct pull *pull) {
    const double *here = tree->bodies[me].position;
    for (int i = first; i < end; i++) {
        const struct body *body = &tree->bodies[i];
        if (i == me)
            continue;
        add_pull(pull, body->mass, way_to(here, body->position), tree->softening2);
        pull->pairs++;
    }
}

/* Walk the tree for one body: cells that are far away act as a whole, others are opened. */
static inline struct pull pull_on(const struct tree *tree, int me) {
    const double *here = tree->bodies[me].position;
    struct pull pull = {0.0, 0.0, 0.0, 0.0, 0, 0};
    for (int i = 0; i < tree->used;) {
        const struct node *node = &tree->nodes[i];
        struct way way = way_to(here, node->centre);
        if (way.square > node->far2) {
            double near = add_pull(&pull, node->mass, way, tree->softening2);
            if (tree->quadrupoles)
                add_quadrupole(&pull, node->moments, way, near);
            pull.cells++;
        } else if (node->is_leaf) {
            add_bodies(tree, node->first, node->end, me, &pull);
        } else {
            i++; /* open it: go on with the first cell in it */
            continue;
        }
        i = node->next;
    }
    return pull;
}

#endif
