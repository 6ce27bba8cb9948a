// Tasks that end when requests of MPI are complete: without an argument, messages between all ranks with their
// statuses, late and early, small and by rendezvous; with one, a wrong use.
#include <mpi.h>
#include <task_mpi.h>
#include <task.hpp>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "programs.h"

using hiroba::in, hiroba::inout, hiroba::out;

namespace {

constexpr int most = 40000, rounds = 40;  // ints of a message

struct Message {
  std::vector<int> data = std::vector<int>(most);
  MPI_Status status;
};

int words(int from, int to, int round) { return round % 5 == 0 ? most : 1 + (from * 31 + to * 17 + round * 7) % 900; }
int word(int from, int to, int round, int i) { return from * 1000003 + to * 1009 + round * 101 + i; }

void send(Message& m, int to, int round) {
  const int count = words(sms_rank, to, round);
  for (int i = 0; i < count; ++i) m.data[static_cast<size_t>(i)] = word(sms_rank, to, round, i);
  if ((round + to) % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  MPI_Request request;
  MPI_Isend(m.data.data(), count, MPI_INT, to, round, MPI_COMM_WORLD, &request);
  if (TAMPI_Iwait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS) fail("task_mpi: TAMPI_Iwait");
  if (request != MPI_REQUEST_NULL) fail("task_mpi: a request that is given is not null");
}

void check(const Message& m, int from, int round) {
  const int count = words(from, sms_rank, round);
  int got = -1;
  MPI_Get_count(&m.status, MPI_INT, &got);
  if (m.status.MPI_SOURCE != from || m.status.MPI_TAG != round || got != count)
    fail("task_mpi: rank %d, round %d: %d words of %d with tag %d, not %d of %d", sms_rank, round, got,
         m.status.MPI_SOURCE, m.status.MPI_TAG, count, from);
  for (int i = 0; i < count; ++i)
    if (m.data[static_cast<size_t>(i)] != word(from, sms_rank, round, i))
      fail("task_mpi: rank %d, round %d, of %d: word %d is wrong", sms_rank, round, from, i);
}

// Each rank to each other one and itself, a task for each message; and then in one task with all that it receives.
void exchange() {
  const auto n = static_cast<size_t>(sms_nprocs);
  std::vector<Message> sent(n), one(n), all(n);
  std::vector<MPI_Status> statuses(n + 2);
  int checked = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int r = 0; r < sms_nprocs; ++r) {
      Message &s = sent[static_cast<size_t>(r)], &o = one[static_cast<size_t>(r)];
      hiroba::task(inout(s), [&s, r, round] { send(s, r, 2 * round); });
      hiroba::task(out(o), [&o, r, round] {
        MPI_Request request;
        MPI_Irecv(o.data.data(), most, MPI_INT, r, 2 * round, MPI_COMM_WORLD, &request);
        hiroba_mpi_iwait(&request, &o.status);
      });
      hiroba::task(inout(o), inout(checked), [&, r, round] { check(o, r, 2 * round), ++checked; });
      hiroba::task(inout(s), [&s, r, round] { send(s, r, 2 * round + 1); });
    }
    hiroba::task(out(all), out(statuses), [&, n, round] {
      std::vector<MPI_Request> requests(n + 2, MPI_REQUEST_NULL);  // the first and the last one stay null
      for (size_t r = 0; r < n; ++r)
        MPI_Irecv(all[r].data.data(), most, MPI_INT, static_cast<int>(r), 2 * round + 1, MPI_COMM_WORLD,
                  &requests[r + 1]);
      TAMPI_Iwaitall(static_cast<int>(n) + 2, requests.data(), statuses.data());
    });
    hiroba::task(inout(all), in(statuses), inout(checked), [&, n, round] {
      for (size_t r = 0; r < n; ++r, ++checked)
        all[r].status = statuses[r + 1], check(all[r], static_cast<int>(r), 2 * round + 1);
      if (statuses[0].MPI_SOURCE != MPI_ANY_SOURCE || statuses[n + 1].MPI_SOURCE != MPI_ANY_SOURCE)
        fail("task_mpi: the status of no request is not empty");
    });
  }
  hiroba::taskwait();
  if (checked != 2 * rounds * sms_nprocs) fail("task_mpi: %d messages checked", checked);
}

