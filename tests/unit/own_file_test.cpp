// Files in folders in which others may make links and files: nothing is written through them.
#include "base/files/own_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace hiroba {
namespace {

namespace fs = std::filesystem;

class OwnFile : public ::testing::Test {
 protected:
  OwnFile() {
    std::string name = (fs::temp_directory_path() / "own-file-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    put(victim(), "precious");
    chmod(victim().c_str(), 0600);
  }
  ~OwnFile() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string victim() const { return at("victim"); }
  static void put(const std::string& file, const std::string& text) { std::ofstream(file) << text; }
  static std::string get(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  static mode_t mode(const std::string& file) {
    struct stat info = {};
    stat(file.c_str(), &info);
    return info.st_mode & 0777;
  }
  size_t files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++count;
    return count;
  }

  fs::path folder_;
};

TEST_F(OwnFile, IsWholeOrAsItWas) {
  put(at("old"), "before");
  {
    WholeFile file;
    ASSERT_TRUE(file.begin(at("old"), private_mode).ok());
    ASSERT_TRUE(file.write("af").ok());
    EXPECT_EQ(get(at("old")), "before");
  }
  EXPECT_EQ(get(at("old")), "before");
  ASSERT_TRUE(write_whole_file(at("old"), private_mode, "after").ok());
  EXPECT_EQ(get(at("old")), "after");
  EXPECT_EQ(files(), 2U);
}

TEST_F(OwnFile, HasTheModeOfTheOlderFile) {
  ASSERT_TRUE(write_whole_file(at("new"), private_mode, "x").ok());
  EXPECT_EQ(mode(at("new")), 0600U);
  chmod(at("new").c_str(), 0640);
  ASSERT_TRUE(write_whole_file(at("new"), private_mode, "y").ok());
  EXPECT_EQ(mode(at("new")), 0640U);
}

TEST_F(OwnFile, ReplacesALinkAndLeavesWhatItNames) {
  fs::create_symlink(victim(), at("link"));
  ASSERT_TRUE(write_whole_file(at("link"), private_mode, "mine").ok());
  EXPECT_EQ(get(victim()), "precious");
  EXPECT_FALSE(fs::is_symlink(at("link")));
  fs::create_symlink(victim(), at("record"));
  int fd = -1;
  ASSERT_TRUE(create_own_file(at("record"), private_mode, fd).ok());
  ASSERT_EQ(write(fd, "mine", 4), 4);
  close(fd);
  EXPECT_EQ(get(victim()), "precious");
  EXPECT_EQ(get(at("record")), "mine");
}

TEST_F(OwnFile, ReadsAndAppendsToFilesOfThisUserAlone) {
  fs::create_symlink(victim(), at("link"));
  mkfifo(at("fifo").c_str(), 0600);
  int fd = -1;
  for (const char* name : {"link", "fifo", ".", "absent"}) {
    EXPECT_FALSE(open_own_file(at(name), O_RDONLY, fd).ok()) << name;
    EXPECT_FALSE(append_to_own_file(at(name), "x").ok()) << name;
  }
  EXPECT_TRUE(append_to_own_file(victim(), " more").ok());
  EXPECT_EQ(get(victim()), "precious more");
  if (geteuid() != 0 || chown(victim().c_str(), 65534, 65534) != 0) return;
  EXPECT_FALSE(open_own_file(victim(), O_RDONLY, fd).ok());
  EXPECT_FALSE(append_to_own_file(victim(), "x").ok());
  // Its mode is not taken over, either.
  chmod(victim().c_str(), 0666);
  ASSERT_TRUE(write_whole_file(victim(), private_mode, "x").ok());
  EXPECT_EQ(mode(victim()), 0600U);
}

TEST_F(OwnFile, LeavesWhatIsNoFile) {
  mkfifo(at("fifo").c_str(), 0600);
  const Status fifo = write_whole_file(at("fifo"), private_mode, "x");
  EXPECT_NE(fifo.message().find("is no file"), std::string::npos) << fifo.message();
  const Status folder = write_whole_file(folder_.string(), private_mode, "x");
  EXPECT_NE(folder.message().find("Is a directory"), std::string::npos) << folder.message();
  const Status absent = write_whole_file(at("no/such"), private_mode, "x");
  EXPECT_NE(absent.message().find("No such file"), std::string::npos) << absent.message();
  EXPECT_EQ(files(), 2U);
}

}  // namespace
}  // namespace hiroba
