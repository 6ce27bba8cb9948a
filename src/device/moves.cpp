#include "device/moves.hpp"

#include <algorithm>
#include <deque>
#include <span>

#include "section/walk.hpp"

namespace hiroba {

namespace {

// A part of the section: `walk` from the processor's memory to the device, or back in the other direction.
struct Piece {
  Walk walk;
  char *device, *host;
  bool device_is_dense() const { return walk.dims == 0 || dense; }
  bool dense;  // on the device
  size_t bytes() const { return walk.total(); }
  // Rows on the device, of which a buffer has one after the other.
  DeviceRows rows(bool to_device) const {
    if (device_is_dense()) return {bytes(), 1, 0, 0};
    const auto packed = static_cast<int64_t>(walk.block);
    return {walk.block, walk.count[0], to_device ? walk.to[0] : packed, to_device ? packed : walk.to[0]};
  }
  Section section() const { return walk.side<Section::most_dims>(walk.from, host); }
};

// Contiguous memory is cut where addresses are multiples of a piece, so that sections which overlap have common pieces.
void cut_block(const Piece& piece, size_t most, std::vector<Piece>& out) {
  for (size_t at = 0, size; at < piece.walk.block; at += size) {
    Piece part = piece;
    part.device += at, part.host += at;
    size = std::min(most - reinterpret_cast<uintptr_t>(part.host) % most, piece.walk.block - at);
    part.walk.block = size;
    out.push_back(part);
  }
}

bool has_window(const DeviceMove& move) { return move.stream.device().window(move.there.address) != nullptr; }

// Pieces are small if the processor copies them by itself: one that is compared first is then still in its cache.
size_t most_of_piece(const DeviceMove& move) {
  constexpr size_t most_by_window = size_t{256} << 10;
  return has_window(move) ? std::min(most_by_window, move.piece) : move.piece;
}

std::vector<Piece> cut(const DeviceMove& move) {
  const size_t most = most_of_piece(move);
  std::vector<Piece> out;
  Walk whole;
  pair_up(move.there, move.host, move.host.bytes, whole);  // equal counts, so there is one
  const bool dense = move.there == move.host.dense(move.there.address);
  whole.for_each_part(most, dense ? Walk::max_dims : 1, [&](const Walk& walk, int64_t to, int64_t from) {
    const Piece piece = {walk, move.there.address + to, move.host.address + from, dense};
    if (walk.dims == 0) return cut_block(piece, most, out);
    out.push_back(piece);
  });
  return out;
}

// `past_caches`: false for a buffer, which the device reads soon, and which is small enough to stay in a cache.
Digest pack_piece(char* to, const Piece& piece, bool past_caches = true) {
  if (piece.walk.dims == 0) return copy_and_digest(to, piece.host, piece.bytes(), past_caches);
  pack(to, piece.section());
  return digest_of(to, piece.bytes());
}

Digest unpack_piece(const Piece& piece, const char* from) {
  if (piece.walk.dims == 0) return copy_and_digest(piece.host, from, piece.bytes());
  unpack(piece.section(), from);
  return digest_of(from, piece.bytes());
}

// Summarizes a piece in the processor's memory.
Digest digest_of_piece(const Piece& piece, std::vector<char>& scratch) {
  if (piece.walk.dims == 0) return digest_of(piece.host, piece.bytes());
  scratch.resize(piece.bytes());
  return pack_piece(scratch.data(), piece);
}

// Returns the summaries of the section when it was moved last.
std::vector<Digest> known_pieces(const DeviceMove& move) {
  const std::lock_guard<std::mutex> guard(move.copy.lock);
  for (const KnownSection& k : move.copy.known)
    if (k.section == move.host) return k.pieces;
  return {};
}

// A piece that the device has, because the same section was moved, or another one that was cut at the same addresses.
struct KnownPiece {
  Digest digest;
  bool is = false;
};
std::vector<KnownPiece> pieces_on_device(const DeviceMove& move, const std::vector<Piece>& pieces, size_t most) {
  std::vector<KnownPiece> out(pieces.size());
  const std::lock_guard<std::mutex> guard(move.copy.lock);
  for (const KnownSection& k : move.copy.known) {
    if (!k.on_device) continue;
    if (k.section == move.host)
      for (size_t i = 0; i < out.size(); ++i) out[i] = {k.pieces[i], true};
    if (k.section.dims > 0 || move.host.dims > 0 || k.section == move.host) continue;
    const auto begin = reinterpret_cast<uintptr_t>(k.section.address), end = begin + k.section.bytes;
    for (size_t i = 0; i < out.size(); ++i) {
      const auto at = reinterpret_cast<uintptr_t>(pieces[i].host);
      const uintptr_t first = at / most * most;
      if (at == std::max(first, begin) && at < end && at + pieces[i].bytes() == std::min(first + most, end))
        out[i] = {k.pieces[at / most - begin / most], true};
    }
  }
  return out;
}

void set_known(const DeviceMove& move, std::vector<Digest> pieces, bool on_device) {
  move.copy.changed(move.host, false);
  const std::lock_guard<std::mutex> guard(move.copy.lock);
  std::erase_if(move.copy.known, [&](const KnownSection& k) { return k.section == move.host; });
  move.copy.known.push_back({move.host, std::move(pieces), on_device, move.place});
}

// Calls of a queue from several threads, one at a time.
struct SharedQueue {
  std::mutex lock;
  Status send(const DeviceMove& move, const Piece& piece, DeviceStream::Buffer& buffer, bool to_device) {
    const std::lock_guard<std::mutex> guard(lock);
    DeviceQueue& queue = move.stream.queue();
    const DeviceRows rows = piece.rows(to_device);
    HIROBA_TRY(to_device ? queue.to_device(piece.device, buffer.memory, rows)
                         : queue.to_host(buffer.memory, piece.device, rows));
    return queue.record(*buffer.event);
  }
  // Contiguous pieces that follow each other, without a buffer.
  Status to_device(const DeviceMove& move, std::span<const Piece> pieces) {
    const std::lock_guard<std::mutex> guard(lock);
    return move.stream.queue().to_device(pieces[0].device, pieces[0].host, {bytes_of(pieces), 1, 0, 0});
  }
  Status to_host(const DeviceMove& move, std::span<const Piece> pieces, DeviceEvent& event) {
    const std::lock_guard<std::mutex> guard(lock);
    HIROBA_TRY(move.stream.queue().to_host(pieces[0].host, pieces[0].device, {bytes_of(pieces), 1, 0, 0}));
    return move.stream.queue().record(event);
  }
  static size_t bytes_of(std::span<const Piece> pieces) {
    const Piece& last = pieces.back();
    return static_cast<size_t>(last.host + last.bytes() - pieces[0].host);
  }
};

bool is_direct(const DeviceMove& move) {
  return move.host.dims == 0 && move.pins.cover(move.stream.device(), move.host.address, move.host.bytes);
}

// Pieces that the device copies at once, because it needs some microseconds for each copy; in one block of DevicePins.
class Batches {
 public:
  explicit Batches(const std::vector<Piece>& pieces) : pieces_(pieces) {
    const auto block = [&](size_t i) { return reinterpret_cast<uintptr_t>(pieces[i].host) / DevicePins::block_bytes; };
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i == 0 || i - first_.back() == most || block(i) != block(first_.back())) first_.push_back(i);
      of_.push_back(first_.size() - 1);
    }
    first_.push_back(pieces.size());
  }
  size_t count() const { return first_.size() - 1; }
  size_t of(size_t piece) const { return of_[piece]; }
  size_t first(size_t batch) const { return first_[batch]; }
  std::span<const Piece> operator[](size_t batch) const {
    return {&pieces_[first_[batch]], first_[batch + 1] - first_[batch]};
  }

