// The power of the whole machine, as the controller of its board measures it: DCMI by the kernel's /dev/ipmi*. By the
// device and not by the program ipmitool, because a request is then 20 lines and no process, and needs no package.
#include <fcntl.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/energy/source.hpp"

namespace hiroba {

namespace {

constexpr unsigned char group_extension = 0x2c, get_power_reading = 0x02, dcmi = 0xdc;
constexpr int longest_ms = 1000;

class BoardController final : public EnergySource {
 public:
  explicit BoardController(std::string device) : device_(std::move(device)) {}
  BoardController(const BoardController&) = delete;
  ~BoardController() override {
    if (fd_ >= 0) close(fd_);
  }
  Status read(uint64_t& value) override {
    if (fd_ < 0) fd_ = open(device_.c_str(), O_RDWR | O_CLOEXEC);
    if (fd_ < 0) return cannot_read(device_, errno);
    HIROBA_TRY(ask());
    unsigned char answer[IPMI_MAX_MSG_LENGTH];
    size_t bytes = 0;
    HIROBA_TRY(take(answer, sizeof answer, bytes));
    return dcmi_watts(answer, bytes, value);
  }

 private:
  Status ask() {
    ipmi_system_interface_addr controller{};
    controller.addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE, controller.channel = IPMI_BMC_CHANNEL;
    unsigned char words[] = {dcmi, 1, 0, 0};  // the power now, as the system's statistics
    ipmi_req request{};
    request.addr = reinterpret_cast<unsigned char*>(&controller), request.addr_len = sizeof controller;
    request.msgid = ++number_;
    request.msg = {group_extension, get_power_reading, sizeof words, words};
    return ioctl(fd_, IPMICTL_SEND_COMMAND, &request) == 0 ? Status() : cannot_read(device_, errno);
  }
  // Answers to requests that were given up come first.
  Status take(unsigned char* answer, size_t room, size_t& bytes) {
    for (;;) {
      pollfd waits = {fd_, POLLIN, 0};
      const int ready = poll(&waits, 1, longest_ms);
      if (ready < 0 && errno == EINTR) continue;
      if (ready < 0) return cannot_read(device_, errno);
      if (ready == 0) return Status::error("not readable: %s: no answer for %d ms", device_.c_str(), longest_ms);
      ipmi_addr from{};
      ipmi_recv received{};
      received.addr = reinterpret_cast<unsigned char*>(&from), received.addr_len = sizeof from;
      received.msg.data = answer, received.msg.data_len = static_cast<uint16_t>(room);
      if (ioctl(fd_, IPMICTL_RECEIVE_MSG_TRUNC, &received) != 0) return cannot_read(device_, errno);
      bytes = received.msg.data_len;
      if (received.msgid == number_) return {};
    }
  }

  std::string device_;
  int fd_ = -1;
  long number_ = 0;
};

}  // namespace

Status dcmi_watts(const unsigned char* answer, size_t bytes, uint64_t& out) {
  // The completion code, the group, the present watts (2 bytes), their least, most and mean (6), time (4), period (4),
  // and the state, whose bit 6 says that the controller measures.
  constexpr size_t expected = 19;
  if (bytes > 0 && answer[0] == 0xd4) return Status::error("no permission: the board's controller refuses its power");
  if (bytes > 0 && answer[0] == 0xc1) return Status::error("not there: the board's controller knows no DCMI");
  if (bytes > 0 && answer[0] != 0)
    return Status::error("not readable: the board's controller answers with code 0x%02x", answer[0]);
  if (bytes < expected || answer[1] != dcmi)
    return Status::error("not readable: the board's controller answers with %zu bytes that are no power of DCMI",
                         bytes);
  if ((answer[18] & 0x40) == 0) return Status::error("not there: the board's controller does not measure power");
  out = (answer[2] + 256U * answer[3]) * uint64_t{1000000};
  return {};
}

Status add_ipmi(const std::string& root, EnergySources& out) {
  const std::vector<std::string> controllers = files_like(root + '/' + "class/ipmi/ipmi*");
  if (controllers.empty())
    return Status::error("not there: %s/class/ipmi has no ipmiN: there is no controller, or ipmi_devintf is not loaded",
                         root.c_str());
  // One of several interfaces to the controller suffices.
  const std::string name = controllers[0].substr(controllers[0].rfind('/') + 1);
  auto source = std::make_unique<BoardController>("/dev/" + name);
  EnergyAbout& about = source->about;
  about.name = name, about.way = "IPMI", about.scope = EnergyScope::machine;
  about.integrated = about.slow = true, about.step = 1, about.period = 1;
  add_source(std::move(source), out);
  return {};
}

}  // namespace hiroba
