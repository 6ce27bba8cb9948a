// The pictures of --plot, as SVG.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "command.hpp"

namespace {

constexpr double width = 720, height = 440, left = 80, right = 20, top = 40, bottom = 60;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else out += c;
  }
  return out;
}

class picture {
 public:
  picture(const char* path, double wide, double high) : file_(files_fopen(path)) {
    if (file_ == nullptr) return;
    std::fprintf(file_,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
                 "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                 wide, high);
  }
  bool open() const { return file_ != nullptr; }
  FILE* file() const { return file_; }
  void line(double x1, double y1, double x2, double y2, const char* look) const {
    std::fprintf(file_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, look);
  }
  void text(double x, double y, const char* look, const std::string& what) const {
    std::fprintf(file_, "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, look, escaped(what).c_str());
  }
  bool close() const {
    std::fprintf(file_, "</svg>\n");
    const bool good = std::ferror(file_) == 0;
    return std::fclose(file_) == 0 && good;
  }

 private:
  FILE* file_;
};

constexpr const char* middle = "text-anchor=\"middle\"";
constexpr const char* before = "text-anchor=\"end\"";

// A round number near to a fifth of `most`.
int64_t step_of(int64_t most) {
  const double rough = static_cast<double>(most) / 5,
               power = std::pow(10, std::floor(std::log10(std::max(rough, 1.0))));
  const double digit = rough / power;
  return std::max<int64_t>(1, std::llround((digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10) * power));
}

std::string number(int64_t value) { return std::to_string(value); }

}  // namespace

bool draw_convergence(const char* path, const outcome& found) {
  const picture p(path, width, height);
  if (!p.open()) return false;
  double low = found.goal, high = found.goal * 10;
  int64_t most = 1;
  for (const point& at : found.history) {
    if (at.residual > 0) low = std::min(low, at.residual), high = std::max(high, at.residual);
    most = std::max(most, at.products);
  }
  const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  const auto x = [&](int64_t products) {
    return left + (width - left - right) * static_cast<double>(products) / static_cast<double>(most);
  };
  const auto y = [&](double residual) {
    return height - bottom - (height - top - bottom) * (std::log10(residual) - first) / (last - first);
  };
  p.text(width / 2, 24, middle, found.matrix + ": residual of the pair that is improved");
  const double every = std::max(1.0, std::ceil((last - first) / 10));
  for (double power = first; power <= last; power += every) {
    p.line(left, y(std::pow(10, power)), width - right, y(std::pow(10, power)), "stroke=\"#ddd\"");
    p.text(left - 6, y(std::pow(10, power)) + 4, before, "1e" + number(static_cast<int64_t>(power)));
  }
  for (int64_t products = 0; products <= most; products += step_of(most))
    p.text(x(products), height - bottom + 18, middle, number(products));
  p.text((left + width - right) / 2, height - 16, middle, "products with the matrix");
  p.text(0, 0, "text-anchor=\"middle\" transform=\"translate(18,220) rotate(-90)\"", "|A x - value x|");
  for (size_t i = 1; i < found.history.size(); ++i)
    if (found.history[i].found > found.history[i - 1].found)
      p.line(x(found.history[i].products), top, x(found.history[i].products), height - bottom,
             "stroke=\"#2a7\" stroke-dasharray=\"4 3\"");
  p.line(left, y(found.goal), width - right, y(found.goal), "stroke=\"#c33\" stroke-dasharray=\"6 3\"");
  p.text(width - right, y(found.goal) - 5, before, "goal");
  std::fprintf(p.file(), "<polyline fill=\"none\" stroke=\"#236\" stroke-width=\"1.2\" points=\"");
  const size_t stride = found.history.size() / 4000 + 1;
  for (size_t i = 0; i < found.history.size(); i += stride)
    if (found.history[i].residual > 0)
      std::fprintf(p.file(), "%.1f,%.1f ", x(found.history[i].products), y(found.history[i].residual));
  std::fprintf(p.file(), "\"/>\n");
  return p.close();
}

bool draw_entries(const char* path, const outcome& found, const std::vector<std::pair<int64_t, int64_t>>& entries) {
  constexpr double side = 480, edge = 60;
  const picture p(path, side + 2 * edge, side + 2 * edge);
  if (!p.open()) return false;
  const int64_t cells = std::min<int64_t>(found.rows, 120);
  std::vector<int64_t> counts(static_cast<size_t>(cells * cells));
  const auto cell = [&](int64_t i) {
    return static_cast<int64_t>(static_cast<double>(i) / static_cast<double>(found.rows) * static_cast<double>(cells));
  };
  for (const auto& [row, column] : entries) ++counts[static_cast<size_t>(cell(row) * cells + cell(column))];
  const int64_t most = std::max<int64_t>(1, *std::max_element(counts.begin(), counts.end()));
  const double size = side / static_cast<double>(cells);
  p.text(edge + side / 2, 24, middle, found.matrix + ": " + number(found.entries) + " entries");
  std::fprintf(p.file(), "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"none\" stroke=\"#888\"/>\n", edge,
               edge, side, side);
  for (int64_t i = 0; i < cells; ++i)
    for (int64_t j = 0; j < cells; ++j) {
      const int64_t count = counts[static_cast<size_t>(i * cells + j)];
      if (count == 0) continue;
      const double share = 0.3 + 0.7 * std::sqrt(static_cast<double>(count) / static_cast<double>(most));
      std::fprintf(p.file(),
                   "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#236\" opacity=\"%.2f\"/>\n",
                   edge + static_cast<double>(j) * size, edge + static_cast<double>(i) * size, size, size, share);
    }
  p.text(edge - 6, edge + 10, before, "0");
  p.text(edge - 6, edge + side, before, number(found.rows - 1));
  p.text(edge + side, edge + side + 16, before, number(found.rows - 1));
  p.text(edge + side / 2, edge + side + 30, middle, "column");
  p.text(0, 0, "text-anchor=\"middle\" transform=\"translate(24,300) rotate(-90)\"", "row");
  return p.close();
}

bool entries_of_file(const char* path, std::vector<std::pair<int64_t, int64_t>>& out) {
  FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return false;
  char* line = nullptr;
  size_t room = 0;
  bool mirrored = false, sized = false;
  for (bool first = true; getline(&line, &room, file) > 0; first = false) {
    if (first) mirrored = strcasestr(line, "general") == nullptr;
    if (line[0] == '%') continue;
    char* end = nullptr;
    const int64_t row = std::strtoll(line, &end, 10) - 1, column = std::strtoll(end, nullptr, 10) - 1;
    if (!std::exchange(sized, true) || end == line) continue;
    out.emplace_back(row, column);
    if (mirrored && row != column) out.emplace_back(column, row);
  }
  std::free(line);
  const bool good = std::ferror(file) == 0;
  return std::fclose(file) == 0 && good;
}

std::vector<std::pair<int64_t, int64_t>> entries_of(const generator& matrix) {
  std::vector<std::pair<int64_t, int64_t>> out;
  int64_t columns[generator::most];
  Z values[generator::most];
  for (int64_t i = 0; i < matrix.rows(); ++i)
    for (int k = matrix.row(i, columns, values); k-- > 0;) out.emplace_back(i, columns[k]);
  return out;
}
