/* The command line: getopt_long, and lists between commas. */
#include "options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bad_usage = 2 };

const char* const schedule_names[SCHEDULES] = {"static", "dynamic"};
const char* const collective_names[COLLECTIVES] = {"alltoall", "allreduce", "bcast",          "reduce", "allgather",
                                                   "gather",   "scatter",   "reduce_scatter", "scan",   "barrier"};
/* ---- the command line -------------------------------------------------------------------------------------------- */

static const char help[] =
    "usage: overlap [OPTION ...] [COLLECTIVE:M:N ...]\n"
    "Measures whether it pays to start a collective, compute, and wait for it. For every configuration, rank 0 prints "
    "a\n"
    "line of JSON; times are in seconds:\n"
    "  comm, nbcomm  the collective alone: blocking; started and waited for at once\n"
    "  comp          the computation alone\n"
    "  block, ovlp   collective, then computation; collective started, computation, wait (ovlp_start, _comp, _wait)\n"
    "If ovlp is less than block, overlap pays: min(comm, comp) is what can be hidden, block - ovlp is what was.\n\n"
    "  -M LIST             doubles that a rank has for each destination (default: 8192)\n"
    "  -N LIST             size of the matrices: N/ranks rows of an N x N product per rank (default: 256)\n"
    "  --collectives LIST  of alltoall, allreduce, bcast, reduce, allgather, gather, scatter, reduce_scatter, scan,\n"
    "                      barrier; or all (default: alltoall,allreduce)\n"
    "  COLLECTIVE:M:N      exactly these configurations, in the place of all combinations\n"
    "  --schedule LIST     of the threads' loop: static, dynamic (default: both)\n"
    "  --placement WHICH   full: all CPUs compute; spare: each rank leaves one of its CPUs to progress threads. With\n"
    "                      fewer than two CPUs per rank, all ranks leave one together (default: full)\n"
    "  --unbound           threads are not bound to CPUs\n"
    "  --region            the library makes progress only while the rank computes (hiroba_progress_start, _stop)\n"
    "  --repetitions R     how often each is timed (default: 20)\n"
    "  --warm-up W         how often it is done before (default: 3)\n"
    "  --test-calls K      calls of MPI_Test, with the computation in K + 1 parts (default: 0)\n"
    "  --additions A       compute A additions of vectors with one thread, not a product of matrices\n"
    "  --matrices FILE     rank 0 writes there what it has multiplied (see check_dgemm.py)\n"
    "  --help              print this\n\n"
    "Start it with binding of ranks switched off (mpirun --bind-to none): it binds its threads itself.\n"
    "Example: -M 131072 -N 512,1024 --collectives alltoall --placement spare\n";

static void complain(const library* of, const char* what, const char* word) {
  if (of->rank == 0) fprintf(stderr, "overlap: %s: %s (see --help)\n", what, word);
}

/* The index of a word, `length` long, in a list of names; -1 if it is none of them. */
static int find(const char* const* names, int count, const char* word, size_t length) {
  for (int i = 0; i < count; ++i) {
    if (strlen(names[i]) == length && strncmp(names[i], word, length) == 0) return i;
  }
  return -1;
}

/* Numbers between commas; returns how many, 0 if there is anything else. */
static int read_numbers(const char* text, int least, int* values, int most) {
  int count = 0;
  for (char* end; count < most; text = end + 1) {
    const long value = strtol(text, &end, 10);
    if (end == text || value < least || value > INT32_MAX || (*end != ',' && *end != '\0')) return 0;
    values[count++] = (int)value;
    if (*end == '\0') return count;
  }
  return 0;
}

/* Sets `chosen` for each name between commas; returns whether all are known. */
static int read_names(const char* text, const char* const* names, int count, int* chosen) {
  const int all = strcmp(text, "all") == 0;
  for (int i = 0; i < count; ++i) chosen[i] = all;
  for (size_t length; !all; text += length + 1) {
    length = strcspn(text, ",");
    const int which = find(names, count, text, length);
    if (which < 0) return 0;
    chosen[which] = 1;
    if (text[length] == '\0') break;
  }
  return 1;
}

