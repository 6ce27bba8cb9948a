// collective.hpp: collective operations in C++, on top of collective.h, which defines the collective and the blocking
// calls.
//
//   std::vector<double> x(1000), y(1000);
//   hiroba::allreduce(x, y, hiroba::sum);
//   hiroba::allreduce(x, y, [](double a, double b) { return std::hypot(a, b); });
//   double most = hiroba::allreduce(mine, hiroba::max);
//   hiroba::started s = hiroba::iallreduce(x, y, hiroba::sum);  compute();  s.wait();
//   hiroba::team row = hiroba::team::all().split(color);  hiroba::broadcast(x, 0, row);
//
// Buffers: contiguous ranges (vector, array, span), or single objects, of elements that are copied by their bytes. A
// range has a size, so there are no counts; sizes that do not fit end the job before anything is sent. hiroba::in_place
// stands for `send` (in scatter and scatterv: for `recv`) as HIROBA_IN_PLACE does. Operators: hiroba::sum and its like
// for numbers; any function of two elements, associative, for all elements. One that throws ends the job.
#pragma once

#include "collective_parts.hpp"

namespace hiroba {

namespace detail {

// One call: checks sizes, and lists the arguments of the call of C, except for its team.
class arguments {
 public:
  arguments(const char* call, const team& on, const location& where) : call_(call), on_(on), where_(where) {}

