// hiroba: prints facts about the installation. Compiled with exceptions, because CLI11 throws; none leaves main.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/options.hpp"
#include "launcher/info.hpp"

namespace {

int info(bool options_markdown) {
  if (options_markdown) {
    std::fputs(hiroba::options_markdown().c_str(), stdout);
    return 0;
  }
  std::string why_bad;
  std::fputs(hiroba::describe_installation(why_bad).c_str(), stdout);
  if (why_bad.empty()) return 0;
  std::fprintf(stderr, "hiroba: %s\n", why_bad.c_str());
  return 1;
}

int run(int argc, char** argv) {
  CLI::App app{"Describes this installation of Hiroba. hirobarun starts programs."};
  app.set_version_flag("--version", "hiroba " HIROBA_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  bool options_markdown = false;
  const char* about = "This machine, transports, and options with their present values";
  app.add_subcommand("info", about)
      ->add_flag("--options-markdown", options_markdown, "Print the options in the format of docs/options.md");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& wrong) {
    std::fprintf(stderr, "hiroba: %s (see hiroba --help)\n", wrong.what());
    return 2;
  }
  return info(options_markdown);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& unexpected) {  // an error in the declaration of the options
    std::fprintf(stderr, "hiroba: %s\n", unexpected.what());
    return 1;
  }
}