static int read_point(const char* word, point* p) {
  const size_t length = strcspn(word, ":");
  const int kind = find(collective_names, COLLECTIVES, word, length);
  char rest = 0;
  if (kind < 0 || sscanf(word + length, ":%d:%d%c", &p->m, &p->n, &rest) != 2) return 0;
  p->kind = (enum collective)kind;
  return p->m >= 0 && p->n > 0;
}

/* All combinations, which the options name, or the points that stand in the command line. */
static int collect_points(options* o, const int* kinds, const int* ms, int m_count, const int* ns, int n_count) {
  for (int kind = 0; kind < COLLECTIVES; ++kind) {
    for (int m = 0; kinds[kind] && m < (kind == BARRIER ? 1 : m_count); ++m) {
      for (int n = 0; n < n_count; ++n) {
        if (o->count == most_points) return 0;
        o->points[o->count++] = (point){(enum collective)kind, ms[m], ns[n]};
      }
    }
  }
  return 1;
}

static const struct option long_options[] = {{"collectives", required_argument, NULL, 'c'},
                                             {"schedule", required_argument, NULL, 's'},
                                             {"region", no_argument, NULL, 'g'},
                                             {"placement", required_argument, NULL, 'p'},
                                             {"unbound", no_argument, NULL, 'u'},
                                             {"repetitions", required_argument, NULL, 'r'},
                                             {"warm-up", required_argument, NULL, 'w'},
                                             {"test-calls", required_argument, NULL, 't'},
                                             {"additions", required_argument, NULL, 'a'},
                                             {"matrices", required_argument, NULL, 'm'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

int read_options(int argc, char** argv, const library* of, options* o) {
  enum { most_values = 64 };
  int ms[most_values] = {8192}, ns[most_values] = {256}, m_count = 1, n_count = 1, good = 1;
  int kinds[COLLECTIVES] = {[ALLTOALL] = 1, [ALLREDUCE] = 1};
  *o = (options){.schedules = {1, 1}, .repetitions = 20, .warm_up = 3, .bound = 1};
  opterr = of->rank == 0;
  for (int c; good && (c = getopt_long(argc, argv, "M:N:h", long_options, NULL)) != -1;) {
    switch (c) {
      case 'M': good = m_count = read_numbers(optarg, 0, ms, most_values); break;
      case 'N': good = n_count = read_numbers(optarg, 1, ns, most_values); break;
      case 'c': good = read_names(optarg, collective_names, COLLECTIVES, kinds); break;
      case 's': good = read_names(optarg, schedule_names, SCHEDULES, o->schedules); break;
      case 'p': good = (o->spare = strcmp(optarg, "spare") == 0) || strcmp(optarg, "full") == 0; break;
      case 'u': o->bound = 0; break;
      case 'g': o->region = 1; break;
      case 'r': good = read_numbers(optarg, 1, &o->repetitions, 1); break;
      case 'w': good = read_numbers(optarg, 0, &o->warm_up, 1); break;
      case 't': good = read_numbers(optarg, 0, &o->test_calls, 1); break;
      case 'a': good = read_numbers(optarg, 1, &o->additions, 1); break;
      case 'm': o->matrices = optarg; break;
      case 'h': (void)(of->rank == 0 && fputs(help, stdout)); return -1;
      default: return bad_usage;
    }
    if (!good) complain(of, "wrong value of an option", optarg);
  }
  if (good && o->region && of->region == NULL) {
    complain(of, "this library has no calls that say where progress is wanted", "--region");
    good = 0;
  }
  for (; good && optind < argc; ++optind) {
    good = o->count < most_points && read_point(argv[optind], &o->points[o->count]);
    if (good) ++o->count;
    else complain(of, "neither an option nor COLLECTIVE:M:N, or too many", argv[optind]);
  }
  if (good && o->count == 0 && !(good = collect_points(o, kinds, ms, m_count, ns, n_count))) {
    complain(of, "more than 256 combinations", "-M, -N, --collectives");
  }
  for (int i = 0; good && i < o->count; ++i) {
    good = o->additions > 0 || o->points[i].n >= of->ranks;
    if (!good)
      complain(of, "N is less than the number of ranks, so some would have no rows",
               collective_names[o->points[i].kind]);
  }
  return good ? 0 : bad_usage;
}