  auto broadcast(auto& buffer, int root) const {
    return std::tuple(pointer(buffer), length(buffer), type<element_of<decltype(buffer)>>(), root);
  }
  auto combine(const auto& send, auto& recv, hiroba_op op) const {
    equal(send, recv);
    return std::tuple(pointer(send), pointer(recv), length(recv), type<element_of<decltype(recv)>>(), op);
  }
  auto reduce(const auto& send, auto& recv, hiroba_op op, int root) const {
    if (on_.rank() == root) equal(send, recv);
    const int64_t count = in_place_at(send, root) ? length(recv) : length(send);
    return std::tuple(pointer(send), pointer(recv), count, type<element_of<decltype(recv)>>(), op, root);
  }
  auto reduce_block(const auto& send, auto& recv, hiroba_op op) const {
    if (!is_in_place<decltype(send)>) times("send", length(send), "recv", length(recv));
    const int64_t count = is_in_place<decltype(send)> ? divided("recv", length(recv)) : length(recv);
    return std::tuple(pointer(send), pointer(recv), count, type<element_of<decltype(recv)>>(), op);
  }
  auto reduce_parts(const auto& send, auto& recv, std::span<const int64_t> counts, hiroba_op op) const {
    if (!is_in_place<decltype(send)>) covers("send", length(send), parts{counts});
    else covers("recv", length(recv), parts{counts});
    const int64_t mine = counts[static_cast<size_t>(on_.rank())];
    require(length(recv) >= mine, where_, call_, "recv has %lld elements, and this rank's count is %lld", length(recv),
            mine);
    return std::tuple(pointer(send), pointer(recv), counts.data(), type<element_of<decltype(recv)>>(), op);
  }
  auto gather(const auto& send, auto& recv, int root) const {
    const int64_t count = in_place_at(send, root) ? divided("recv", length(recv)) : length(send);
    if (on_.rank() == root) times("recv", length(recv), "send", count);
    return std::tuple(pointer(send), pointer(recv), count, type<element_of<decltype(recv)>>(), root);
  }
  auto gatherv(const auto& send, auto& recv, const parts& of, int root) const {
    if (on_.rank() == root) covers("recv", length(recv), of);
    return std::tuple(pointer(send), in_place_at(send, root) ? 0 : length(send), pointer(recv), of.counts.data(),
                      of.displs.data(), type<element_of<decltype(recv)>>(), root);
  }
  auto scatter(const auto& send, auto& recv, int root) const {
    const int64_t count = in_place_at(recv, root) ? divided("send", length(send)) : length(recv);
    if (on_.rank() == root) times("send", length(send), "recv", count);
    return std::tuple(pointer(send), pointer(recv), count, type_of_both<decltype(send), decltype(recv)>(), root);
  }
  auto scatterv(const auto& send, const parts& of, auto& recv, int root) const {
    if (on_.rank() == root) covers("send", length(send), of);
    return std::tuple(pointer(send), of.counts.data(), of.displs.data(), pointer(recv),
                      in_place_at(recv, root) ? 0 : length(recv), type_of_both<decltype(send), decltype(recv)>(), root);
  }
  auto allgather(const auto& send, auto& recv) const {
    const int64_t count = is_in_place<decltype(send)> ? divided("recv", length(recv)) : length(send);
    times("recv", length(recv), "send", count);
    return std::tuple(pointer(send), pointer(recv), count, type<element_of<decltype(recv)>>());
  }
  auto allgatherv(const auto& send, auto& recv, const parts& of) const {
    covers("recv", length(recv), of);
    return std::tuple(pointer(send), is_in_place<decltype(send)> ? 0 : length(send), pointer(recv), of.counts.data(),
                      of.displs.data(), type<element_of<decltype(recv)>>());
  }
  auto alltoall(const auto& send, auto& recv) const {
    equal(send, recv);
    return std::tuple(pointer(send), pointer(recv), divided("recv", length(recv)), type<element_of<decltype(recv)>>());
  }
  auto alltoallv(const auto& send, const parts& from, auto& recv, const parts& to) const {
    if (!is_in_place<decltype(send)>) covers("send", length(send), from);
    covers("recv", length(recv), to);
    return std::tuple(pointer(send), from.counts.data(), from.displs.data(), pointer(recv), to.counts.data(),
                      to.displs.data(), type<element_of<decltype(recv)>>());
  }
  auto neighbours(const auto& send, std::span<const int> to, auto& recv, std::span<const int> from) const {
    const int64_t blocks_out = static_cast<int64_t>(to.size()), blocks_in = static_cast<int64_t>(from.size());
    const int64_t count = blocks_out > 0 ? length(send) / blocks_out : blocks_in > 0 ? length(recv) / blocks_in : 0;
    require(count * blocks_out == length(send) && count * blocks_in == length(recv), where_, call_,
            "send has %lld elements for %lld ranks and recv has %lld from %lld; all blocks have one size", length(send),
            blocks_out, length(recv), blocks_in);
    return std::tuple(pointer(send), static_cast<int>(blocks_out), to.data(), pointer(recv),
                      static_cast<int>(blocks_in), from.data(), count, type<element_of<decltype(recv)>>());
  }

 private:
  bool in_place_at(const auto& buffer, int root) const { return is_in_place<decltype(buffer)> && on_.rank() == root; }
  void equal(const auto& send, const auto& recv) const {
    require(is_in_place<decltype(send)> || length(send) == length(recv), where_, call_,
            "send has %lld elements and recv has %lld; they must have as many", length(send), length(recv));
  }
  void times(const char* all, int64_t of_all, const char* one, int64_t of_one) const {
    const int n = on_.size();
    if (of_all == n * of_one) return;
    char what[160];
    std::snprintf(what, sizeof what, "%s has %%lld elements, and %s has %%lld for each of %%lld ranks", all, one);
    require(false, where_, call_, what, of_all, of_one, n);
  }
  int64_t divided(const char* which, int64_t elements) const {
    const int n = on_.size();
    if (elements % n == 0) return elements / n;
    char what[160];
    std::snprintf(what, sizeof what, "%s has %%lld elements, which is no multiple of the %%lld ranks", which);
    require(false, where_, call_, what, elements, n);
    return 0;
  }
  void covers(const char* which, int64_t elements, const parts& of) const {
    const auto n = static_cast<size_t>(on_.size());
    require(of.counts.size() == n && (of.displs.empty() || of.displs.size() == n), where_, call_,
            "%lld counts and %lld displacements for %lld ranks", of.counts.size(), of.displs.size(), n);
    int64_t next = 0;
    for (size_t i = 0; i < n; ++i) {
      const int64_t end = (of.displs.empty() ? next : of.displs[i]) + of.counts[i];
      if (end > elements) {
        char what[160];
        std::snprintf(what, sizeof what, "the block of rank %%lld ends at element %%lld, and %s has %%lld", which);
        require(false, where_, call_, what, i, end, elements);
      }
      next += of.counts[i];
    }
  }

