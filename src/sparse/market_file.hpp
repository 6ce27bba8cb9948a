// A Matrix Market file as text in memory: its header, and the entries of a part of its lines. Pure, except for open(),
// which maps the file; messages name file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sparse/entries.hpp"

namespace hiroba {

class MarketFile {
 public:
  enum class Field { real, complex, pattern };
  struct Header {
    Field field = Field::real;
    Symmetry symmetry = Symmetry::none;
    int64_t rows = 0, entries = 0;
  };

  MarketFile() = default;
  ~MarketFile();
  MarketFile(const MarketFile&) = delete;
  MarketFile& operator=(const MarketFile&) = delete;
  Status open(const std::string& path);
  // The same for text in memory that outlives it.
  void use_text(const std::string& name, std::string_view text) { name_ = name, text_ = text; }

  Status read_header(Header& out);
  // Reads the entries of the lines that begin in part `part` of `parts`, unchanged.
  template <typename T>
  Status read_entries(const Header& header, int part, int parts, std::vector<MatrixEntry<T>>& out) const;
  Status error(size_t at, const std::string& what) const;  // "m.mtx:17: what"
  const std::string& name() const { return name_; }

 private:
  struct Line;
  Status check_size(const Header& header, size_t at) const;
  Status words_of_header(std::string_view line, Header& out) const;
  template <typename T>
  Status read_entry(const Header& header, Line& line, MatrixEntry<T>& out) const;
  template <typename T>
  Status check_entry(const Header& header, size_t at, const MatrixEntry<T>& e) const;
  size_t line_from(size_t at) const;  // returns the begin of the first line that begins at `at` or later

  std::string name_;
  std::string_view text_;
  size_t entries_from_ = 0;
  void* mapped_ = nullptr;
};

}  // namespace hiroba
