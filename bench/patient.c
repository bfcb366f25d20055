/* PatientBandits alone, by hand: the limit that the general engine is measured against.

   Same random numbers, same delay tables, same index to the last bit as the package, so the two can be compared run
   by run. What is special: one policy, Bernoulli rewards, ceil-Pareto delays, rewards under way kept as counts per
   round and arm (K = 2) or in lists (K large), four runs played side by side to hide latency (K = 2).

   usage: patient K T RUNS ALPHA WORLD_KEY POLICY_KEY mean_1 .. mean_K tail_1 .. tail_K
   prints: seconds, then the pulls of every arm summed over the runs */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CELLS 4096
#define HEAD (1 << 15)
#define TABLE (1 << 16)
#define SIDE 4 /* runs played side by side, to hide latency */
typedef uint64_t u64;

static inline u64 mix(u64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}
static inline u64 address(u64 key, u64 round, u64 arm) {
    return mix(key + round * 0xD1B54A32D192ED03ULL + arm * 0xABC98388FB8FAC03ULL);
}
static inline double unit(u64 bits) { return (double)(bits >> 11) * 0x1p-53; }
static u64 run_key(u64 base, u64 run) { return mix(base + mix(run * 0x9E3779B97F4A7C15ULL)); }

typedef struct { double tail; int head; double *survival; int *guide; } Law;

static Law law_of(double tail, int horizon) {
    Law law = {tail, horizon < HEAD ? horizon : HEAD, NULL, NULL};
    law.survival = malloc((law.head + 2) * sizeof(double));
    law.survival[law.head + 1] = 0.0; /* "beyond the table" */
    law.guide = malloc((CELLS + 1) * sizeof(int));
    for (int m = 0; m <= law.head; m++) law.survival[m] = m > 1 ? pow(m, -tail) : 1.0;
    for (int j = CELLS, m = 0; j >= 0; j--) {
        while (m <= law.head && law.survival[m] > (double)j / CELLS) m++;
        law.guide[j] = m;
    }
    return law;
}

/* min{m : S(m) <= u}, or something > left */
static inline int delay_of(const Law *law, double u, int left) {
    int cell = (int)(u * CELLS), low = law->guide[cell + 1], high = law->guide[cell];
    const double *survival = law->survival;
    while (high - low > 8) {
        int middle = (low + high) / 2;
        if (survival[middle] > u) low = middle + 1; else high = middle;
    }
    while (survival[low] > u) low++;
    if (__builtin_expect(low > law->head && left > law->head, 0)) {
        double x = pow(u, -1.0 / law->tail);
        if (x > (double)left + 2) return left + 1;
        low = (int)ceil(x);
        while (pow(low, -law->tail) > u) low++;
        while (pow(low - 1, -law->tail) <= u) low--;
    }
    return low;
}

static double spread, exponent;
static double *table;
static int table_size;
static inline double formula(int n) {
    return sqrt(spread / n) + (exponent == 0.5 ? 2.0 / sqrt(n) : 2.0 * pow(n, -exponent));
}
static inline double bonus(int n) { return n < table_size ? table[n] : formula(n); }

/* K = 2: arrivals as counts, a slot nobody reads for those that never come, and hardly a branch */
typedef struct { u64 key, tie; int n[2]; double s[2], bonus[2]; uint8_t *due; } Game;
static inline void start(Game *g, u64 key, u64 tie) {
    g->key = key; g->tie = tie;
    for (int i = 0; i < 2; i++) { g->n[i] = 0; g->s[i] = 0; g->bonus[i] = INFINITY; }
}
static inline void step(Game *g, int t, int T, const double *mean, const Law *const *law) {
    uint8_t *due = g->due + 2 * (size_t)t;
    g->s[0] += due[0];
    g->s[1] += due[1];
    due[0] = due[1] = 0;
    double x = g->s[0] / (g->n[0] + (g->n[0] == 0)) + g->bonus[0], y = g->s[1] / (g->n[1] + (g->n[1] == 0)) + g->bonus[1];
    int arm = y > x;
    if (__builtin_expect(x == y, 0)) arm = address(g->tie, g->n[1], 1) > address(g->tie, g->n[0], 0);
    int n = ++g->n[arm];
    g->bonus[arm] = bonus(n);
    u64 bits = address(g->key, t, arm);
    int delay = delay_of(law[arm], unit(mix(bits ^ 0x8CB92BA72F3D8DD7ULL)), T - t);
    int at = t + (delay > 1 ? delay : 1);
    at = (unit(bits) < mean[arm]) & (at <= T) ? at : T + 1;
    g->due[2 * (size_t)at + arm]++;
}

