#include "launcher/top/top.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/wait.hpp"
#include "launcher/top/view.hpp"

namespace hiroba {

namespace {

volatile std::sig_atomic_t stopped = 0;

// Takes keys at once, and gives the terminal back as it was. Nothing if output or input is no terminal.
class Terminal {
 public:
  Terminal() : shows_(isatty(STDOUT_FILENO) != 0), reads_(tcgetattr(STDIN_FILENO, &before_) == 0) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, [](int) { stopped = 1; });
    if (shows_) std::fputs("\033[?1049h\033[?25l", stdout);
    if (!reads_) return;
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  Terminal(const Terminal&) = delete;
  ~Terminal() {
    if (reads_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    if (shows_) std::fputs("\033[?25h\033[?1049l", stdout);
  }

  // Returns false if it cannot be written.
  bool show(const std::vector<std::string>& lines) const {
    winsize size = {};
    const bool known = shows_ && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    if (shows_) std::fputs("\033[H", stdout);
    for (const std::string& line : lines)
      std::printf("%s%s\n", known ? line.substr(0, size.ws_col).c_str() : line.c_str(), shows_ ? "\033[K" : "");
    std::fputs(shows_ ? "\033[Jq ends this." : "\n", stdout);
    return std::fflush(stdout) == 0;
  }
  int rows() const {
    winsize size = {};
    return shows_ && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 1 << 20;
  }
  // Waits; returns false if the user has ended it.
  bool wait(double seconds) const {
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    poll(&input, reads_ ? 1 : 0, static_cast<int>(seconds * 1e3));
    char key = 0;
    if (reads_ && (input.revents & POLLIN) != 0 && read(STDIN_FILENO, &key, 1) == 1 && (key == 'q' || key == 'Q'))
      stopped = 1;
    return stopped == 0;
  }

 private:
  termios before_ = {};
  bool shows_, reads_;
};

}  // namespace

int top(const TopWish& wish) {
  RunningJob job;
  const Status found = RunningJob::find(wish.job, job);
  if (!found.ok()) {
    std::fprintf(stderr, "hiroba: %s\n", found.message().c_str());
    return 1;
  }
  constexpr double between_samples = 0.02;
  const Terminal terminal;
  JobView view(job);
  for (int shown = 0; job.runs() && (wish.pictures == 0 || shown < wish.pictures); ++shown) {
    for (const double begin = seconds_now(); seconds_now() - begin < wish.every;) {
      view.sample();
      if (!terminal.wait(between_samples)) return 0;
    }
    if (!terminal.show(view.picture(terminal.rows()))) {
      std::fprintf(stderr, "hiroba: cannot write the picture of the job (%s)\n", explain_error(errno).c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace hiroba
