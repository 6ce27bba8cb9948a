#include "base/tables/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hiroba {
namespace {

class OptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const Option& option : option_table()) unsetenv(environment_name(option).c_str());
  }
  void TearDown() override { SetUp(); }
};

TEST_F(OptionsTest, DefaultsAreValid) {
  for (const Option& option : option_table()) EXPECT_TRUE(check_option(option, option.fallback).ok()) << option.name;
  Options options;
  ASSERT_TRUE(Options::from_environment(options).ok());
  EXPECT_EQ("auto", options.text("transport"));
  EXPECT_EQ(uint64_t{8} << 40, options.bytes("space"));
  EXPECT_FALSE(options.flag("check"));
}

TEST_F(OptionsTest, TheEnvironmentOverrides) {
  setenv("HIROBA_CACHE", "64M", 1);
  setenv("HIROBA_TIMEOUT", "2.5", 1);
  Options options;
  ASSERT_TRUE(Options::from_environment(options).ok());
  EXPECT_EQ(uint64_t{64} << 20, options.bytes("cache"));
  EXPECT_EQ(2.5, options.number("timeout"));
}

TEST_F(OptionsTest, ABadValueNamesTheOptionAndWhatIsAllowed) {
  setenv("HIROBA_TWIN", "never", 1);
  Options options;
  const std::string message = Options::from_environment(options).message();
  EXPECT_NE(std::string::npos, message.find("twin")) << message;
  EXPECT_NE(std::string::npos, message.find("write|fetch")) << message;
}

TEST_F(OptionsTest, AnUnknownNameGetsTheNearestOne) {
  setenv("HIROBA_CAHE", "64M", 1);
  Options options;
  const std::string message = Options::from_environment(options).message();
  unsetenv("HIROBA_CAHE");
  EXPECT_NE(std::string::npos, message.find("did you mean 'cache'")) << message;
}

TEST_F(OptionsTest, EveryOptionIsDocumented) {
  const std::string page = options_markdown();
  for (const Option& option : option_table()) {
    EXPECT_NE(std::string::npos, page.find(environment_name(option)));
    EXPECT_NE(std::string::npos, page.find(option.help));
  }
}

}  // namespace
}  // namespace hiroba
