// A rank that does what it is told, without the library: sets its phase on the job's board, waits, dies.
//
//   phases RANK:STEP,STEP,... ... *:STEP,...      the first word that names this rank, or *, applies
//
// Steps: start finish abort  where=TEXT  all-started (waits until each rank is)  sleep=MS  exit=N  kill=SIGNAL
//        print=TEXT  ignore=SIGNAL  child (forks one that sleeps)
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/job.hpp"

using namespace hiroba;

static void wait_until_all_started(const Job& job, Board& board) {
  for (int r = 0; r < job.nranks; ++r)
    while (board.rank(r).phase == Phase::launched) usleep(1000);
}

static bool perform(const std::string& step, const Job& job, Board& board) {
  RankBoard& mine = board.rank(job.rank);
  const size_t equals = step.find('=');
  const std::string name = step.substr(0, equals), value = equals == std::string::npos ? "" : step.substr(equals + 1);
  const int number = std::atoi(value.c_str());
  if (name == "start") mine.start("sms_shutdown");
  else if (name == "finish") mine.phase = Phase::finished;
  else if (name == "abort") board.aborting = Board::reported | static_cast<uint32_t>(number);
  else if (name == "where") std::strncpy(mine.where, value.c_str(), sizeof mine.where - 1), mine.waiting = 1;
  else if (name == "all-started") wait_until_all_started(job, board);
  else if (name == "sleep") usleep(static_cast<useconds_t>(number) * 1000);
  else if (name == "exit") std::exit(number);
  else if (name == "kill") raise(number);
  else if (name == "print") std::printf("%s\n", value.c_str()), std::fflush(stdout);
  else if (name == "ignore") std::signal(number, SIG_IGN);
  else if (name == "child") {
    if (fork() == 0)
      for (;;) pause();
  } else return false;
  return true;
}

int main(int argc, char** argv) {
  Job job;
  Board* board = nullptr;
  const Status read = Job::from_environment(job);
  const Status mapped = read.ok() ? map_board(job, board) : read;
  if (!mapped.ok()) return std::fprintf(stderr, "phases: %s\n", mapped.message().c_str()), 99;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t colon = word.find(':');
    const std::string whose = word.substr(0, colon);
    if (whose != "*" && whose != std::to_string(job.rank)) continue;
    for (size_t at = colon + 1; at < word.size();) {
      const size_t end = std::min(word.find(',', at), word.size());
      if (!perform(word.substr(at, end - at), job, *board))
        return std::fprintf(stderr, "phases: bad step in '%s'\n", argv[i]), 98;
      at = end + 1;
    }
    return 0;
  }
  return 0;
}
