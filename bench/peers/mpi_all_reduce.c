/* MPI_Allreduce of float32, as an MPI program would call it.
 *
 *   mpirun -n 2 mpi_all_reduce SIZES SECONDS
 *
 * SIZES are bytes, separated by commas. Prints one JSON object per size in the format that
 * `trireme bench` reads. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBatchMax = 20000, kCallsMax = 1 << 22 };
static const double kBatchSeconds = 0.05;

static int rank, ranks;

static void reduce(float* x, int count) {
  MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static float value(int i, int of_rank) { return (float)(i % 1021 * (of_rank + 1) % 13); }

/* Checks one call on small integers, whose sums are exact in any order. */
static int is_right(float* x, int count) {
  for (int i = 0; i < count; ++i) x[i] = value(i, rank);
  reduce(x, count);
  int right = 1;
  for (int i = 0; i < count; ++i) {
    float sum = 0;
    for (int r = 0; r < ranks; ++r) sum += value(i, r);
    if (x[i] != sum) right = 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  memset(x, 0, (size_t)count * sizeof(float));
  return right;
}

static double time_calls(float* x, int count, int calls, double* times) {
  const double begin = MPI_Wtime();
  double before = begin;
  for (int i = 0; i < calls; ++i) {
    reduce(x, count);
    const double after = MPI_Wtime();
    times[i] = after - before;
    before = after;
  }
  return before - begin;
}

/* Fills `times` and returns their number, which rank 0 decides, because all ranks have to make the
 * same number of calls. */
static int measure(float* x, int count, double seconds, double* times) {
  reduce(x, count);
  const double each = time_calls(x, count, 3, times) / 3;
  const double fitting = kBatchSeconds / (each > 1e-9 ? each : 1e-9);
  int batch = fitting < 1 ? 1 : fitting > kBatchMax ? kBatchMax : (int)fitting;
  MPI_Bcast(&batch, 1, MPI_INT, 0, MPI_COMM_WORLD);
  int calls = 0;
  double spent = 0;
  for (int goes_on = 1; goes_on;) {
    MPI_Barrier(MPI_COMM_WORLD);
    spent += time_calls(x, count, batch, times + calls);
    calls += batch;
    goes_on = spent < seconds && calls + batch <= kCallsMax;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return calls;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double slowest(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

static void run(int size, double seconds) {
  const int count = size / (int)sizeof(float);
  float* x = calloc((size_t)count + 1, sizeof(float));
  double* times = malloc(kCallsMax * sizeof(double));
  if (x == NULL || times == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  int right = is_right(x, count);
  const int calls = measure(x, count, seconds, times);
  right &= is_right(x, count);
  qsort(times, (size_t)calls, sizeof(double), compare);
  const double each = slowest(times[(calls - 1) / 2]);
  const double p99 = slowest(times[(int)((calls - 1) * 0.99)]);
  if (rank == 0) {
    printf("{\"op\":\"all_reduce\",\"backend\":\"openmpi\",\"ranks\":%d,\"bytes\":%d,"
           "\"symmetric\":false,\"seconds\":%.9g,\"bytes_per_second\":%.9g,\"verified\":%s,"
           "\"type\":\"float32\",\"p99\":%.9g}\n",
           ranks, size, each, size / each, right ? "true" : "false", p99);
    fflush(stdout);
  }
  free(times);
  free(x);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) {
    if (rank == 0) fprintf(stderr, "usage: mpi_all_reduce SIZES SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (char* size = strtok(argv[1], ","); size != NULL; size = strtok(NULL, ",")) {
    run(atoi(size), atof(argv[2]));
  }
  MPI_Finalize();
  return 0;
}
