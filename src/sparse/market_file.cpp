#include "sparse/market_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace hiroba {

MarketFile::~MarketFile() {
  if (mapped_ != nullptr) munmap(mapped_, text_.size());
}

Status MarketFile::open(const std::string& path) {
  name_ = path;
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // a FIFO would keep it
  if (file < 0) return Status::error("cannot open %s (%s)", path.c_str(), explain_error(errno).c_str());
  struct stat about = {};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(file);
    return Status::error("%s is no regular file", path.c_str());
  }
  const auto bytes = static_cast<size_t>(about.st_size);
  if (bytes > 0) mapped_ = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    return Status::error("cannot read %s (%s)", path.c_str(), explain_error(errno).c_str());
  }
  text_ = {static_cast<const char*>(mapped_), bytes};
  return {};
}

Status MarketFile::error(size_t at, const std::string& what) const {
  const auto lines =
      std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(std::min(at, text_.size())), '\n');
  return Status::error("%s:%ld: %s", name_.c_str(), lines + 1, what.c_str());
}

size_t MarketFile::line_from(size_t at) const {
  if (at == 0 || at >= text_.size()) return std::min(at, text_.size());
  const size_t end = text_.find('\n', at - 1);
  return end == std::string_view::npos ? text_.size() : end + 1;
}

// One line, read word by word.
struct MarketFile::Line {
  size_t begin, end;  // in the text, without the line end
  const char *at, *to;

  Line(std::string_view text, size_t from) : begin(from), end(std::min(text.find('\n', from), text.size())) {
    at = text.data() + begin, to = text.data() + end;
    skip();
  }
  std::string too_large = {};  // a number that its type cannot hold

  static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
  void skip() {
    while (at < to && is_blank(*at)) ++at;
  }
  bool empty() const { return at == to; }
  bool is_comment() const { return at < to && *at == '%'; }
  std::string_view word() const { return {at, static_cast<size_t>(std::find_if(at, to, is_blank) - at)}; }
  template <typename Number>
  bool read(Number& out) {
    const std::string_view text = word();
    const std::string_view number = text.substr(text.starts_with('+') && !text.starts_with("+-") ? 1 : 0);
    const auto [next, failed] = std::from_chars(number.data(), number.data() + number.size(), out);
    if (next != number.data() + number.size() || failed == std::errc::invalid_argument) {
      if (!read_fortran(number, out)) return false;
    } else if (failed != std::errc()) {
      take_extreme(number, out);
    }
    at += text.size();
    skip();
    return true;
  }