/* K large: tournament tree, arrivals in lists */
static int K, leaves, *winner, *due_at, *next_due, *arm_of, *pulls;
static double *rewards, *indices;
static u64 tie_key;
static inline int beats(int x, int y) {
    if (indices[x] != indices[y]) return indices[x] > indices[y];
    return address(tie_key, pulls[x], x) > address(tie_key, pulls[y], y);
}
static inline void climb(int arm) {
    for (int node = (leaves + arm) / 2; node >= 1; node /= 2) {
        int best = winner[2 * node], right = winner[2 * node + 1];
        if (right >= 0 && beats(right, best)) best = right;
        if (best == winner[node] && best != arm) break;
        winner[node] = best;
    }
}
static void large(u64 key, u64 tie, int T, const double *mean, const Law *const *law) {
    tie_key = tie;
    for (int i = 0; i < K; i++) { pulls[i] = 0; rewards[i] = 0; indices[i] = INFINITY; }
    for (int i = 0; i < leaves; i++) winner[leaves + i] = i < K ? i : -1;
    for (int node = leaves - 1; node >= 1; node--) {
        int left = winner[2 * node], right = winner[2 * node + 1];
        winner[node] = right >= 0 && beats(right, left) ? right : left;
    }
    for (int t = 1; t <= T; t++) {
        int pull = due_at[t];
        due_at[t] = 0;
        for (; pull; pull = next_due[pull]) {
            int arm = arm_of[pull];
            rewards[arm] += 1;
            indices[arm] = rewards[arm] / pulls[arm] + bonus(pulls[arm]);
            climb(arm);
        }
        int arm = winner[1];
        if (leaves == 1) for (int i = arm = 0; i < K; i++) if (beats(i, arm)) arm = i;
        int n = ++pulls[arm];
        u64 bits = address(key, t, arm);
        if (unit(bits) < mean[arm]) {
            int delay = delay_of(law[arm], unit(mix(bits ^ 0x8CB92BA72F3D8DD7ULL)), T - t);
            int at = t + (delay > 1 ? delay : 1);
            if (at <= T) {
                arm_of[t] = arm; next_due[t] = due_at[at]; due_at[at] = t;
            }
        }
        indices[arm] = rewards[arm] / n + bonus(n);
        climb(arm);
    }
}

int main(int argc, char **argv) {
    if (argc < 7) return 2;
    K = atoi(argv[1]);
    int T = atoi(argv[2]), runs = atoi(argv[3]);
    double alpha = atof(argv[4]);
    u64 world = strtoull(argv[5], NULL, 10), policy = strtoull(argv[6], NULL, 10);
    if (argc != 7 + 2 * K) return 2;
    double *mean = malloc(K * sizeof(double));
    for (int i = 0; i < K; i++) mean[i] = atof(argv[7 + i]);
    long long *total = calloc(K, sizeof(long long));

    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const Law **law = malloc(K * sizeof(Law *));
    Law *laws = malloc(K * sizeof(Law));
    int distinct = 0;
    for (int i = 0; i < K; i++) {
        double tail = atof(argv[7 + K + i]);
        int j = 0;
        while (j < distinct && laws[j].tail != tail) j++;
        if (j == distinct) laws[distinct++] = law_of(tail, T);
        law[i] = &laws[j];
    }
    spread = 2.0 * (log(2.0 * K) + 3.0 * log(T));
    exponent = alpha < 0.5 ? alpha : 0.5;
    table_size = T + 1 < TABLE ? T + 1 : TABLE;
    table = malloc(table_size * sizeof(double));
    for (int n = 1; n < table_size; n++) table[n] = formula(n);
    if (K == 2) {
        Game game[SIDE];
        for (int g = 0; g < SIDE && g < runs; g++) game[g].due = calloc(2 * ((size_t)T + 2), 1);
        for (int run = 0; run < runs; run += SIDE) {
            int games = runs - run < SIDE ? runs - run : SIDE;
            for (int g = 0; g < games; g++) start(&game[g], run_key(world, run + g), run_key(policy, run + g));
            if (games == SIDE)
                for (int t = 1; t <= T; t++)
                    for (int g = 0; g < SIDE; g++) step(&game[g], t, T, mean, law);
            else
                for (int g = 0; g < games; g++)
                    for (int t = 1; t <= T; t++) step(&game[g], t, T, mean, law);
            for (int g = 0; g < games; g++)
                for (int i = 0; i < 2; i++) { total[i] += game[g].n[i]; game[g].due[2 * ((size_t)T + 1) + i] = 0; }
        }
    } else {
        leaves = 1;
        if (K >= 24) while (leaves < K) leaves *= 2;
        winner = malloc(2 * leaves * sizeof(int));
        due_at = calloc(T + 2, sizeof(int));
        next_due = malloc((T + 2) * sizeof(int));
        arm_of = malloc((T + 2) * sizeof(int));
        pulls = malloc(K * sizeof(int));
        rewards = malloc(K * sizeof(double));
        indices = malloc(K * sizeof(double));
        for (int run = 0; run < runs; run++) {
            large(run_key(world, run), run_key(policy, run), T, mean, law);
            due_at[T + 1] = 0;
            for (int i = 0; i < K; i++) total[i] += pulls[i];
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.9f\n", (end.tv_sec - begin.tv_sec) + 1e-9 * (end.tv_nsec - begin.tv_nsec));
    for (int i = 0; i < K; i++) printf("%lld\n", total[i]);
    return 0;
}
