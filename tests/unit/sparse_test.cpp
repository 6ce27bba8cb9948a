// The insides of sparse matrices that need no other rank: formats, files, and the division of an array at any place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include "base/text.hpp"
#include "mutations.hpp"
#include "sparse/block.hpp"
#include "sparse/market_file.hpp"

namespace hiroba {
namespace {

template <typename T>
T number(std::mt19937& random) {
  const auto one = [&] { return static_cast<Real<T>>(static_cast<int>(random() % 201) - 100) / 8; };
  if constexpr (is_complex<T>) {
    const Real<T> re = one();
    return T(re, one());
  } else {
    return one();
  }
}

// Rows of 0 to 40 entries, for results that are not all of them.
template <typename T>
LocalRows<T> random_rows(std::mt19937& random, int64_t rows, int32_t columns) {
  LocalRows<T> out;
  for (int64_t i = 0; i < rows; ++i) {
    const unsigned most = random() % 10 == 0 ? 40 : 5;
    for (unsigned k = random() % (most + 1); k > 0; --k) {
      out.column.push_back(static_cast<int32_t>(random() % static_cast<unsigned>(columns)));
      out.value.push_back(number<T>(random));
    }
    out.start.push_back(static_cast<int64_t>(out.column.size()));
    out.to.push_back(static_cast<int32_t>(i * 2));
  }
  return out;
}

template <typename T>
void check_formats() {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const int64_t rows = random() % 4 == 0 ? random() % 3 : 1 + random() % 3000;
    constexpr int32_t columns = 50;
    const LocalRows<T> entries = random_rows<T>(random, rows, columns);
    std::vector<T> x, before;
    for (int32_t i = 0; i < columns; ++i) x.push_back(number<T>(random));
    for (int64_t i = 0; i < 2 * rows; ++i) before.push_back(number<T>(random));
    for (const Format format : {Format::csr, Format::sell, Format::automatic})
      for (const bool add : {false, true}) {
        SparseBlock<T> block = SparseBlock<T>::make(entries, format);
        std::vector<char> memory(block.bytes() + 64);
        block.place(memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64));
        std::vector<T> y = before;
        block.multiply(x.data(), y.data(), add);
        for (int64_t i = 0; i < rows; ++i) {
          const auto row = static_cast<size_t>(i);
          T sum = add ? before[2 * row] : T(0);  // exact: small multiples of 1/64
          for (auto k = static_cast<size_t>(entries.start[row]); k < static_cast<size_t>(entries.start[row + 1]); ++k)
            sum += entries.value[k] * x[static_cast<size_t>(entries.column[k])];
          ASSERT_EQ(sum, y[2 * row]) << "row " << i;
          ASSERT_EQ(before[2 * row + 1], y[2 * row + 1]) << "a result of no row";
        }
        const LocalRows<T> again = block.entries();
        ASSERT_EQ(entries.start, again.start);
        ASSERT_EQ(entries.column, again.column);
        ASSERT_EQ(entries.value, again.value);
        ASSERT_EQ(entries.to, again.to);
      }
  }
}

TEST(SparseBlock, MultipliesInAnyFormatAndGivesItsEntriesBack) {
  check_formats<float>();
  check_formats<double>();
  check_formats<std::complex<float>>();
  check_formats<std::complex<double>>();
}

// With SELL's zeros, too.
TEST(SparseBlock, NanInAnElementReachesTheRowsThatUseItAndNoOthers) {
  std::mt19937 random(8);
  constexpr int32_t columns = 50;
  for (const Format format : {Format::csr, Format::sell}) {
    const LocalRows<double> entries = random_rows<double>(random, 500, columns);
    SparseBlock<double> block = SparseBlock<double>::make(entries, format);
    std::vector<char> memory(block.bytes() + 64);
    block.place(memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64));
    for (int32_t bad = 0; bad < columns; ++bad) {
      std::vector<double> x(columns, 1), y(1000, 7);
      x[static_cast<size_t>(bad)] = std::nan("");
      block.multiply(x.data(), y.data(), false);
      for (size_t row = 0; row < 500; ++row) {
        const auto begin = entries.column.begin() + entries.start[row],
                   end = entries.column.begin() + entries.start[row + 1];
        ASSERT_EQ(std::find(begin, end, bad) != end, std::isnan(y[2 * row])) << "row " << row << ", element " << bad;
      }
    }
  }
}

TEST(SparseBlock, ChoosesSellUnlessItWouldAddManyZeros) {
  LocalRows<double> even, uneven;
  for (int32_t i = 0; i < 64; ++i) {
    for (LocalRows<double>* rows : {&even, &uneven}) {
      for (int32_t k = rows == &even || i == 0 ? 30 : 1; k > 0; --k)
        rows->column.push_back(0), rows->value.push_back(1);
      rows->start.push_back(static_cast<int64_t>(rows->column.size())), rows->to.push_back(i);
    }
  }
  EXPECT_EQ(Format::sell, SparseBlock<double>::make(even, Format::automatic).format());
  EXPECT_EQ(Format::csr, SparseBlock<double>::make(uneven, Format::automatic).format());
}

