// `hiroba top` on boards, memory files and records that somebody has forged: each is refused in one line, or shown with
// nothing that controls a terminal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "launcher/top/running_job.hpp"
#include "launcher/top/view.hpp"
#include "memory/layout.hpp"
#include "mutations.hpp"

namespace hiroba {
namespace {

constexpr uint64_t space = uint64_t{1} << 30;

// The files of a job that this process holds open, as a rank does; what is wrong with them comes from a seed.
class Forged {
 public:
  explicit Forged(unsigned seed) : random_(seed) {
    job_.nranks = number(1, 3), job_.nnodes = number(1, job_.nranks);
    if (!Job::create(job_.nranks, job_.nnodes, job_).ok()) std::abort();
    make_ranks();
    for (int left = number(0, 3); left > 0; --left) damage();
  }
  Forged(const Forged&) = delete;
  ~Forged() {
    close(job_.board_fd);
    for (const int fd : job_.node_fds) close(fd);
  }

 private:
  int number(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  uint64_t bits() { return std::uniform_int_distribution<uint64_t>()(random_); }
  // Values that a count may have by mistake, or on purpose.
  int32_t odd() {
    constexpr int32_t some[] = {0, -1, 1, 2, 3, 4, 1 << 16, (1 << 16) + 1, 1 << 30, INT32_MAX, INT32_MIN};
    return number(0, 3) == 0 ? static_cast<int32_t>(bits()) : some[number(0, std::size(some) - 1)];
  }
  void put(int fd, uint64_t at, const void* data, size_t bytes) {
    if (pwrite(fd, data, bytes, static_cast<off_t>(at)) < 0) return;
  }
  void make_ranks() {
    Board* board = nullptr;
    if (!map_board(job_, board).ok()) std::abort();
    for (int r = 0; r < job_.nranks; ++r) board->rank(r).pid = getpid(), board->rank(r).start("sms_shutdown");
    munmap(board, Board::bytes(job_.nranks));
    Layout layout;
    layout.space = used_space(space), layout.nranks = job_.nranks, layout.nnodes = job_.nnodes;
    for (int r = 0; r < job_.nranks; ++r) {
      const int fd = job_.node_fds[static_cast<size_t>(job_.node_of(r))];
      const uint64_t at = layout.run_record(r);
      if (!size_file(fd, at + sizeof(RunRecord), "a test").ok()) std::abort();
      put(fd, at, &RunRecord::magic_value, sizeof RunRecord::magic_value);
      record_at_ = at;
    }
  }
  void replace(int& fd, const char* name, size_t bytes, unsigned flags) {
    close(fd);
    fd = memfd_create(name, flags);
    if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) std::abort();
    put(fd, 0, &Board::magic_value, sizeof Board::magic_value);
  }
  void damage() {
    const uint64_t rank = 4096 + sizeof(RankBoard) * static_cast<uint64_t>(number(0, job_.nranks - 1));
    const int32_t value = odd();
    std::string text(512, '\0');
    for (char& c : text) c = static_cast<char>(number(0, 1) == 0 ? bits() : "\033]0;x\007\233\r\n"[number(0, 8)]);
    switch (number(0, 9)) {
      case 0: return put(job_.board_fd, 8, &value, sizeof value);   // ranks
      case 1: return put(job_.board_fd, 12, &value, sizeof value);  // nodes
      case 2: return put(job_.board_fd, 0, text.data(), 16);        // all of the head
      case 3: return put(job_.board_fd, rank, text.data(), sizeof(RankBoard));
      case 4: return put(job_.board_fd, rank + 4, &value, sizeof value);  // the process
      case 5: return put(job_.board_fd, 4096, text.data(), static_cast<size_t>(number(0, 500)));
      case 6: return replace(job_.board_fd, "hiroba-board", static_cast<size_t>(number(0, 3)) * 4096, 0);
      case 7: return replace(job_.node_fds[0], "hiroba-node", bits() >> number(20, 60), 0);
      case 8: return put(job_.node_fds[0], record_at_ + 8 * static_cast<uint64_t>(number(0, 100000)), text.data(), 400);
      default: return replace(job_.board_fd, "hiroba-node", 4096, MFD_ALLOW_SEALING);
    }
  }

  std::mt19937 random_;
  Job job_;
  uint64_t record_at_ = 0;
};

bool is_printable(const std::string& line) { return printable(line) == line; }

TEST(Top, ForgedBoardsAreRefusedOrShown) {
  setenv("HIROBA_SPACE", std::to_string(space).c_str(), 1);
  int shown = 0, refused = 0;
  const int wanted = mutations(300);
  for (int i = 0; i < wanted; ++i) {
    const Forged files(static_cast<unsigned>(i));
    RunningJob job;
    const Status found = RunningJob::find(std::to_string(getpid()), job);
    EXPECT_TRUE(is_printable(found.message())) << i;
    if (!found.ok()) {
      ++refused;
      continue;
    }
    ++shown;
    JobView view(job);
    view.sample();
    for (const std::string& line : view.picture(100)) EXPECT_TRUE(is_printable(line)) << i << ": " << line;
  }
  unsetenv("HIROBA_SPACE");
  EXPECT_GT(shown, wanted / 10);
  EXPECT_GT(refused, wanted / 10);
}

TEST(Top, OtherUsersProcessesAreNotLookedAt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const pid_t parent = getppid();
  if (seteuid(65534) != 0) GTEST_SKIP() << "this root cannot";
  RunningJob job;
  const Status found = RunningJob::find(std::to_string(parent), job);
  EXPECT_EQ(seteuid(0), 0);
  EXPECT_NE(found.message().find("of another user"), std::string::npos) << found.message();
}

}  // namespace
}  // namespace hiroba