  const char* call_;
  const team& on_;
  location where_;
};

template <auto call, typename Tuple>
void perform(const Tuple& list, const team& on, const location& where) {
  stand_at(where);
  std::apply([&](const auto&... values) { call(values..., on.handle()); }, list);
}
template <auto call, typename Tuple>
started start(const Tuple& list, const team& on, const location& where, std::shared_ptr<void> kept = nullptr) {
  hiroba_request request = HIROBA_NO_REQUEST;
  stand_at(where);
  std::apply([&](const auto&... values) { call(values..., on.handle(), &request); }, list);
  return started(request, std::move(kept), where);
}

}  // namespace detail

inline void barrier(const team& on = {}, location where = location::current()) {
  detail::perform<hiroba_barrier>(std::tuple(), on, where);
}
inline started ibarrier(const team& on = {}, location where = location::current()) {
  return detail::start<hiroba_ibarrier>(std::tuple(), on, where);
}

// Each operation in two forms: NAME blocks; iNAME starts. Types: Send and Recv, of buffers, and Op.
#define HIROBA_UNPACK_(...) __VA_ARGS__
#define HIROBA_MOVE_(target, name, c_name, list, parameters, values)                                        \
  template <detail::readable Send, detail::target Recv>                                                     \
    requires detail::alike<Send, Recv>                                                                      \
  void name(HIROBA_UNPACK_ parameters, const team& on = {}, location where = location::current()) {         \
    detail::perform<hiroba_##c_name>(detail::arguments(#name, on, where).list values, on, where);           \
  }                                                                                                         \
  template <detail::readable Send, detail::target Recv>                                                     \
    requires detail::alike<Send, Recv>                                                                      \
  started i##name(HIROBA_UNPACK_ parameters, const team& on = {}, location where = location::current()) {   \
    return detail::start<hiroba_i##c_name>(detail::arguments("i" #name, on, where).list values, on, where); \
  }
