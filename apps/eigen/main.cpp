// hiroba-eigen: some eigenvalues and eigenvectors of a sparse matrix, by all ranks of a job.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <eigen.hpp>
#include <fstream>
#include <optional>
#include <sstream>

#include "../common/shared.h"
#include "command.hpp"
#include "vectors.hpp"

namespace {

namespace sp = hiroba::sparse;

constexpr option options[] = {
    {"--generate", "KIND:N", "instead of a file: laplace1d:N, laplace2d:N, laplace3d:N (N points in each dimension),",
     OPTION_TEXT, offsetof(settings, generate)},
    {"--smallest", "K", "the K smallest eigenvalues (default: 1); of general matrices by the real part", OPTION_NUMBER,
     offsetof(settings, smallest)},
    {"--largest", "K", "the K largest", OPTION_NUMBER, offsetof(settings, largest)},
    {"--closest", "K", "the K closest to --target", OPTION_NUMBER, offsetof(settings, closest)},
    {"--target", "X or RE,IM", "a place in the spectrum", OPTION_TEXT, offsetof(settings, target)},
    {"--hermitian", nullptr, "the file says general, and the matrix is symmetric or Hermitian (checked)", OPTION_FLAG,
     offsetof(settings, hermitian)},
    {"--general", nullptr, "do not use that the matrix is symmetric or Hermitian", OPTION_FLAG,
     offsetof(settings, general)},
    {"--tol", "X", "|A x - value x| <= X |A| for |x| = 1 (default 1e-12); |A| is the largest eigenvalue seen",
     OPTION_REAL, offsetof(settings, tolerance)},
    {"--absolute", "X", "or <= X, if that is larger (default 0)", OPTION_REAL, offsetof(settings, absolute)},
    {"--precondition", "HOW", "none, jacobi, ilu, milu (fill-in goes to the diagonal), chebyshev or chebyshev:DEGREE",
     OPTION_TEXT, offsetof(settings, precondition)},
    {"--correction", "METHOD", "none (GD+k), or Jacobi-Davidson by minres, gmres, bicgstab or cg, :STEPS after it",
     OPTION_TEXT, offsetof(settings, correction)},
    {"--ritz", nullptr, "with --closest: Ritz vectors instead of harmonic ones", OPTION_FLAG, offsetof(settings, ritz)},
    {"--space", "M", "the most vectors of the search space (default 30)", OPTION_NUMBER, offsetof(settings, space)},
    {"--restart", "L", "vectors that are kept at a restart (default 12)", OPTION_NUMBER, offsetof(settings, restart)},
    {"--steps", "N", "give up after N steps (default 100000)", OPTION_NUMBER, offsetof(settings, steps)},
    {"--seed", "K", "of the random first vectors (default 1)", OPTION_COUNT, offsetof(settings, seed)},
    {"--vectors", "FILE.npy", "write the eigenvectors: an array of K x rows for numpy.load", OPTION_TEXT,
     offsetof(settings, vectors)},
    {"--plot", nullptr, "draw NAME-convergence.svg, and NAME-entries.svg (where the matrix has entries)", OPTION_FLAG,
     offsetof(settings, plot)},
    {"--output", "NAME", "of the pictures (default hiroba-eigen)", OPTION_TEXT, offsetof(settings, output)},
    {"--json", nullptr, "print one object of JSON instead of the table", OPTION_FLAG, offsetof(settings, json)},
    {"--quiet", nullptr, "no line for each step on standard error", OPTION_FLAG, offsetof(settings, quiet)},
    {"--verify", nullptr, "with --generate: compare with the exact eigenvalues", OPTION_FLAG,
     offsetof(settings, verify)},
    {"--help", nullptr, "print this", OPTION_FLAG, offsetof(settings, help)},
};
constexpr int option_count = sizeof options / sizeof options[0];

void print_help() {
  std::printf(
      "Usage: hirobarun -n RANKS hiroba-eigen MATRIX.mtx [OPTION ...]\n"
      "       hirobarun -n RANKS hiroba-eigen --generate KIND:N [OPTION ...]\n\n"
      "Finds some eigenvalues and eigenvectors of a large sparse matrix: real symmetric, complex Hermitian, or "
      "general\n"
      "(as complex numbers). MATRIX.mtx is a Matrix Market file; its first line says which of these it is. Each rank\n"
      "reads a part of it. Each step adds a direction to a search space: the residual of the best pair (GD+k), or the\n"
      "solution of a correction equation (Jacobi-Davidson, --correction).\n\n");
  options_print(options, option_count);
  std::printf(
      "\nDefaults: --precondition none --correction none; with --generate and --smallest --precondition milu, and\n"
      "from 100,000 rows on --correction minres:100, which suit these matrices. The output says what was taken.\n"
      "\n--generate also makes ring:N[:FLUX] (complex Hermitian) and tridiagonal:N[:BELOW:ABOVE] (general).\n\n"
      "What to try when it takes too many steps\n"
      "  --precondition ilu              for the smallest eigenvalues of a positive definite matrix\n"
      "  --precondition milu             the same for Laplace operators: a third of the products\n"
      "  --correction minres             fewer restarts and sums over the ranks, some more products\n"
      "  --space 60 --restart 25         fewer steps, more memory\n"
      "  --closest 4 --target 3.5 --correction gmres:60    eigenvalues inside the spectrum\n\n"
      "Examples\n"
      "  hirobarun -n 2 hiroba-eigen --generate laplace2d:100 --smallest 4 --verify\n"
      "  hirobarun -n 4 hiroba-eigen matrix.mtx --smallest 4 --tol 1e-8 --vectors vectors.npy --plot\n"
      "  hirobarun -n 4 hiroba-eigen matrix.mtx --largest 3 --json --quiet\n\n"
      "Exit status: 0 if all pairs have been found, 1 if not, 2 for an option that is wrong.\n");
}

// A word that is no option, nor an option's value, is the file.
std::vector<char*> without_file(const team& team, int argc, char** argv, settings& out) {
  std::vector<char*> rest = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') {
      team_agree(&team, out.file == nullptr, TEAM_BAD_INPUT, "two matrices: %s and %s", out.file, argv[i]);
      out.file = argv[i];
      continue;
    }
    rest.push_back(argv[i]);
    const auto* const found = std::find_if(std::begin(options), std::end(options),
                                           [&](const option& o) { return std::strcmp(o.name, argv[i]) == 0; });
    if (found != std::end(options) && found->value != nullptr && i + 1 < argc) rest.push_back(argv[++i]);
  }
  return rest;
}

