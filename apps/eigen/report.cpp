// The results on standard output: a table, or one object of JSON.
#include <cmath>
#include <cstdio>

#include "command.hpp"

// "(--tol 1e-12 of |A|)", or which one it was.
static std::string goal_of(const outcome& found) {
  char text[64];
  if (found.goal <= found.absolute) std::snprintf(text, sizeof text, " (--absolute)");
  else std::snprintf(text, sizeof text, " (--tol %.3g of |A|)", found.tolerance);
  return text;
}

void print_table(const team& team, const outcome& found) {
  if (team.rank != 0) return;
  std::printf("%s: %lld rows, %lld entries, %d %s\n", found.matrix.c_str(), static_cast<long long>(found.rows),
              static_cast<long long>(found.entries), team.count, team.count == 1 ? "rank" : "ranks");
  std::printf("%4s  %-*s  %s\n", "", found.general ? 46 : 22, "eigenvalue", "|A x - value x|");
  for (size_t i = 0; i < found.values.size(); ++i) {
    std::printf("%4zu  %-22.15g", i + 1, found.values[i].real());
    if (found.general) std::printf("  %+-22.15gi", found.values[i].imag());
    std::printf("  %.2e\n", found.residuals[i]);
  }
  std::printf("%lld steps, %lld products with the matrix, %.3f s; residuals had to reach %.3g%s\n",
              static_cast<long long>(found.steps), static_cast<long long>(found.products), found.seconds, found.goal,
              goal_of(found).c_str());
  std::printf("preconditioner %s, correction %s\n", found.precondition.c_str(), found.correction.c_str());
}

static void print_string(const std::string& text) {
  std::putchar('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') std::printf("\\%c", c);
    else if (static_cast<unsigned char>(c) < 0x20) std::printf("\\u%04x", c);
    else std::putchar(c);
  }
  std::putchar('"');
}

void print_json(const team& team, const outcome& found) {
  if (team.rank != 0) return;
  std::printf("{\"matrix\": ");
  print_string(found.matrix);
  std::printf(", \"rows\": %lld, \"entries\": %lld, \"ranks\": %d, \"converged\": %s, \"eigenvalues\": [",
              static_cast<long long>(found.rows), static_cast<long long>(found.entries), team.count,
              found.converged ? "true" : "false");
  for (size_t i = 0; i < found.values.size(); ++i) {
    const char* const comma = i == 0 ? "" : ", ";
    if (found.general) std::printf("%s[%.17g, %.17g]", comma, found.values[i].real(), found.values[i].imag());
    else std::printf("%s%.17g", comma, found.values[i].real());
  }
  std::printf("], \"residuals\": [");
  for (size_t i = 0; i < found.residuals.size(); ++i) std::printf("%s%.6e", i == 0 ? "" : ", ", found.residuals[i]);
  std::printf("], \"precondition\": \"%s\", \"correction\": \"%s\"", found.precondition.c_str(),
              found.correction.c_str());
  std::printf(", \"tol\": %.6e, \"absolute\": %.6e", found.tolerance, found.absolute);
  std::printf(", \"goal\": %.6e, \"steps\": %lld, \"products\": %lld, \"seconds\": %.6f}\n", found.goal,
              static_cast<long long>(found.steps), static_cast<long long>(found.products), found.seconds);
}