 private:
  static constexpr size_t most = 8;
  const std::vector<Piece>& pieces_;
  std::vector<size_t> first_, of_;  // the first piece of each batch, and the end; the batch of each piece
};

// A batch is sent when all its pieces have been summarized, by several threads at once: the device then finds them in
// the processor's cache. Threads that read other memory meanwhile would slow it down.
Status to_device_directly(const DeviceMove& move, const std::vector<Piece>& pieces,
                          const std::vector<KnownPiece>& known, std::vector<Digest>& now,
                          std::atomic<uint64_t>& moved) {
  SharedQueue queue;
  const Batches batches(pieces);
  std::vector<std::atomic<size_t>> summarized(batches.count());
  const auto is_known = [&](size_t piece) { return known[piece].is && now[piece] == known[piece].digest; };
  HIROBA_TRY(move.helpers.share(pieces.size(), [&](int, size_t piece) -> Status {
    now[piece] = digest_of(pieces[piece].host, pieces[piece].bytes());
    const size_t batch = batches.of(piece), first = batches.first(batch), end = batches.first(batch + 1);
    if (++summarized[batch] < end - first) return {};
    HIROBA_TRY(move.stream.device().enter());
    for (size_t begin = first, next; begin < end; begin = next + 1) {
      for (next = begin; next < end && !is_known(next);) ++next;
      if (next == begin) continue;
      const std::span<const Piece> changed(&pieces[begin], next - begin);
      moved += SharedQueue::bytes_of(changed);
      HIROBA_TRY(queue.to_device(move, changed));
    }
    return {};
  }));
  return move.stream.wait_for_device();
}