int parts_chosen(const settings& s) { return (s.smallest > 0) + (s.largest > 0) + (s.closest > 0); }

settings read_settings(const team& team, int argc, char** argv) {
  settings out = {};
  out.tolerance = 1e-12, out.seed = 1, out.output = "hiroba-eigen";
  std::vector<char*> rest = without_file(team, argc, argv, out);
  options_read(&team, options, option_count, &out, static_cast<int>(rest.size()), rest.data());
  if (out.help) return out;
  const auto require = [&](bool good, const char* what) {
    team_agree(&team, good, TEAM_BAD_INPUT, "%s (--help tells more)", what);
  };
  require(out.file != nullptr || out.generate != nullptr, "no matrix: give a Matrix Market file, or --generate KIND:N");
  require(out.file == nullptr || out.generate == nullptr, "a file and --generate; take one of them");
  require(parts_chosen(out) <= 1, "--smallest, --largest and --closest; take one of them");
  require((out.target != nullptr) == (out.closest > 0), "--closest K and --target X belong together");
  require(!out.hermitian || !out.general, "--hermitian and --general; take one of them");
  require(out.tolerance >= 0 && out.absolute >= 0 && out.tolerance + out.absolute > 0,
          "--tol and --absolute may not be negative, and one is larger than 0");
  require(!out.verify || out.generate != nullptr, "--verify knows the eigenvalues of --generate only");
  require(!out.ritz || out.closest > 0, "--ritz belongs to --closest");
  if (parts_chosen(out) == 0) out.smallest = 1;
  files_check_writable(&team, "--vectors", out.vectors);
  for (const char* const end : {"-convergence.svg", "-entries.svg"})
    if (out.plot) files_check_writable(&team, "--output", (std::string(out.output) + end).c_str());
  return out;
}

struct choice {
  int part, count;
  Z target;
};

choice choice_of(const team& team, const settings& s) {
  if (s.largest > 0) return {HIROBA_LARGEST, s.largest, 0};
  if (s.closest == 0) return {HIROBA_SMALLEST, s.smallest, 0};
  char* end = nullptr;
  const double re = std::strtod(s.target, &end);
  bool good = end != s.target;
  double im = 0;
  if (good && *end == ',') {
    const char* const from = end + 1;
    im = std::strtod(from, &end);
    good = end != from;
  }
  team_agree(&team, good && *end == '\0' && std::isfinite(re) && std::isfinite(im), TEAM_BAD_INPUT,
             "--target '%s' is not a number, or two with a comma between them", s.target);
  return {HIROBA_CLOSEST, s.closest, {re, im}};
}

