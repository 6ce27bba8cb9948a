// Forwards the ranks' output to the launcher's stdout and stderr, in whole lines, so that lines of ranks never mix.
//
// A line without an end is kept in memory until its end arrives, its rank closes the pipe, or it grows beyond
// longest_line; on a terminal it is kept a tenth of a second at most, so that prompts and progress appear. Output of
// another rank after an unfinished line begins on a new line.
//
// If the reader of an output is slow, at most full_queue bytes are queued here, then the ranks' pipes fill, then the
// ranks block; the launcher itself never blocks in a write. Owns the pipes. One thread; only wait() blocks.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "launcher/ranks.hpp"

namespace hiroba {

class Forwarder {
 public:
  static constexpr size_t longest_line = size_t{1} << 20;
  static constexpr size_t full_queue = size_t{1} << 18;

  // With `tag`, each line begins with "[rank] ".
  Forwarder(const std::vector<Rank>& ranks, bool tag);
  ~Forwarder();

  // Moves all available output, after waiting at most `milliseconds` for some or for `other_fd` to become readable.
  // Returns true if it is.
  bool wait(int other_fd, int milliseconds);

  // Reads the pipes of a rank that has ended, so that its output precedes messages about it.
  void drain(int rank);

  // Reads all output of every rank, unfinished lines too, and closes the pipes.
  void drain_all();

  // Prints a line of the launcher's own, on stderr.
  void message(const std::string& text);

  bool flushed() const { return out_.queue.empty() && err_.queue.empty(); }

  // Set when an output can accept no more: its reader has closed it (`reader_left`), or it failed.
  bool reader_left() const { return reader_left_; }
  const Status& failure() const { return failure_; }

 private:
  struct Stream;
  struct Output {
    int fd;
    bool is_terminal;
    std::string queue;
    const Stream* unfinished = nullptr;  // the stream whose line ends the queue without a newline
    bool broken = false;
  };
  struct Stream {
    int rank, fd;
    Output* to;
    std::string held;                             // not forwarded yet
    std::chrono::steady_clock::time_point since;  // when `held` became non-empty
  };

  void add(int rank, int fd, Output& to);
  void take_in(Stream& stream, size_t limit);
  void close_stream(Stream& stream);
  void forward(Stream& stream, size_t bytes);
  void forward_lines(Stream& stream);
  void forward_stalled();
  void finish_line(Output& to);
  void write_some(Output& to);

  bool tag_;
  Output out_, err_;
  std::vector<std::unique_ptr<Stream>> streams_;
  bool reader_left_ = false;
  Status failure_;
};

}  // namespace hiroba