// Messages of a task that its children send and receive: the parent ends after them.
void children() {
  int got = 0, sum = 0;
  const int right = (sms_rank + 1) % sms_nprocs, left = (sms_rank + sms_nprocs - 1) % sms_nprocs;
  hiroba::task(out(got), [&] {
    hiroba::task(out(got), [&] {
      MPI_Request request;
      MPI_Irecv(&got, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &request);
      hiroba_mpi_iwait(&request, MPI_STATUS_IGNORE);
    });
    hiroba::task([&] {
      MPI_Request request;
      MPI_Isend(&sms_rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &request);
      hiroba_mpi_iwait(&request, MPI_STATUS_IGNORE);
    });
  });
  hiroba::task(in(got), inout(sum), [&] { sum = got; });
  hiroba::taskwait();
  if (sum != left) fail("task_mpi: rank %d has got %d", sms_rank, sum);
}

// ---- wrong uses ----------------------------------------------------------------------------------------------------

void wait_in_task(int count = 1) {
  int x = 0;
  hiroba::task(out(x), [&x, count] {
    MPI_Request request = MPI_REQUEST_NULL;
    if (count == 1) MPI_Irecv(&x, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &request);
    hiroba_mpi_iwaitall(count, &request, MPI_STATUSES_IGNORE);
  });
  hiroba::taskwait();
}

void outside() {
  int x = 0;
  MPI_Request request;
  MPI_Irecv(&x, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &request);
  hiroba_mpi_iwait(&request, MPI_STATUS_IGNORE);
}

void uninitialised() {
  hiroba::task([] {
    MPI_Request request = MPI_REQUEST_NULL;
    hiroba_mpi_iwait(&request, MPI_STATUS_IGNORE);
  });
  hiroba::taskwait();
}

void truncated() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<int> large(100);
  int x = 0;
  hiroba::task(out(x), [&x] {
    MPI_Request request;
    MPI_Irecv(&x, 1, MPI_INT, 0, 97, MPI_COMM_WORLD, &request);
    hiroba_mpi_iwait(&request, MPI_STATUS_IGNORE);
  });
  hiroba::task([&] { MPI_Send(large.data(), 100, MPI_INT, 0, 97, MPI_COMM_WORLD); });
  hiroba::taskwait();
}

const struct {
  const char* name;
  int level;  // for MPI_Init_thread; -1: MPI is not initialised
  void (*run)();
} cases[] = {{"outside", MPI_THREAD_MULTIPLE, outside},
             {"uninitialised", -1, uninitialised},
             {"funneled", MPI_THREAD_FUNNELED, [] { wait_in_task(); }},
             {"negative", MPI_THREAD_MULTIPLE, [] { wait_in_task(-1); }},
             {"truncated", MPI_THREAD_MULTIPLE, truncated},
             {"never", MPI_THREAD_MULTIPLE, [] { wait_in_task(); }},
             {"exchange", MPI_THREAD_MULTIPLE, [] { exchange(), children(); }},
             {"alone", MPI_THREAD_FUNNELED, [] { exchange(), children(); }}};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& c : cases) {
    if (argc < 2 || std::strcmp(c.name, argv[1]) != 0) continue;
    int provided;
    if (c.level >= 0) MPI_Init_thread(&argc, &argv, c.level, &provided);
    sms_startup(&argc, &argv);
    c.run();
    if (sms_rank == 0) std::printf("done\n");
    sms_shutdown();
    if (c.level >= 0) MPI_Finalize();
    return 0;
  }
  return 2;
}