// Threads summarize a batch together as soon as it is there, while later ones come.
Status to_host_directly(const DeviceMove& move, const std::vector<Piece>& pieces, std::vector<Digest>& now) {
  SharedQueue queue;
  const Batches batches(pieces);
  std::vector<std::unique_ptr<DeviceEvent>> here(batches.count());
  HIROBA_TRY(move.stream.device().enter());
  for (size_t batch = 0; batch < here.size(); ++batch) {
    HIROBA_TRY(move.stream.device().make_event(here[batch]));
    HIROBA_TRY(queue.to_host(move, batches[batch], *here[batch]));
  }
  return move.helpers.share(pieces.size(), [&](int, size_t piece) -> Status {
    HIROBA_TRY(move.stream.device().enter());
    HIROBA_TRY(here[batches.of(piece)]->wait());
    now[piece] = digest_of(pieces[piece].host, pieces[piece].bytes());
    return {};
  });
}

// A piece is compared before it is copied only where the one before it was as it was known: after one that was not, to
// copy at once is faster than to read twice.
Status to_window(const DeviceMove& move, const std::vector<Piece>& pieces, const std::vector<KnownPiece>& known,
                 std::vector<Digest>& now, std::atomic<uint64_t>& moved) {
  HIROBA_TRY(move.stream.wait_for_device());
  std::vector<char> unchanged(static_cast<size_t>(move.helpers.width()), 0);
  return move.helpers.share(pieces.size(), [&](int worker, size_t i) -> Status {
    const Piece& piece = pieces[i];
    std::vector<char> scratch;
    char& as_before = unchanged[static_cast<size_t>(worker)];
    if (as_before != 0 && known[i].is) {
      now[i] = digest_of_piece(piece, scratch);
      if (now[i] == known[i].digest) return {};
    }
    moved += piece.bytes();
    char* const window = move.stream.device().window(piece.device);
    if (piece.device_is_dense()) {
      now[i] = pack_piece(window, piece);
    } else {
      now[i] = digest_of_piece(piece, scratch);
      copy(window, piece.host, piece.walk);
    }
    as_before = known[i].is && now[i] == known[i].digest ? 1 : 0;
    return {};
  });
}

Status by_buffers(const DeviceMove& move, const std::vector<Piece>& pieces, const std::vector<KnownPiece>& known,
                  std::vector<Digest>& now, std::atomic<uint64_t>& moved) {
  SharedQueue queue;
  std::vector<int> turn(static_cast<size_t>(move.helpers.width()));
  return move.helpers.share(pieces.size(), [&](int worker, size_t i) -> Status {
    HIROBA_TRY(move.stream.device().enter());
    DeviceStream::Buffer* buffer = nullptr;
    int& which = turn[static_cast<size_t>(worker)];
    HIROBA_TRY(move.stream.buffer(worker, which, move.piece, buffer));
    HIROBA_TRY(buffer->event->wait());  // for the piece before, which is on its way from there
    now[i] = pack_piece(buffer->memory, pieces[i], false);
    if (known[i].is && now[i] == known[i].digest) return {};
    which = (which + 1) % DeviceStream::buffers_of_thread;
    moved += pieces[i].bytes();
    return queue.send(move, pieces[i], *buffer, true);
  });
}

Status from_window(const DeviceMove& move, const std::vector<Piece>& pieces, std::vector<Digest>& now) {
  HIROBA_TRY(move.stream.wait_for_device());
  return move.helpers.share(pieces.size(), [&](int, size_t i) -> Status {
    const Piece& piece = pieces[i];
    const char* const window = move.stream.device().window(piece.device);
    if (piece.device_is_dense()) return now[i] = unpack_piece(piece, window), Status();
    std::vector<char> scratch;
    copy(piece.host, window, piece.walk.turned());
    now[i] = digest_of_piece(piece, scratch);
    return {};
  });
}