const char* const small_file =
    "%%MatrixMarket MATRIX coordinate Real symmetric\n"
    "% a comment\n"
    "\n"
    "  5 5 6\r\n"
    "1 1 2.5\n"
    "2 1 -1e-3\r\n"
    "% another\n"
    "\t3\t3\t+4\n"
    "\n"
    "5 2 1\n"
    "4 4 7\n"
    "5 5 8";

TEST(MarketFile, AnyNumberOfPartsGivesTheSameEntries) {
  MarketFile file;
  file.use_text("small", small_file);
  MarketFile::Header header;
  ASSERT_TRUE(file.read_header(header).ok());
  EXPECT_EQ(5, header.rows);
  EXPECT_EQ(6, header.entries);
  EXPECT_EQ(Symmetry::symmetric, header.symmetry);
  std::vector<MatrixEntry<double>> whole;
  ASSERT_TRUE(file.read_entries(header, 0, 1, whole).ok());
  ASSERT_EQ(6u, whole.size());
  EXPECT_EQ(1, whole[1].row);
  EXPECT_EQ(-1e-3, whole[1].value);
  for (int parts = 2; parts < 60; ++parts) {
    std::vector<MatrixEntry<double>> all;
    for (int part = 0; part < parts; ++part) ASSERT_TRUE(file.read_entries(header, part, parts, all).ok());
    ASSERT_EQ(whole.size(), all.size()) << parts << " parts";
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(whole[i].row, all[i].row);
      ASSERT_EQ(whole[i].column, all[i].column);
      ASSERT_EQ(whole[i].value, all[i].value);
    }
  }
}

// Every file that is a beginning of a good one is good to its last entry, or refused with the right line.
TEST(MarketFile, CutAnywhereItIsRefusedOrShort) {
  const std::string good = small_file;
  for (size_t length = 0; length < good.size(); ++length) {
    const std::string cut = good.substr(0, length);
    MarketFile file;
    file.use_text("cut", cut);
    MarketFile::Header header;
    if (!file.read_header(header).ok()) continue;
    std::vector<MatrixEntry<double>> entries;
    const Status read = file.read_entries(header, 0, 1, entries);
    if (read.ok()) EXPECT_LE(entries.size(), 6u);
    else EXPECT_NE(std::string::npos, read.message().find("truncated")) << read.message();
  }
}

// The entry of a matrix of one row, or why it is refused.
template <typename T>
Status read_value(const std::string& words, T& out, const char* field = "real") {
  const std::string text =
      std::string("%%MatrixMarket\tmatrix coordinate ") + field + " general\n2 2 1\n% comment\n" + words + "\n";
  MarketFile file;
  file.use_text("m.mtx", text);
  MarketFile::Header header;
  std::vector<MatrixEntry<T>> entries;
  HIROBA_TRY(file.read_header(header));
  HIROBA_TRY(file.read_entries(header, 0, 1, entries));
  out = entries.at(0).value;
  return {};
}

TEST(MarketFile, NumbersAsStrtodAndFortranWriteThem) {
  const std::pair<const char*, double> good[] = {{"1.0D0", 1},
                                                 {"2.0d0", 2},
                                                 {"+1", 1},
                                                 {".5", 0.5},
                                                 {"5.", 5},
                                                 {"-.5e1", -5},
                                                 {"1e5", 1e5},
                                                 {"1.0E+05", 1e5},
                                                 {"-1.25D-03", -1.25e-3},
                                                 {"1.0+3", 1000},
                                                 {"-2.5-101", -2.5e-101},
                                                 {"1.5Q2", 150},
                                                 {"0.D+00", 0},
                                                 {"1e-400", 0},
                                                 {"4e-320", 4e-320},
                                                 {"1e308", 1e308},
                                                 {"+1.0D+300", 1e300}};
  for (const auto& [word, value] : good) {
    double got = -7;
    const Status read = read_value<double>("1\t2 " + std::string(word), got);
    EXPECT_TRUE(read.ok()) << word << ": " << read.message();
    EXPECT_EQ(value, got) << word;
  }
  std::complex<double> z;
  ASSERT_TRUE(read_value("1 1 1.0D1 -2.0-1\t\r", z, "complex").ok());
  EXPECT_EQ(std::complex<double>(10, -0.2), z);
}

Status read_all(const std::string& text) {
  MarketFile file;
  file.use_text("m.mtx", text);
  MarketFile::Header header;
  std::vector<MatrixEntry<double>> entries;
  HIROBA_TRY(file.read_header(header));
  return file.read_entries(header, 0, 1, entries);
}

