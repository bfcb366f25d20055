/* PatientBandits alone, by hand: the limit that the general engine is measured against.

   Same random numbers, same delays, same index to the last bit as the package, so the two can be compared run by run.
   What is special: one policy, Bernoulli rewards, ceil-Pareto delays, and K = 2 written out: many runs go side by side
   in lanes that the compiler turns into vector instructions, one run alone guesses its next arm; K large has a
   tournament tree and rewards under way in lists.

   usage: patient K T RUNS ALPHA WORLD_KEY POLICY_KEY mean_1 .. mean_K tail_1 .. tail_K
   prints: seconds of the processor, the best of three turns, then the pulls of every arm summed over the runs */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OCTAVES 10      /* of u; what is below them all is one cell */
#define OCTAVE_BITS 12  /* cells per octave */
#define CELLS (OCTAVES << OCTAVE_BITS)
#define BELOW_CELL (52 - OCTAVE_BITS)
#define FIRST_CELL ((1023LL - OCTAVES) << OCTAVE_BITS)
#define SHARE_BITS 20
#define NEVER (CELLS + 1) /* one more cell, whose only delay is longer than all that count */
#define HEAD (1 << 15)
#define TABLE (1 << 16)
#define LANES 32
#define TURNS 3 /* the best one counts: the first finds cold memory */
#define RING_BITS 13
#define RING (1 << RING_BITS)
typedef uint64_t u64;

static inline u64 mix(u64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}
static inline u64 address(u64 key, u64 round, u64 arm) {
    return mix(key + round * 0xD1B54A32D192ED03ULL + arm * 0xABC98388FB8FAC03ULL);
}
static inline double unit(u64 bits) { return (double)(int64_t)(bits >> 11) * 0x1p-53; }
static u64 run_key(u64 base, u64 run) { return mix(base + mix(run * 0x9E3779B97F4A7C15ULL)); }

static inline u64 bits_of(double x) { u64 bits; memcpy(&bits, &x, 8); return bits; }
static inline double of_bits(u64 bits) { double x; memcpy(&x, &bits, 8); return x; }

/* The delay min{m : S(m) <= u}: in cell j of u it is one of guide[j + 1] .. guide[j], and where a straight line has
   come to at u, rounded down, unless that is too near to a whole number (see the package's engine/delay_lines.py) */
typedef struct { double tail; int head, last; double *survival; int *guide; int64_t *lines; } Law;