// "minres:30": the name's place in the list, and the number, or 0.
std::pair<int, int> named(const team& team, const char* name, const char* value, const std::vector<const char*>& list) {
  const std::string text = value, word = text.substr(0, text.find(':'));
  const auto found = std::find_if(list.begin(), list.end(), [&](const char* known) { return word == known; });
  std::string known;
  for (const char* const one : list) known += std::string(known.empty() ? "" : ", ") + one;
  char* end = nullptr;
  const long number = word.size() == text.size() ? 0 : std::strtol(value + word.size() + 1, &end, 10);
  const bool good = found != list.end() && (end == nullptr || (*end == '\0' && number > 0 && number < 1000000));
  team_agree(&team, good, TEAM_BAD_INPUT, "%s '%s' is not one of %s, with :N after it", name, value, known.c_str());
  return {static_cast<int>(found - list.begin()), static_cast<int>(number)};
}

// What the first line of the file says. A file that is no Matrix Market file is refused when it is read.
struct header {
  bool complex, hermitian;
};
header header_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
  std::istringstream words(line);
  std::string word, field, symmetry;
  words >> word >> word >> word >> field >> symmetry;
  return {field == "complex", symmetry == "hermitian" || (field != "complex" && symmetry == "symmetric")};
}

template <typename T>
T number_of(Z value) {
  if constexpr (std::is_same_v<T, double>) return value.real();
  else return value;
}

template <typename T>
class search {
 public:
  search(const team& team, const settings& settings, const choice& choice, const generator* made, bool general)
      : team_(team), settings_(settings), choice_(choice), made_(made), general_(general), a_(matrix()) {
    found_.matrix = settings.file != nullptr ? settings.file : settings.generate;
    found_.tolerance = settings.tolerance, found_.absolute = settings.absolute;
    found_.rows = a_.facts().rows, found_.entries = a_.facts().entries, found_.general = general;
  }

  int run() {
    choose();
    precondition();
    const double started = team_now();
    sp::eigen_result<T> got = sp::eigenpairs(a_, how());
    found_.seconds = team_max(&team_, team_now() - started);
    found_.converged = got.converged();
    found_.steps = got.steps, found_.products = got.products, found_.goal = got.goal;
    keep(got);
    if (settings_.json) print_json(team_, found_);
    else print_table(team_, found_);
    std::fflush(stdout);
    if (settings_.plot) draw();
    complain();
    if (settings_.verify) verify();
    return 0;
  }

 private:
  sp::linop<T> matrix() const {
    const int flags = general_ ? 0 : HIROBA_HERMITIAN;
    if (made_ == nullptr) return sp::linop<T>::read(settings_.file, settings_.hermitian ? flags : 0);
    return sp::linop<T>::from_rows(
        made_->rows(), generator::most,
        [&](int64_t i, auto columns, auto values) -> int64_t {
          Z row[generator::most];
          const int count = made_->row(i, columns.data(), row);
          for (int k = 0; k < count; ++k) values[static_cast<size_t>(k)] = number_of<T>(row[k]);
          return count;
        },
        flags);
  }

  // What the user has left open, as --help says it.
  void choose() {
    const bool known = made_ != nullptr && !general_ && choice_.part == HIROBA_SMALLEST;
    const char* const correction = known && found_.rows >= 100000 ? "minres:100" : "none";
    found_.precondition = settings_.precondition != nullptr ? settings_.precondition : known ? "milu" : "none";
    found_.correction = settings_.correction != nullptr ? settings_.correction : correction;
  }

  void precondition() {
    const auto [which, degree] =
        named(team_, "--precondition", found_.precondition.c_str(), {"none", "jacobi", "ilu", "milu", "chebyshev"});
    if (which == 1) m_.emplace(sp::jacobi(a_));
    if (which == 2) m_.emplace(sp::ilu(a_));
    if (which == 3) m_.emplace(sp::ilu(a_, 0.99));
    if (which == 4) m_.emplace(sp::chebyshev(a_, degree > 0 ? degree : 4));
  }

  sp::eigen<T> how() {
    sp::eigen<T> out;
    out.count = choice_.count, out.part = choice_.part, out.target = choice_.target;
    out.general = general_, out.harmonic = choice_.part == HIROBA_CLOSEST && !settings_.ritz;
    if (m_) out.preconditioner = &*m_;
    constexpr int methods[] = {-1, HIROBA_MINRES, HIROBA_GMRES, HIROBA_BICGSTAB, HIROBA_CG};
    const auto [which, steps] =
        named(team_, "--correction", found_.correction.c_str(), {"none", "minres", "gmres", "bicgstab", "cg"});
    out.correction = methods[which], out.correction_most = steps;
    out.absolute = settings_.absolute, out.relative = settings_.tolerance;
    out.most = settings_.steps, out.space = settings_.space, out.restart = settings_.restart;
    out.seed = static_cast<uint64_t>(settings_.seed);
    out.may_fail = true;
    out.progress = [this](const sp::eigen_progress& now) {
      found_.history.push_back({now.products, now.found, now.residual});
      if (team_.rank == 0 && !settings_.quiet)
        std::fprintf(stderr, "step %lld: %lld products, %d of %d found, %.12g: residual %.3e\n",
                     static_cast<long long>(now.steps), static_cast<long long>(now.products), now.found, choice_.count,
                     now.value.real(), now.residual);
      return false;
    };
    return out;
  }

