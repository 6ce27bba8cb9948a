// The entry points of sparse.h that make operators and multiply by them.
#include "notation/sparse/sparse_process.hpp"

namespace hiroba {

namespace {

MatrixOptions options_of(const SparseCall& call, int flags) {
  MatrixOptions out;
  const int known = HIROBA_CSR | HIROBA_SELL | HIROBA_SYMMETRIC | HIROBA_HERMITIAN | HIROBA_ONE_TRIANGLE;
  if ((flags & ~known) != 0) call.fail(format("flags are %d, which has bits that mean nothing", flags));
  const auto both = [&](int a, int b) { return (flags & a) != 0 && (flags & b) != 0; };
  if (both(HIROBA_CSR, HIROBA_SELL)) call.fail("flags: HIROBA_CSR and HIROBA_SELL; a matrix has one format");
  if (both(HIROBA_SYMMETRIC, HIROBA_HERMITIAN)) call.fail("flags: HIROBA_SYMMETRIC and HIROBA_HERMITIAN; say one");
  if ((flags & HIROBA_CSR) != 0) out.format = Format::csr;
  if ((flags & HIROBA_SELL) != 0) out.format = Format::sell;
  if ((flags & HIROBA_SYMMETRIC) != 0) out.symmetry = Symmetry::symmetric;
  if ((flags & HIROBA_HERMITIAN) != 0) out.symmetry = Symmetry::hermitian;
  out.one_triangle = (flags & HIROBA_ONE_TRIANGLE) != 0;
  if (out.one_triangle && out.symmetry == Symmetry::none)
    call.fail("flags: HIROBA_ONE_TRIANGLE without HIROBA_SYMMETRIC or HIROBA_HERMITIAN, which says what the other is");
  return out;
}

template <typename T>
hiroba_linop handle_of(hiroba_type type, std::unique_ptr<SparseMatrix<T>> matrix) {
  const MatrixFacts facts = matrix->facts();
  auto* const out = new hiroba_linop_part{type, std::move(matrix), true};
  out->facts.entries = facts.entries, out->facts.stored = facts.stored, out->facts.fetched = facts.fetched;
  out->facts.format = facts.sell ? HIROBA_SELL : HIROBA_CSR;
  return out;
}

}  // namespace

HIROBA_EXPORT hiroba_linop hiroba_linop_read(const char* path, hiroba_type type, int flags) {
  const SparseCall call("hiroba_linop_read");
  if (path == nullptr) call.fail("the path is NULL");
  if ((flags & HIROBA_ONE_TRIANGLE) != 0)
    call.fail("flags: HIROBA_ONE_TRIANGLE; whether a file has one triangle, it says itself");
  return call.with_type(type, [&]<typename T>() {
    std::unique_ptr<SparseMatrix<T>> matrix;
    call.require(matrix_of_file(call.ranks(), path, options_of(call, flags), matrix));
    return handle_of(type, std::move(matrix));
  });
}

HIROBA_EXPORT hiroba_linop hiroba_linop_from_triplets(hiroba_type type, int64_t n, int64_t count, const int64_t rows[],
                                                      const int64_t columns[], const void* values, int flags) {
  const SparseCall call("hiroba_linop_from_triplets");
  if (count < 0) call.fail(format("count is %ld; it must not be negative", count));
  if (count > 0 && (rows == nullptr || columns == nullptr || values == nullptr))
    call.fail(format("rows, columns or values are NULL, for %ld triplets", count));
  return call.with_type(type, [&]<typename T>() {
    std::vector<MatrixEntry<T>> entries;
    entries.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) entries.push_back({rows[i], columns[i], static_cast<const T*>(values)[i]});
    std::unique_ptr<SparseMatrix<T>> matrix;
    call.require(matrix_of_entries(call.ranks(), n, std::move(entries), options_of(call, flags), matrix));
    return handle_of(type, std::move(matrix));
  });
}

HIROBA_EXPORT hiroba_linop hiroba_linop_from_rows(hiroba_type type, int64_t n, int64_t most,
                                                  int64_t (*row)(int64_t i, int64_t columns[], void* values,
                                                                 void* context),
                                                  void* context, int flags) {
  const SparseCall call("hiroba_linop_from_rows");
  if (row == nullptr) call.fail("the function of rows is NULL");
  return call.with_type(type, [&]<typename T>() {
    std::unique_ptr<SparseMatrix<T>> matrix;
    const RowFunction<T> function = [&](int64_t i, int64_t* columns, T* values) {
      return row(i, columns, values, context);
    };
    call.require(matrix_of_function(call.ranks(), n, most, function, options_of(call, flags), matrix));
    return handle_of(type, std::move(matrix));
  });
}

HIROBA_EXPORT hiroba_linop hiroba_linop_from_function(hiroba_type type, int64_t n,
                                                      void (*apply)(const void* x, void* y, void* context),
                                                      void* context, hiroba_linop like) {
  const SparseCall call("hiroba_linop_from_function");
  if (apply == nullptr) call.fail("the function is NULL");
  if (n < 1) call.fail(format("n is %ld; it must be at least 1", n));
  const Rows rows =
      like == HIROBA_NO_LINOP ? Rows::equal(n, call.ranks().count()) : call.part(like, "`like`").any->rows();
  if (rows.count() != n) call.fail(format("n is %ld, and `like` has %ld rows", n, rows.count()));
  return call.with_type(type, [&]<typename T>() {
    return new hiroba_linop_part{type, std::make_unique<FunctionOperator<T>>(rows, apply, context)};
  });
}

HIROBA_EXPORT void hiroba_linop_free(hiroba_linop* a) {
  const SparseCall call("hiroba_linop_free");
  if (a == nullptr || *a == HIROBA_NO_LINOP) return;
  hiroba_linop_part& part = call.part(*a, "the operator");
  if (part.users > 0) call.fail("a Chebyshev preconditioner uses this matrix; free the preconditioner first");
  if (part.used != nullptr) --part.used->users;
  call.require(part.any->release(call.ranks()));
  part.any.reset();
  keep_freed(*a);
  *a = HIROBA_NO_LINOP;
}

HIROBA_EXPORT hiroba_linop_facts hiroba_linop_look(hiroba_linop a) {
  const SparseCall call("hiroba_linop_look", SparseCall::one_rank);
  const hiroba_linop_part& part = call.part(a, "the operator");
  hiroba_linop_facts out = part.facts;
  const Rows& rows = part.any->rows();
  const int me = call.ranks().me();
  out.type = part.type, out.rows = rows.count(), out.first = rows.begin(me), out.count = rows.of(me);
  return out;
}

HIROBA_EXPORT void* hiroba_linop_vector(hiroba_linop a) {
  const SparseCall call("hiroba_linop_vector");
  const hiroba_linop_part& part = call.part(a, "the operator");
  void* out = nullptr;
  call.require(
      call.ranks().allocate(part.any->rows().cuts, bytes_of_type(part.type, "hiroba_linop_vector"), "vector", out));
  return out;
}

HIROBA_EXPORT void hiroba_linop_apply(hiroba_linop a, const void* x, void* y) {
  const SparseCall call("hiroba_linop_apply");
  hiroba_linop_part& part = call.part(a, "the operator");
  call.with_type(part.type, [&]<typename T>() {
    const T* const in = call.vector<T>("x", *part.any, x);
    T* const out = call.vector<T>("y", *part.any, y);
    if (in == out) call.fail("x and y are the same vector; a product needs two");
    call.require(call.operator_of<T>(part).apply(call.ranks(), in, out));
  });
}

}  // namespace hiroba