static inline double survival(const Law *law, int m) {
    return m <= law->head ? law->survival[m] : pow(m, -law->tail);
}
static inline int bisect(const Law *law, double u, int low, int high) {
    while (low < high) {
        int middle = (low + high) / 2;
        if (survival(law, middle) > u) low = middle + 1; else high = middle;
    }
    return low;
}
static inline int64_t cell_of(double u) {
    int64_t cell = (int64_t)(bits_of(u) >> BELOW_CELL) - FIRST_CELL;
    return cell < 0 ? 0 : cell;
}
/* 32 bits of start, 6 of them behind the point, and 32 of fall, 12 of them; a place has 32 behind the point */
static inline int64_t place_of(int64_t line, double u) {
    int64_t share = bits_of(u) >> (BELOW_CELL - SHARE_BITS) & ((1 << SHARE_BITS) - 1);
    return ((line >> 32) << 26) - (line & 0xFFFFFFFF) * share;
}
static inline int64_t doubt_of(int64_t line) { return (1 << 26) + ((line & 0xFFFFFFFF) << 8); }
static inline int is_sure(int64_t line, int64_t place) {
    int64_t doubt = doubt_of(line), within = place & 0xFFFFFFFF;
    return (within >= doubt) & (within <= 0xFFFFFFFF - doubt);
}
static int64_t line_from(double start, double fall) {
    return ((int64_t)(start * 64 + 0.5) << 32) + (int64_t)(fall * 4096 + 0.5);
}
static double lower_end(int cell) { return cell ? of_bits((u64)(FIRST_CELL + cell) << BELOW_CELL) : 0.0; }
static int64_t line_of(const Law *law, int cell) {
    int low = law->guide[cell + 1], high = law->guide[cell];
    if (high >= 1 << 25) return 0;
    if (low == high) return line_from(low + 0.5, 0);
    if (cell == 0) return 0;
    double begin = lower_end(cell), width = lower_end(cell + 1) - begin;
    double first = (survival(law, low) - begin) / width, last = (survival(law, high - 1) - begin) / width;
    if (high == low + 1) {
        double fall = 0.95 / (first > 1 - first ? first : 1 - first);
        return line_from(low + 1 + fall * first, fall);
    }
    if (high - low - 1 > 4096 * (first - last)) return 0;
    double fall = (high - low - 1) / (first - last), start = low + 1 + fall * first;
    int64_t line = line_from(start, fall);
    int trusted = 1;
    if (high <= law->head + 1) {
        for (int n = low; n < high; n++)
            trusted &= llabs(place_of(line, law->survival[n]) - ((n + 1LL) << 32)) < doubt_of(line);
    } else { /* the law is convex: all are on one side, at most this far */
        double above = (survival(law, low - 1) - begin) / width - first, below = last - (survival(law, high) - begin) / width;
        double away = (1 / below - 1 / above) * (first - last) / 8;
        line = line_from(start - away, fall);
        trusted = away >= 0 && away < 1 / 128. - 1 / 4096. + fall * (1 / 4096. - 1 / 524288.);
    }
    int64_t top = (line >> 32) << 26, end = top - (line & 0xFFFFFFFF) * ((1 << SHARE_BITS) - 1);
    trusted &= high > law->last || top < ((high + 1LL) << 32) + doubt_of(line);
    return trusted && end > ((int64_t)low << 32) - doubt_of(line) ? line : 0;
}
static Law law_of(double tail, int horizon, int *guide, int64_t *lines) {
    Law law = {tail, horizon < HEAD ? horizon : HEAD, horizon, NULL, guide, lines};
    law.survival = malloc((law.head + 1) * sizeof(double));
    for (int m = 0; m <= law.head; m++) law.survival[m] = m > 1 ? pow(m, -tail) : 1.0;
    for (int cell = CELLS, low = 0; cell >= 0; cell--) {
        double u = lower_end(cell);
        int high = low;
        for (int stride = 1; high <= horizon && survival(&law, high) > u; stride *= 2) {
            low = high + 1;
            high += stride;
        }
        guide[cell] = low = bisect(&law, u, low, high < horizon + 1 ? high : horizon + 1);
    }
    guide[NEVER] = guide[NEVER + 1] = horizon + 1;
    for (int cell = 0; cell <= NEVER; cell++) lines[cell] = line_of(&law, cell);
    return law;
}
/* among several candidates: where a straight line leads, then its neighbours, then by halves */
static __attribute__((noinline)) int search(const Law *law, double u) {
    int low = law->guide[cell_of(u) + 1], high = law->guide[cell_of(u)];
    if (low == high) return low;
    double share = (double)(int64_t)(bits_of(u) & ((1ULL << BELOW_CELL) - 1)) / (1ULL << BELOW_CELL);
    int guess = low + (int)((high - low) * (1.0 - share) + 0.5);
    if (guess > high - 1) guess = high - 1;
    if (survival(law, guess) > u) {
        low = guess + 1;
        if (low >= high || survival(law, low) <= u) return low;
        low++;
    } else {
        high = guess;
        if (guess == low || survival(law, guess - 1) > u) return guess;
        high--;
    }
    return bisect(law, u, low, high);
}
static inline int delay_of(const Law *law, double u) {
    int64_t line = law->lines[cell_of(u)], place = place_of(line, u);
    return __builtin_expect(is_sure(line, place), 1) ? (int)(place >> 32) : search(law, u);
}

static double spread, exponent;
static double *table;
static int table_size;
static inline double formula(int n) {
    return sqrt(spread / n) + (exponent == 0.5 ? 2.0 / sqrt(n) : 2.0 * pow(n, -exponent));
}
static inline double bonus(int n) { return n < table_size ? table[n] : formula(n); }

#define DELAY_SALT 0x8CB92BA72F3D8DD7ULL
#define ARM_STEP 0xABC98388FB8FAC03ULL

/* K = 2, one run: arrivals as counts by round and arm, a slot nobody reads for those that never come. The two arms
   are a branch: who waits for the comparison waits for a division */