 private:
  // The number is larger than an integer can hold.
  void take_extreme(std::string_view number, int64_t&) { too_large = number; }
  // The number is below the least one, which strtod rounds to 0 or nearly so, or beyond the largest one.
  void take_extreme(std::string_view number, double& out) {
    out = std::strtod(std::string(number).c_str(), nullptr);
    if (std::isinf(out)) too_large = number;
  }
  static bool read_fortran(std::string_view, int64_t&) { return false; }
  // Reads Fortran's forms: 1.0D+03, 1.0q3, and 1.0+300 where the exponent has three digits.
  bool read_fortran(std::string_view number, double& out) {
    std::string text(number);
    const size_t digits = text.find_first_not_of("+-.0123456789", 0), sign = text.find_first_of("+-", 1);
    if (digits == std::string::npos && sign != std::string::npos) text.insert(sign, "e");
    else if (digits != std::string::npos && std::string_view("dDqQ").find(text[digits]) != std::string_view::npos)
      text[digits] = 'e';
    else return false;
    const size_t exponent = text.find('e');
    if (text.compare(exponent + 1, 1, "+") == 0) text.erase(exponent + 1, 1);
    const auto [next, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (next != text.data() + text.size() || failed == std::errc::invalid_argument) return false;
    if (failed != std::errc()) take_extreme(text, out);
    return true;
  }
};

Status MarketFile::words_of_header(std::string_view line, Header& out) const {
  std::string text(line);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  std::vector<std::string> words;
  for (size_t at = 0; (at = text.find_first_not_of(" \t\r", at)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(" \t\r", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  if (words.size() != 5 || words[1] != "matrix" || words[2] != "coordinate")
    return error(0, "a sparse matrix begins with \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\", and this is: " +
                        printable(text.substr(0, 80)));
  if (words[3] == "real" || words[3] == "integer" || words[3] == "double") out.field = Field::real;
  else if (words[3] == "complex") out.field = Field::complex;
  else if (words[3] == "pattern") out.field = Field::pattern;
  else return error(0, "field " + printable(words[3].substr(0, 40)) + "; it is real, integer, complex or pattern");
  if (words[4] == "general") out.symmetry = Symmetry::none;
  else if (words[4] == "symmetric") out.symmetry = Symmetry::symmetric;
  else if (words[4] == "hermitian") out.symmetry = Symmetry::hermitian;
  else if (words[4] == "skew-symmetric") out.symmetry = Symmetry::skew;
  else
    return error(0, "symmetry " + printable(words[4].substr(0, 40)) +
                        "; it is general, symmetric, hermitian or skew-symmetric");
  return {};
}

// Memory is taken by these numbers, before the entries are read.
Status MarketFile::check_size(const Header& header, size_t at) const {
  constexpr size_t shortest_entry = 4, rows_of_a_byte = 64, always = 1 << 20;
  const size_t bytes = text_.size(), entries = bytes / shortest_entry + 1, rows = always + rows_of_a_byte * bytes;
  if (static_cast<size_t>(header.entries) > entries)
    return error(at, format("%ld entries do not fit into a file of %zu bytes: it is truncated, or damaged",
                            header.entries, bytes));
  if (static_cast<size_t>(header.rows) > rows)
    return error(at,
                 format("%ld rows in a file of %zu bytes, which may have %zu (%zu, and %zu for each byte): a matrix "
                        "whose rows are nearly all empty is taken for damaged",
                        header.rows, bytes, rows, always, rows_of_a_byte));
  return {};
}

Status MarketFile::read_header(Header& out) {
  constexpr std::string_view begins = "%%MatrixMarket";
  if (text_.empty()) return Status::error(name_ + " is empty");
  if (!text_.starts_with(begins))
    return Status::error("%s is no Matrix Market file: it does not begin with %%%%MatrixMarket%s", name_.c_str(),
                         text_.substr(0, 512).find('\0') == std::string_view::npos ? "" : ", and it is binary");
  HIROBA_TRY(words_of_header(text_.substr(0, text_.find('\n')), out));
  size_t at = line_from(1);
  while (at < text_.size()) {
    Line line(text_, at);
    at = std::min(line.end + 1, text_.size());
    if (line.empty() || line.is_comment()) continue;
    int64_t columns = 0;
    if (!line.read(out.rows) || !line.read(columns) || !line.read(out.entries) || !line.empty())
      return error(line.begin, "expected three numbers: rows, columns, entries");
    if (!line.too_large.empty()) return error(line.begin, line.too_large + " is more than any matrix has");
    if (out.rows < 1 || columns < 1 || out.entries < 0)
      return error(line.begin, "rows and columns are at least 1, and entries at least 0");
    HIROBA_TRY(check_size(out, line.begin));
    if (out.rows != columns)
      return error(line.begin,
                   format("the matrix has %ld rows and %ld columns; operators are square", out.rows, columns));
    entries_from_ = at;
    return {};
  }
  return error(text_.size(), "the file ends before the line of rows, columns and entries: it is truncated");
}

template <typename T>
Status MarketFile::check_entry(const Header& header, size_t at, const MatrixEntry<T>& e) const {
  const auto place = [&] { return format("entry (%ld, %ld)", e.row + 1, e.column + 1); };
  if (e.row < 0 || e.row >= header.rows || e.column < 0 || e.column >= header.rows)
    return error(at, place() + format(" is outside the matrix, whose rows and columns are 1..%ld", header.rows));
  if (!std::isfinite(std::abs(e.value))) return error(at, place() + " is not a finite number");
  if (header.symmetry == Symmetry::none) return {};
  if (e.column > e.row)
    return error(at, place() + " is above the diagonal; a file that is not general has those below, and on it");
  if (e.row == e.column && header.symmetry == Symmetry::skew && e.value != T(0))
    return error(at, place() + " of a skew-symmetric matrix is 0, and here it is not");
  if constexpr (is_complex<T>)
    if (e.row == e.column && header.symmetry == Symmetry::hermitian && e.value.imag() != 0)
      return error(at, place() + " of a Hermitian matrix is real, and here it is not");
  return {};
}

template <typename T>
Status MarketFile::read_entry(const Header& header, Line& line, MatrixEntry<T>& out) const {
  double re = 1, im = 0;
  bool good = line.read(out.row) && line.read(out.column);
  if (header.field != Field::pattern) good = good && line.read(re);
  if (header.field == Field::complex) good = good && line.read(im);
  if (!good || !line.empty()) {
    const std::string_view text = text_.substr(line.begin, std::min<size_t>(line.end - line.begin, 60));
    const char* const form = header.field == Field::pattern   ? "row column"
                             : header.field == Field::complex ? "row column real imaginary"
                                                              : "row column value";
    const bool binary = std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 9; });
    return error(line.begin,
                 format("expected \"%s\"%s%s", form, binary ? "; the file is binary from here on" : ", and this is: ",
                        binary ? "" : printable(text).c_str()) +
                     (line.end == text_.size() ? "; the file ends here: it is truncated" : ""));
  }
  if (!line.too_large.empty())
    return error(line.begin,
                 line.too_large.find_first_not_of("+-0123456789") != std::string::npos
                     ? line.too_large + " is beyond the largest number of double precision"
                     : line.too_large + format(" is out of range: rows and columns are 1..%ld", header.rows));
  if (std::isfinite(re) && std::isfinite(im) &&
      std::max(std::fabs(re), std::fabs(im)) > std::numeric_limits<Real<T>>::max())
    return error(line.begin, format("%g is beyond the largest number of single precision",
                                    std::fabs(re) > std::fabs(im) ? re : im));
  --out.row, --out.column;
  if constexpr (is_complex<T>) out.value = T(static_cast<Real<T>>(re), static_cast<Real<T>>(im));
  else out.value = static_cast<T>(re);
  return check_entry(header, line.begin, out);
}

template <typename T>
Status MarketFile::read_entries(const Header& header, int part, int parts, std::vector<MatrixEntry<T>>& out) const {
  if (header.field == Field::complex && !is_complex<T>)
    return error(0, "the numbers are complex; read them into a matrix of complex numbers");
  const size_t bytes = text_.size() - entries_from_;
  const auto cut = [&](int p) {
    const size_t at = bytes / static_cast<size_t>(parts) * static_cast<size_t>(p);
    return p == parts ? text_.size() : line_from(entries_from_ + at);
  };
  const size_t end = cut(part + 1);
  for (size_t at = cut(part); at < end;) {
    Line line(text_, at);
    at = line.end + 1;
    if (line.empty() || line.is_comment()) continue;
    out.emplace_back();
    HIROBA_TRY(read_entry(header, line, out.back()));
  }
  return {};
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define HIROBA_INSTANTIATE(T) \
  template Status MarketFile::read_entries<T>(const Header&, int, int, std::vector<MatrixEntry<T>>&) const;
// NOLINTEND(bugprone-macro-parentheses)
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