// The same with an operator for the elements of recv, which is `op` among the parameters and `own` among the values.
#define HIROBA_COMBINE_(name, c_name, list, parameters, values)                                                   \
  template <detail::readable Send, detail::writable Recv, typename Op>                                            \
    requires detail::alike<Send, Recv> && detail::combines<Op, detail::element_of<Recv>>                          \
  void name(HIROBA_UNPACK_ parameters, const team& on = {}, location where = location::current()) {               \
    const detail::held_operator<detail::element_of<Recv>, Op> own(std::move(op), #name, where);                   \
    detail::perform<hiroba_##c_name>(detail::arguments(#name, on, where).list values, on, where);                 \
  }                                                                                                               \
  template <detail::readable Send, detail::writable Recv, typename Op>                                            \
    requires detail::alike<Send, Recv> && detail::combines<Op, detail::element_of<Recv>>                          \
  started i##name(HIROBA_UNPACK_ parameters, const team& on = {}, location where = location::current()) {         \
    using held = detail::held_operator<detail::element_of<Recv>, Op>;                                             \
    const auto kept = std::make_shared<held>(std::move(op), "i" #name, where);                                    \
    const held& own = *kept;                                                                                      \
    return detail::start<hiroba_i##c_name>(detail::arguments("i" #name, on, where).list values, on, where, kept); \
  }

// Sends from the member `root`.
template <detail::writable Buffer>
void broadcast(Buffer&& buffer, int root, const team& on = {}, location where = location::current()) {
  detail::perform<hiroba_bcast>(detail::arguments("broadcast", on, where).broadcast(buffer, root), on, where);
}
template <detail::writable Buffer>
started ibroadcast(Buffer&& buffer, int root, const team& on = {}, location where = location::current()) {
  return detail::start<hiroba_ibcast>(detail::arguments("ibroadcast", on, where).broadcast(buffer, root), on, where);
}

// clang-format off
HIROBA_COMBINE_(allreduce, allreduce, combine, (Send&& send, Recv&& recv, Op op), (send, recv, own.get()))
// Rank r gets the combination of ranks 0..r; exscan: of 0..r-1; rank 0 gets nothing.
HIROBA_COMBINE_(scan, scan, combine, (Send&& send, Recv&& recv, Op op), (send, recv, own.get()))
HIROBA_COMBINE_(exscan, exscan, combine, (Send&& send, Recv&& recv, Op op), (send, recv, own.get()))
// recv is used at the root only.
HIROBA_COMBINE_(reduce, reduce, reduce, (Send&& send, Recv&& recv, Op op, int root), (send, recv, own.get(), root))
// Member i gets a block of the result: all the same, or counts[i] elements.
HIROBA_COMBINE_(reduce_scatter, reduce_scatter_block, reduce_block, (Send&& send, Recv&& recv, Op op),
                (send, recv, own.get()))
HIROBA_COMBINE_(reduce_scatter, reduce_scatter, reduce_parts,
                (Send&& send, Recv&& recv, std::span<const int64_t> counts, Op op), (send, recv, counts, own.get()))

// Sends to `root`, where recv has the blocks of all. Other ranks do not use recv.
HIROBA_MOVE_(writable, gather, gather, gather, (Send&& send, Recv&& recv, int root), (send, recv, root))
HIROBA_MOVE_(writable, gatherv, gatherv, gatherv, (Send&& send, Recv&& recv, const parts& of, int root),
             (send, recv, of, root))
// Sends from `root`, where send has the blocks of all. Other ranks do not use send.
HIROBA_MOVE_(fillable, scatter, scatter, scatter, (Send&& send, Recv&& recv, int root), (send, recv, root))
HIROBA_MOVE_(fillable, scatterv, scatterv, scatterv, (Send&& send, const parts& of, Recv&& recv, int root),
             (send, of, recv, root))
HIROBA_MOVE_(writable, allgather, allgather, allgather, (Send&& send, Recv&& recv), (send, recv))
HIROBA_MOVE_(writable, allgatherv, allgatherv, allgatherv, (Send&& send, Recv&& recv, const parts& of),
             (send, recv, of))
HIROBA_MOVE_(writable, alltoall, alltoall, alltoall, (Send&& send, Recv&& recv), (send, recv))
HIROBA_MOVE_(writable, alltoallv, alltoallv, alltoallv, (Send&& send, const parts& from, Recv&& recv, const parts& to),
             (send, from, recv, to))
// Blocks of one size: block k of send goes to rank to[k], block k of recv comes from rank from[k].
HIROBA_MOVE_(writable, neighbor_alltoall, neighbor_alltoall, neighbours,
             (Send&& send, std::span<const int> to, Recv&& recv, std::span<const int> from), (send, to, recv, from))
// clang-format on
#undef HIROBA_UNPACK_
#undef HIROBA_MOVE_
#undef HIROBA_COMBINE_

// Returns the combination of one value of each rank.
template <typename T, typename Op>
  requires detail::memory<const T&> && (!std::ranges::range<T>) && detail::combines<Op, T>
T allreduce(const T& value, Op op, const team& on = {}, location where = location::current()) {
  T out = value;
  allreduce(value, out, std::move(op), on, where);
  return out;
}

}  // namespace hiroba
