/* Threads that stay, the loops above segments, and the timer. */
#define _GNU_SOURCE
#include "kernels.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_THREADS = 1024,
    SPINS = 20000,       /* before a thread without work sleeps */
    PATIENT_SPINS = 1024 /* before a waiting thread lets others run */
};

static struct {
    int threads, stopping;
    pthread_t thread[MOST_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    job run;
    void *work;
    int64_t generation __attribute__((aligned(64)));
    int64_t running __attribute__((aligned(64)));
    int64_t arrived __attribute__((aligned(64)));
    int64_t passed __attribute__((aligned(64)));
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static int64_t read_now(const int64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

static void pause_spinning(int spins) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    if (spins % PATIENT_SPINS == PATIENT_SPINS - 1) sched_yield();
}

static void barrier(void) {
    const int64_t round = read_now(&pool.passed);
    if (__atomic_add_fetch(&pool.arrived, 1, __ATOMIC_ACQ_REL) == pool.threads) {
        __atomic_store_n(&pool.arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&pool.passed, round + 1, __ATOMIC_RELEASE);
    } else {
        for (int spins = 0; read_now(&pool.passed) == round; spins++) pause_spinning(spins);
    }
}

static void *serve(void *argument) {
    const int thread = (int)(intptr_t)argument;
    for (int64_t seen = 0;; seen++) {
        for (int spins = 0; spins < SPINS && read_now(&pool.generation) == seen; spins++)
            pause_spinning(spins);
        if (read_now(&pool.generation) == seen) {
            pthread_mutex_lock(&pool.lock);
            while (pool.generation == seen) pthread_cond_wait(&pool.wake, &pool.lock);
            pthread_mutex_unlock(&pool.lock);
        }
        if (pool.stopping) return 0;
        pool.run(pool.work, thread, pool.threads);
        __atomic_sub_fetch(&pool.running, 1, __ATOMIC_ACQ_REL);
    }
}

static void announce(void) {
    pthread_mutex_lock(&pool.lock);
    __atomic_add_fetch(&pool.generation, 1, __ATOMIC_ACQ_REL);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
}

void run_job(job run, void *work) {
    pool.run = run;
    pool.work = work;
    __atomic_store_n(&pool.running, pool.threads - 1, __ATOMIC_RELEASE);
    announce();
    run(work, 0, pool.threads);
    for (int spins = 0; read_now(&pool.running); spins++) pause_spinning(spins);
}

/* Starts threads - 1 threads beside the caller's; processor[i] is where thread i stays, or
 * -1. Binds the caller too. Returns 0 or an error number. */
int pool_start(int threads, const int32_t *processor) {
    if (threads < 1 || threads > MOST_THREADS) return EINVAL;
    pool.threads = threads;
    pool.stopping = 0;
    pool.generation = pool.running = pool.arrived = 0;
    for (int i = 0; i < threads; i++) {
        if (i == 0)
            pool.thread[0] = pthread_self();
        else {
            const int error = pthread_create(&pool.thread[i], 0, serve, (void *)(intptr_t)i);
            if (error) return error;
        }
#if defined(__linux__)
        if (processor[i] >= 0) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(processor[i], &set);
            pthread_setaffinity_np(pool.thread[i], sizeof set, &set);
        }
#endif
    }
    return 0;
}

/* Ends the threads that pool_start made. The caller's own binding is the caller's to undo. */
void pool_stop(void) {
    pool.stopping = 1;
    announce();
    for (int i = 1; i < pool.threads; i++) pthread_join(pool.thread[i], 0);
    pool.threads = 0;
}

/* Real-time priority for all threads of the pool (0: back to normal). 0 or an error number. */
int pool_real_time(int priority) {
    const struct sched_param parameter = {.sched_priority = priority};
    for (int i = 0; i < pool.threads; i++) {
        const int policy = priority ? SCHED_FIFO : SCHED_OTHER;
        const int error = pthread_setschedparam(pool.thread[i], policy, &parameter);
        if (error) return error;
    }
    return 0;
}

static void run_segments(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    if (task->operation == SPMM)
        spmm_run(task, from, to, j, n);
    else
        sddmm_run(task, from, to, j, n);
}

static void run_slices(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    for (int64_t end = j + n; j < end; j += task->slice)
        run_segments(task, from, to, j, end - j < task->slice ? end - j : task->slice);
}

/* Units [from, to) on dense columns [j, j + n). */
static void run_units(const struct task *task, int64_t from, int64_t to, int64_t j, int64_t n) {
    const struct plan *plan = task->plan;
    if (plan->block_rows) {
        for (int64_t unit = from; unit < to; unit++) run_slices(task, unit, unit + 1, j, n);
        return;
    }
    const int32_t *tile = plan->unit_tile, *segment = plan->tile_segment;
    if (n <= task->slice || task->place == IN_ENTRY) {
        run_segments(task, segment[tile[from]], segment[tile[to]], j, n);
    } else if (task->place == IN_UNIT) {
        for (int64_t u = from; u < to; u++)
            run_slices(task, segment[tile[u]], segment[tile[u + 1]], j, n);
    } else if (task->place == IN_TILE) {
        for (int64_t t = tile[from]; t < tile[to]; t++)
            run_slices(task, segment[t], segment[t + 1], j, n);
    } else {
        for (int64_t s = segment[tile[from]]; s < segment[tile[to]]; s++)
            run_slices(task, s, s + 1, j, n);
    }
}

static int64_t counters[2];

static void clear_share(const struct task *task, int thread, int threads) {
    const int64_t from = task->rows * thread / threads, to = task->rows * (thread + 1) / threads;
    memset(task->result + from * task->stride, 0, (size_t)((to - from) * task->stride) * 4);
}

/* What one thread does of a task. */
static void run_share(void *work, int thread, int threads) {
    const struct task *task = work;
    const struct plan *plan = task->plan;
    const int64_t step = task->place == OUTERMOST ? task->slice : task->width;
    int round = 0;
    if (task->accumulate) {
        clear_share(task, thread, threads);
        barrier();
    }
    for (int64_t j = 0; j < task->width; j += step) {
        const int64_t n = task->width - j < step ? task->width - j : step;
        for (int64_t phase = 0; phase < plan->phases; phase++, round++) {
            const int64_t first = plan->phase_unit[phase], last = plan->phase_unit[phase + 1];
            if (round) barrier();
            if (!task->chunk) {
                const int64_t from = first + (last - first) * thread / threads;
                const int64_t to = first + (last - first) * (thread + 1) / threads;
                if (from < to) run_units(task, from, to, j, n);
                continue;
            }
            /* Two counters take turns: the idle one is cleared while the other is in use. */
            if (thread == 0) __atomic_store_n(&counters[(round + 1) % 2], 0, __ATOMIC_RELAXED);
            for (;;) {
                const int64_t from = first + __atomic_fetch_add(&counters[round % 2], task->chunk,
                                                                __ATOMIC_RELAXED);
                if (from >= last) break;
                run_units(task, from, from + task->chunk < last ? from + task->chunk : last, j, n);
            }
        }
    }
    if (task->stream) stream_end();
}

static double read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double now(void) { return read_clock(CLOCK_MONOTONIC); }

static void run_task(const struct task *task) {
    counters[0] = 0;
    run_job(run_share, (void *)task);
}

/* Seconds that the threads of the pool have spent on a processor, all together. */
static double processor_seconds(void) {
    double total = 0;
    for (int i = 0; i < pool.threads; i++) {
        clockid_t clock;
        if (pthread_getcpuclockid(pool.thread[i], &clock) == 0) total += read_clock(clock);
    }
    return total;
}

/* Runs a task at least `runs` times and `seconds` long. Returns the fastest run's seconds;
 * *lost is the time that threads of the pool were kept from running, as seconds a run. */
double measure(const struct task *task, int runs, double seconds, double *lost) {
    double best = 1e300;
    const double processor = processor_seconds(), start = now();
    double end = start;
    int done = 0;
    for (; done < runs || end - start < seconds; done++) {
        const double begin = now();
        run_task(task);
        end = now();
        if (end - begin < best) best = end - begin;
    }
    *lost = ((end - start) * pool.threads - (processor_seconds() - processor)) / done;
    return best;
}

static void probe_share(void *work, int thread, int threads) {
    uint64_t x = *(const uint64_t *)work;
    (void)thread, (void)threads;
    for (int i = 0; i < 300000; i++) {
        x = x * 6364136223846793005u + 1; /* dependent operations: the clock, nothing else */
        KEEP(x);
    }
}

/* Seconds of a fixed chain of arithmetic on every thread: grows when the machine slows down. */
double probe(void) {
    uint64_t start = 1;
    const double begin = now();
    run_job(probe_share, &start);
    return now() - begin;
}
