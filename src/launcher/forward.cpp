#include "launcher/forward.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/limits.hpp"

namespace hiroba {

namespace {
using Clock = std::chrono::steady_clock;
constexpr int stall_milliseconds = 100;
constexpr size_t one_read = 65536;
}  // namespace

Forwarder::Forwarder(const std::vector<Rank>& ranks, bool tag)
    : tag_(tag),
      out_{STDOUT_FILENO, isatty(STDOUT_FILENO) == 1, {}},
      err_{STDERR_FILENO, isatty(STDERR_FILENO) == 1, {}} {
  for (size_t r = 0; r < ranks.size(); ++r) {
    add(static_cast<int>(r), ranks[r].output, out_);
    add(static_cast<int>(r), ranks[r].error, err_);
  }
}

Forwarder::~Forwarder() {
  for (const auto& stream : streams_)
    if (stream->fd >= 0) close(stream->fd);
}

void Forwarder::add(int rank, int fd, Output& to) {
  streams_.push_back(std::make_unique<Stream>(Stream{rank, fd, &to, {}, {}}));
}

bool Forwarder::wait(int other_fd, int milliseconds) {
  std::vector<pollfd> polled = {{other_fd, POLLIN, 0}};
  for (Output* to : {&out_, &err_}) polled.push_back({to->queue.empty() ? -1 : to->fd, POLLOUT, 0});
  for (const auto& stream : streams_) {
    polled.push_back({stream->to->queue.size() < full_queue ? stream->fd : -1, POLLIN, 0});
    if (!stream->held.empty() && stream->to->is_terminal) milliseconds = std::min(milliseconds, stall_milliseconds);
  }
  if (poll(polled.data(), polled.size(), milliseconds) < 0) return false;  // interrupted
  for (size_t i = 0; i < streams_.size(); ++i)
    if (polled[3 + i].revents != 0) take_in(*streams_[i], one_read);
  forward_stalled();
  if (polled[1].revents != 0) write_some(out_);
  if (polled[2].revents != 0) write_some(err_);
  return polled[0].revents != 0;
}

void Forwarder::drain(int rank) {
  // A process that the rank started may still write, without end: so read no more than a pipe holds.
  for (const auto& stream : streams_)
    if (stream->rank == rank) take_in(*stream, size_t{1} << 20);
}

void Forwarder::drain_all() {
  for (const auto& stream : streams_) {
    take_in(*stream, size_t{1} << 20);
    close_stream(*stream);
  }
}

void Forwarder::message(const std::string& text) {
  finish_line(err_);
  if (!err_.broken) err_.queue += "hirobarun: " + text + "\n";
}

// Reads about `limit` bytes, or fewer if the pipe has fewer.
void Forwarder::take_in(Stream& stream, size_t limit) {
  for (size_t taken = 0; stream.fd >= 0 && taken < limit;) {
    if (stream.held.empty()) stream.since = Clock::now();
    const size_t before = stream.held.size();
    stream.held.resize(before + one_read);
    const ssize_t got = read(stream.fd, stream.held.data() + before, one_read);
    stream.held.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got > 0) {
      taken += static_cast<size_t>(got);
      forward_lines(stream);
    } else if (got == 0 || errno != EAGAIN) {
      close_stream(stream);
    } else {
      return;
    }
  }
}

void Forwarder::close_stream(Stream& stream) {
  if (stream.fd < 0) return;
  forward(stream, stream.held.size());
  close(stream.fd);
  stream.fd = -1;
}

void Forwarder::forward_lines(Stream& stream) {
  const size_t end = stream.held.rfind('\n');
  if (end != std::string::npos) forward(stream, end + 1);
  if (stream.held.size() > longest_line) forward(stream, stream.held.size());
}

void Forwarder::forward_stalled() {
  const auto limit = Clock::now() - std::chrono::milliseconds(stall_milliseconds);
  for (const auto& stream : streams_)
    if (stream->to->is_terminal && !stream->held.empty() && stream->since <= limit)
      forward(*stream, stream->held.size());
}

// Moves the first `bytes` held bytes to the output's queue.
void Forwarder::forward(Stream& stream, size_t bytes) {
  if (bytes == 0) return;
  Output& to = *stream.to;
  if (!to.broken) {
    if (to.unfinished != &stream) finish_line(to);
    const std::string prefix = tag_ ? format("[%d] ", stream.rank) : "";
    const std::string_view text = std::string_view(stream.held).substr(0, bytes);
    for (size_t at = 0; at < text.size();) {
      const size_t end = prefix.empty() ? text.size() : std::min(text.find('\n', at), text.size() - 1) + 1;
      if (to.unfinished != &stream || at != 0) to.queue += prefix;
      to.queue += text.substr(at, end - at);
      at = end;
    }
    to.unfinished = text.ends_with('\n') ? nullptr : &stream;
  }
  stream.held.erase(0, bytes);
  stream.since = Clock::now();
}

void Forwarder::finish_line(Output& to) {
  if (to.unfinished != nullptr && !to.broken) to.queue += '\n';
  to.unfinished = nullptr;
}

// Requires that poll has reported the output as writable: a pipe or terminal then accepts PIPE_BUF bytes without
// blocking.
void Forwarder::write_some(Output& to) {
  size_t done = 0;
  while (done < to.queue.size() && !to.broken) {
    pollfd ready = {to.fd, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0) break;
    const ssize_t wrote = write(to.fd, to.queue.data() + done, std::min<size_t>(PIPE_BUF, to.queue.size() - done));
    if (wrote >= 0) {
      done += static_cast<size_t>(wrote);
    } else if (errno == EAGAIN || errno == EINTR) {
      break;
    } else {
      to.broken = true;
      if (errno == EPIPE) reader_left_ = true;
      else
        failure_ = Status::error("cannot write to standard %s (%s)", &to == &out_ ? "output" : "error",
                                 explain_error(errno).c_str());
    }
  }
  to.queue.erase(0, to.broken ? to.queue.size() : done);
}

}  // namespace hiroba