// Headers that a short file cannot hold, or that would write to the user's terminal.
TEST(MarketFile, HeadersThatDoNotFitTheFileAreRefused) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  const std::pair<std::string, const char*> bad[] = {
      {head + "100000000 100000000 1\n1 1 1\n", "100000000 rows in a file of"},
      {head + "9223372036854775807 9223372036854775807 1\n1 1 1\n", "9223372036854775807 rows in a file of"},
      {head + "5 5 100000000\n1 1 1\n", "100000000 entries do not fit into a file of"},
      {"%%MatrixMarket matrix coordinate \033[2Jreal general\n1 1 1\n", "field ?[2jreal;"},
      {"%%MatrixMarket matrix coordinate real \033]0;x\007\n1 1 1\n", "symmetry ?]0;x?"},
      {"%%MatrixMarket \033[2J array\n1 1 1\n", "and this is: %%matrixmarket ?[2j"},
      {head + "1 1 1\n\033[2J\n", "and this is: ?[2J"}};
  for (const auto& [text, message] : bad) {
    const Status read = read_all(text);
    EXPECT_NE(std::string::npos, read.message().find(message)) << read.message();
  }
  EXPECT_TRUE(read_all(head + "1000000 1000000 1\n1 1 1\n").ok());
}

// Each is read, or refused in one line that names the file.
TEST(MarketFile, DamagedFilesAreRefusedInOneLine) {
  const std::string parts[] = {"-1",
                               "0",
                               "9223372036854775807",
                               "99999999999999999999",
                               "1e999",
                               "nan",
                               "\n",
                               "\n\n",
                               " ",
                               "\t",
                               "\r",
                               "%",
                               "%%MatrixMarket",
                               "complex",
                               "pattern",
                               "hermitian",
                               "skew-symmetric",
                               "general",
                               std::string("\0\033[2J", 5),
                               "\xff",
                               "",
                               "1 1 1\n",
                               "d",
                               "+",
                               ".",
                               "65537"};
  Mutator mutator(3);
  int refused = 0;
  const int wanted = mutations(2000);
  for (int i = 0; i < wanted; ++i) {
    const std::string text = mutator.text(small_file, parts);
    MarketFile file;
    file.use_text("m.mtx", text);
    MarketFile::Header header;
    std::vector<MatrixEntry<std::complex<double>>> entries;
    Status read = file.read_header(header);
    for (int part = 0; part < 3 && read.ok(); ++part) read = file.read_entries(header, part, 3, entries);
    if (read.ok()) {
      for (const auto& entry : entries) EXPECT_TRUE(entry.row < header.rows && entry.column < header.rows) << text;
      continue;
    }
    ++refused;
    EXPECT_TRUE(read.message().starts_with("m.mtx")) << read.message();
    EXPECT_EQ(printable(read.message()), read.message()) << i;
  }
  EXPECT_GT(refused, wanted / 4);
}

TEST(MarketFile, NumbersThatAreNoneAreRefusedWithTheirLine) {
  const std::pair<const char*, const char*> bad[] = {
      {"1 1 1e999", "1e999 is beyond the largest number of double precision"},
      {"1 1 -1.0D+400", "beyond the largest number of double"},
      {"1 1 inf", "entry (1, 1) is not a finite number"},
      {"1 1 -NaN", "entry (1, 1) is not a finite number"},
      {"99999999999999999999 1 1", "99999999999999999999 is out of range: rows and columns are 1..2"},
      {"1 -99999999999999999999 1", "-99999999999999999999 is out of range"},
      {"3 1 1", "entry (3, 1) is outside the matrix"},
      {"1.0 1 1", "expected \"row column value\""},
      {"1 1 1,5", "expected \"row column value\""},
      {"1 1 1d", "expected \"row column value\""},
      {"1 1 d5", "expected \"row column value\""},
      {"1 1 +-5", "expected \"row column value\""},
      {"1 1 0x1p3", "expected \"row column value\""},
      {"1 1 1.0+", "expected \"row column value\""},
      {"1 1 1 1", "expected \"row column value\""},
      {"1 1", "expected \"row column value\""}};
  for (const auto& [words, text] : bad) {
    double value = 0;
    const Status read = read_value(words, value);
    ASSERT_FALSE(read.ok()) << words;
    EXPECT_NE(std::string::npos, read.message().find(text)) << read.message();
    EXPECT_EQ(0u, read.message().find("m.mtx:4: ")) << read.message();
  }
  float small = 0;
  const Status read = read_value("1 1 1e39", small);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(std::string::npos, read.message().find("1e+39 is beyond the largest number of single")) << read.message();
}

TEST(Mirror, MakesTheOtherTriangle) {
  using Z = std::complex<double>;
  std::vector<MatrixEntry<Z>> entries = {{1, 0, {1, 2}}, {1, 1, {3, 0}}};
  mirror(Symmetry::hermitian, entries);
  ASSERT_EQ(3u, entries.size());
  EXPECT_EQ(0, entries[2].row);
  EXPECT_EQ(1, entries[2].column);
  EXPECT_EQ(Z(1, -2), entries[2].value);
  std::vector<MatrixEntry<double>> skew = {{2, 0, 5}};
  mirror(Symmetry::skew, skew);
  EXPECT_EQ(-5, skew[1].value);
}

}  // namespace
}  // namespace hiroba