  // The results, smallest first, and the vectors in the same order.
  void keep(const sp::eigen_result<T>& got) {
    std::vector<size_t> order(got.values.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
      const Z &a = got.values[x], &b = got.values[y];
      return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
    });
    std::vector<std::vector<T>> copies;
    std::vector<part> parts;
    for (const size_t i : order) {
      found_.values.push_back(got.values[i]), found_.residuals.push_back(got.residuals[i]);
      copies.emplace_back(got.vectors[i].own().begin(), got.vectors[i].own().end());
      parts.push_back({copies.back().data(), copies.back().size() * sizeof(T)});
    }
    if (settings_.vectors != nullptr && found_.converged)
      save_vectors(team_, settings_.vectors, sizeof(T) == 8 ? "<f8" : "<c16", found_.rows, a_.facts().first, parts);
  }

  void draw() const {
    const std::string convergence = std::string(settings_.output) + "-convergence.svg";
    const std::string entries = std::string(settings_.output) + "-entries.svg";
    bool good = true;
    if (team_.rank == 0) {
      std::vector<std::pair<int64_t, int64_t>> where;
      good = draw_convergence(convergence.c_str(), found_);
      if (made_ != nullptr) where = entries_of(*made_);
      else good = good && entries_of_file(settings_.file, where);
      good = good && draw_entries(entries.c_str(), found_, where);
    }
    const int problem = errno;
    team_agree(&team_, good, TEAM_BAD_INPUT, "cannot draw %s and %s: %s", convergence.c_str(), entries.c_str(),
               std::strerror(problem));
  }

  void complain() const {
    const double reached = found_.history.empty() ? 0 : found_.history.back().residual;
    team_agree(&team_, found_.converged, TEAM_WRONG,
               "%zu of %d eigenpairs found after %lld steps; the residual of the next one is %.3g, and %.3g was to be "
               "reached; try --precondition ilu, --correction minres:50 (or gmres:50), a larger --space, more --steps, "
               "or a larger --tol",
               found_.values.size(), choice_.count, static_cast<long long>(found_.steps), reached, found_.goal);
  }

  void verify() const {
    std::vector<Z> rest = made_->exact(choice_.part, choice_.target, choice_.count);
    double worst = 0;
    for (const Z& value : found_.values) {
      const auto nearest = std::min_element(rest.begin(), rest.end(), [&](const Z& x, const Z& y) {
        return std::abs(x - value) < std::abs(y - value);
      });
      worst = std::max(worst, std::abs(*nearest - value));
      rest.erase(nearest);
    }
    const double bound = (general_ ? 1e3 : 1) * found_.goal + 1e-13;
    team_agree(&team_, worst <= bound, TEAM_WRONG, "an eigenvalue is wrong by %.3g, and %.3g is allowed", worst, bound);
    if (team_.rank == 0) std::fprintf(stderr, "verified: the largest error of an eigenvalue is %.2e\n", worst);
  }

  const team& team_;
  const settings& settings_;
  choice choice_;
  const generator* made_;
  bool general_;
  sp::linop<T> a_;
  std::optional<sp::linop<T>> m_;
  outcome found_;
};

int start(const team& team, const settings& settings) {
  const choice choice = choice_of(team, settings);
  std::optional<generator> made;
  bool complex = false, hermitian = settings.hermitian;
  if (settings.generate != nullptr) {
    made = generator::parse(team, settings.generate);
    complex = made->complex(), hermitian = !made->general();
  } else {
    const header header = header_of(settings.file);
    complex = header.complex, hermitian = hermitian || header.hermitian;
  }
  const bool general = settings.general || !hermitian;
  const generator* const matrix = made ? &*made : nullptr;
  if (complex || general) return search<Z>(team, settings, choice, matrix, general).run();
  return search<double>(team, settings, choice, matrix, general).run();
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  team team = shared_team();
  team.program = "hiroba-eigen";
  const settings settings = read_settings(team, argc, argv);
  int status = 0;
  if (!settings.help) status = start(team, settings);
  else if (team.rank == 0) print_help();
  team_leave(&team);
  return status;
}