// While pieces come into the other buffers of a thread, it unpacks the first that has arrived.
Status from_buffers(const DeviceMove& move, const std::vector<Piece>& pieces, std::vector<Digest>& now) {
  SharedQueue queue;
  struct Coming {
    DeviceStream::Buffer* buffer;
    size_t piece;
  };
  struct Worker {
    std::deque<Coming> coming;
    int which = 0;
  };
  std::vector<Worker> workers(static_cast<size_t>(move.helpers.width()));
  const auto unpack_first = [&](Worker& worker) -> Status {
    const Coming first = worker.coming.front();
    worker.coming.pop_front();
    HIROBA_TRY(first.buffer->event->wait());
    now[first.piece] = unpack_piece(pieces[first.piece], first.buffer->memory);
    return {};
  };
  HIROBA_TRY(move.helpers.share(pieces.size(), [&](int number, size_t i) -> Status {
    HIROBA_TRY(move.stream.device().enter());
    Worker& worker = workers[static_cast<size_t>(number)];
    if (worker.coming.size() == DeviceStream::buffers_of_thread) HIROBA_TRY(unpack_first(worker));
    Coming next = {nullptr, i};
    HIROBA_TRY(move.stream.buffer(number, worker.which, move.piece, next.buffer));
    HIROBA_TRY(queue.send(move, pieces[i], *next.buffer, false));
    worker.which = (worker.which + 1) % DeviceStream::buffers_of_thread;
    worker.coming.push_back(next);
    return {};
  }));
  return move.helpers.share(workers.size(), [&](int, size_t i) -> Status {
    while (!workers[i].coming.empty()) HIROBA_TRY(unpack_first(workers[i]));
    return {};
  });
}

}  // namespace

Status move_to_device(const DeviceMove& move, DeviceMoved& moved) {
  const std::vector<Piece> pieces = cut(move);
  const std::vector<KnownPiece> known = pieces_on_device(move, pieces, most_of_piece(move));
  std::vector<Digest> now(pieces.size());
  std::atomic<uint64_t> sum = 0;
  const bool window = has_window(move), direct = !window && is_direct(move);
  if (window) HIROBA_TRY(to_window(move, pieces, known, now, sum));
  else if (direct) HIROBA_TRY(to_device_directly(move, pieces, known, now, sum));
  else HIROBA_TRY(by_buffers(move, pieces, known, now, sum));
  set_known(move, std::move(now), true);
  moved = {sum, direct ? sum.load() : 0};
  return {};
}

Status move_to_host(const DeviceMove& move, DeviceMoved& moved) {
  const std::vector<Piece> pieces = cut(move);
  std::vector<Digest> now(pieces.size());
  const bool window = has_window(move), direct = !window && is_direct(move);
  if (window) HIROBA_TRY(from_window(move, pieces, now));
  else if (direct) HIROBA_TRY(to_host_directly(move, pieces, now));
  else HIROBA_TRY(from_buffers(move, pieces, now));
  set_known(move, std::move(now), true);
  moved = {move.host.total(), direct ? move.host.total() : 0};
  return {};
}

Status note_content(const DeviceMove& move, bool reads) {
  HIROBA_TRY(move.stream.finish());
  if (reads && !known_pieces(move).empty()) return {};
  const std::vector<Piece> pieces = cut(move);
  std::vector<Digest> now(pieces.size());
  std::vector<char> scratch;
  for (size_t i = 0; i < pieces.size(); ++i) now[i] = digest_of_piece(pieces[i], scratch);
  set_known(move, std::move(now), false);
  return {};
}

Status check_unchanged(const DeviceMove& move) {
  const std::vector<Digest> known = known_pieces(move);
  if (known.empty()) return {};
  std::string moved_at;
  {
    const std::lock_guard<std::mutex> guard(move.copy.lock);
    for (const KnownSection& k : move.copy.known)
      if (k.section == move.host) moved_at = k.place;
  }
  const std::vector<Piece> pieces = cut(move);
  return move.helpers.share(pieces.size(), [&](int, size_t i) -> Status {
    std::vector<char> scratch;
    if (digest_of_piece(pieces[i], scratch) == known[i]) return {};
    return Status::error(
        format("check: the overload at %s would overwrite what the program has written to the same section since the "
               "device got it, at %s; only one of the two writes it in an epoch",
               move.place.c_str(), moved_at.c_str()));
  });
}

}  // namespace hiroba