typedef struct { u64 key, tie; int n[2]; double s[2], bonus[2]; uint8_t *due; } Game;
static inline void pull(Game *g, int arm, int t, int T, const double *mean, const Law *law) {
    g->bonus[arm] = bonus(++g->n[arm]);
    u64 bits = address(g->key, t, arm);
    int64_t delay = delay_of(&law[arm], unit(mix(bits ^ DELAY_SALT)));
    int64_t at = t + (delay > 1 ? delay : 1);
    at = (unit(bits) < mean[arm]) & (at <= T) ? at : T + 1;
    g->due[2 * at + arm]++;
}
static void alone(u64 key, u64 tie, int T, const double *mean, const Law *law, long long *total) {
    Game g = {key, tie, {0, 0}, {0, 0}, {INFINITY, INFINITY}, calloc(2 * ((size_t)T + 2), 1)};
    for (int t = 1; t <= T; t++) {
        g.s[0] += g.due[2 * (size_t)t];
        g.s[1] += g.due[2 * (size_t)t + 1];
        double x = g.s[0] / (g.n[0] + (g.n[0] == 0)) + g.bonus[0];
        double y = g.s[1] / (g.n[1] + (g.n[1] == 0)) + g.bonus[1];
        int arm = y > x;
        if (__builtin_expect(x == y, 0)) arm = address(tie, g.n[1], 1) > address(tie, g.n[0], 0);
        if (arm) pull(&g, 1, t, T, mean, law); else pull(&g, 0, t, T, mean, law);
    }
    total[0] += g.n[0];
    total[1] += g.n[1];
    free(g.due);
}

/* K = 2, many runs: stage by stage in lanes. Rewards that come soon are counted in a ring of rounds, by round, arm and
   lane; later ones wait in a list for each turn of the ring */
typedef struct { int next, place; } Waiting;
static u64 world_key[LANES], ties[LANES];
static int64_t n0[LANES], n1[LANES];
static double s0[LANES], s1[LANES], bonus0[LANES], bonus1[LANES];
static uint8_t due[2 * (RING + 1)][LANES];
static int *first, unused, used;
static Waiting *waiting;

static void begin_turn(int turn) {
    for (int entry = first[turn], next; entry; entry = next) {
        next = waiting[entry].next;
        due[0][waiting[entry].place]++;
        waiting[entry].next = unused;
        unused = entry;
    }
    first[turn] = 0;
}
static void wait(int round, int arm, int lane) {
    int entry = unused;
    if (entry) unused = waiting[entry].next; else entry = ++used;
    waiting[entry].place = (2 * (round & (RING - 1)) + arm) * LANES + lane;
    waiting[entry].next = first[round >> RING_BITS];
    first[round >> RING_BITS] = entry;
}
static void step(int t, int T, const double *mean, const Law *law, const int64_t *lines) {
    uint8_t *due0 = due[2 * (t & (RING - 1))], *due1 = due0 + LANES;
    double x[LANES], y[LANES], late[LANES];
    int64_t arm[LANES], cell[LANES];
    int low[LANES], row[LANES];
    int tied = 0, beyond = 0, unsure = 0;
    for (int l = 0; l < LANES; l++) { s0[l] += due0[l]; s1[l] += due1[l]; }
    memset(due0, 0, 2 * LANES);
    for (int l = 0; l < LANES; l++) {
        x[l] = s0[l] / (double)(n0[l] + (n0[l] == 0)) + bonus0[l];
        y[l] = s1[l] / (double)(n1[l] + (n1[l] == 0)) + bonus1[l];
        arm[l] = y[l] > x[l];
        tied |= x[l] == y[l];
    }
    if (__builtin_expect(tied, 0))
        for (int l = 0; l < LANES; l++)
            if (x[l] == y[l]) arm[l] = address(ties[l], n1[l], 1) > address(ties[l], n0[l], 0);
    u64 round = (u64)t * 0xD1B54A32D192ED03ULL;
    double mean0 = mean[0], mean1 = mean[1];
    for (int l = 0; l < LANES; l++) {
        u64 bits = mix(world_key[l] + round + (arm[l] ? ARM_STEP : 0));
        late[l] = unit(mix(bits ^ DELAY_SALT));
        cell[l] = unit(bits) < (arm[l] ? mean1 : mean0) ? cell_of(late[l]) : NEVER;
        cell[l] += arm[l] ? NEVER + 1 : 0;
    }
    for (int l = 0; l < LANES; l++) {
        int64_t line = lines[cell[l]], place = place_of(line, late[l]);
        low[l] = place >> 32;
        unsure |= !is_sure(line, place);
    }
    if (__builtin_expect(unsure, 0))
        for (int l = 0; l < LANES; l++)
            if (cell[l] != NEVER + (arm[l] ? NEVER + 1 : 0)) low[l] = delay_of(&law[arm[l]], late[l]);
    int left = T - t, near = left < RING - 1 ? left : RING - 1;
    for (int l = 0; l < LANES; l++) {
        int delay = low[l] > 1 ? low[l] : 1;
        row[l] = (delay <= near ? 2 * ((t + delay) & (RING - 1)) : 2 * RING) + arm[l];
        beyond |= (delay >= RING) & (delay <= left);
    }
    for (int l = 0; l < LANES; l++) due[row[l]][l]++;
    if (beyond)
        for (int l = 0; l < LANES; l++)
            if (low[l] >= RING && low[l] <= left) wait(t + low[l], arm[l], l);
    for (int l = 0; l < LANES; l++) { n1[l] += arm[l]; n0[l] += 1 - arm[l]; }
    if (t < table_size) /* no arm has more pulls: without a branch */
        for (int l = 0; l < LANES; l++) x[l] = table[arm[l] ? n1[l] : n0[l]];
    else
        for (int l = 0; l < LANES; l++) x[l] = bonus(arm[l] ? n1[l] : n0[l]);
    for (int l = 0; l < LANES; l++) {
        bonus0[l] = arm[l] ? bonus0[l] : x[l];
        bonus1[l] = arm[l] ? x[l] : bonus1[l];
    }
}
static void side_by_side(u64 world, u64 policy, int run, int runs, int T, const double *mean, const Law *law,
                         long long *total) {
    memset(due, 0, sizeof due);
    unused = used = 0;
    for (int l = 0; l < LANES; l++) {
        world_key[l] = run_key(world, run + l);
        ties[l] = run_key(policy, run + l);
        n0[l] = n1[l] = 0;
        s0[l] = s1[l] = 0;
        bonus0[l] = bonus1[l] = INFINITY;
    }
    for (int t = 1; t <= T; t++) {
        if ((t & (RING - 1)) == 0) begin_turn(t >> RING_BITS);
        step(t, T, mean, law, law[0].lines);
    }
    for (int l = 0; l < LANES && run + l < runs; l++) { total[0] += n0[l]; total[1] += n1[l]; }
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
            int delay = delay_of(law[arm], unit(mix(bits ^ DELAY_SALT)));
            int64_t at = t + (int64_t)(delay > 1 ? delay : 1);
            if (at <= T) {
                arm_of[t] = arm; next_due[t] = due_at[at]; due_at[at] = t;
            }
        }
        indices[arm] = rewards[arm] / n + bonus(n);
        climb(arm);
    }
}

