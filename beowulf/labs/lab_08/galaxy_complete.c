/* The galaxy of lab 08 with a partition by cost, for studies that need more than one rank. */
#include "../../../labs/08-first-beowulf/galaxy.h"

static void partition(const int *costs, int count, int ranks, int *first) {
    double all = 0.0, sum = 0.0;
    int rank = 1;
    first[0] = 0;
    for (int i = 0; i < count; i++)
        all += costs[i];
    for (int i = 0; i < count; i++) {
        while (rank < ranks && sum >= all * rank / ranks)
            first[rank++] = i;
        sum += costs[i];
    }
    while (rank <= ranks)
        first[rank++] = count;
}

int main(int argc, char **argv) { return run_galaxy(argc, argv, partition); }