/* everything, tables included */
static void play(char **argv, int T, int runs, double alpha, u64 world, u64 policy, const double *mean,
                 long long *total) {
    const Law **law = malloc(K * sizeof(Law *));
    Law *laws = malloc(K * sizeof(Law));
    int *guides = malloc(K * (NEVER + 2) * sizeof(int));
    int64_t *lines = malloc(K * (NEVER + 1) * sizeof(int64_t)); /* those of both arms in a row, if K = 2 */
    int distinct = 0;
    for (int i = 0; i < K; i++) {
        double tail = atof(argv[7 + K + i]);
        int j = 0;
        while (K > 2 && j < distinct && laws[j].tail != tail) j++;
        if (K == 2) j = distinct;
        if (j == distinct) laws[distinct++] = law_of(tail, T, guides + j * (NEVER + 2), lines + j * (NEVER + 1));
        law[i] = &laws[j];
    }
    spread = 2.0 * (log(2.0 * K) + 3.0 * log(T));
    exponent = alpha < 0.5 ? alpha : 0.5;
    table_size = T + 1 < TABLE ? T + 1 : TABLE;
    table = malloc(table_size * sizeof(double));
    for (int n = 1; n < table_size; n++) table[n] = formula(n);
    if (K == 2 && runs == 1) {
        alone(run_key(world, 0), run_key(policy, 0), T, mean, laws, total);
    } else if (K == 2) {
        first = calloc((T >> RING_BITS) + 1, sizeof(int));
        waiting = malloc((T < RING ? 1 : (size_t)T * LANES + 1) * sizeof(Waiting));
        for (int run = 0; run < runs; run += LANES) side_by_side(world, policy, run, runs, T, mean, laws, total);
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

    double best = INFINITY;
    for (int turn = 0; turn < TURNS; turn++) {
        struct timespec begin, end;
        memset(total, 0, K * sizeof(long long));
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        play(argv, T, runs, alpha, world, policy, mean, total);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        double seconds = (end.tv_sec - begin.tv_sec) + 1e-9 * (end.tv_nsec - begin.tv_nsec);
        best = seconds < best ? seconds : best;
    }
    printf("%.9f\n", best);
    for (int i = 0; i < K; i++) printf("%lld\n", total[i]);
    return 0;
}
