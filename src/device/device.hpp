// The contract of this floor: sections of memory on devices, and kernels that use them there. README.md has the
// protocols, include/hiroba/device.h what a program may rely on.
//
// A Devices object is one rank's part; its notation owns it. Calls are thread-safe, but for those with one stream; they
// put work into streams, which threads of this floor carry out. wait(), drop() and calls that need room in a full
// device block. Errors of work are returned by the next call that has to do with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/tables/options.hpp"
#include "collective/collective.hpp"
#include "section/section.hpp"

namespace hiroba {

using DeviceSection = SectionOf<3>;
using DeviceFunction = int (*)(void* const* data, const void* argument, void* stream);

enum class DeviceKind { host = 1, cuda = 2 };

struct DeviceDescription {
  std::string name, link;  // link: to the memory of this machine
  int number = 0;          // of the machine
  int domain = -1;         // NUMA domain; -1: not known
  uint64_t memory = 0;
  std::string address = {};  // of PCI: "0000:1b:00.0"
  std::string direct = {};   // what it exchanges data with directly: "GPU Direct: networks, devices 1-3"
};

// Option devices, and what else a device needs to know.
struct DeviceSettings {
  std::string backend = "auto";  // auto, none, host or cuda
  int count = -1;                // of this machine; -1: all
  uint64_t cache = 0;            // bytes of copies on each device; 0: four fifths of its memory
  uint64_t host_memory = uint64_t{1} << 30;
  uint64_t seed = 0;  // option chaos: host devices reorder and delay, and copy as others do, by pinned memory
  int threads = 1;    // that pack and unpack sections
  std::string place_by = "none", place_table;  // options of these names
  size_t piece = size_t{1} << 20;

  static Status from_options(const Options& options, DeviceSettings& out);
};

// The floors around this one, as it needs them.
struct DeviceSurroundings {
  int rank = 0;
  bool check = false;
  std::function<std::string(const void* address)> name_of = {};          // "a[3][5]"
  std::function<std::string(const void* address)> array_of = {};         // "a"
  std::function<void(const void* address, size_t bytes)> prefetch = {};  // of pages of other nodes
  std::function<uint64_t()> changes = {};                                // counts arrays that were freed
  // True if an array is there whose memory is always that of this node, and whose accesses nobody tracks; its ends.
  std::function<bool(const char* at, char*& begin, char*& end)> steady = {};
  std::vector<int> domains = {-1};  // of the ranks of this node
  int index = 0;                    // of this rank among them
};

struct DeviceKernel {
  const char* name;
  DeviceFunction host, cuda;  // null: not for these devices
  // The functions return when they have computed, by other streams than the one that they get, so all that is before
  // the kernel ends before they are called.
  bool by_other_streams = false;
};
struct DeviceAccess {
  DeviceSection section;
  bool reads, writes;
};

class DeviceStream;
struct DeviceParts;

class Devices {
 public:
  Devices();
  ~Devices();
  void start(const DeviceSettings& settings, DeviceSurroundings surroundings);
  // Waits for all work; its errors, and mistakes that were not told yet, are returned.
  Status finish();
  // Waits until no preload or overload uses the memory of the processor; kernels may go on.
  Status leave_memory();
  void stop();  // ends all threads
  bool used() const;

  // Finds the devices at the first call.
  Status count(int& out);
  struct Properties {
    DeviceDescription description;
    DeviceKind kind;
    uint64_t cache, used;
  };
  Status properties(int device, Properties& out);

  Status make_stream(int device, DeviceStream*& out);
  Status free_stream(DeviceStream& stream);
  // Returns one of a few streams of the device, in turn.
  Status some_stream(int device, DeviceStream*& out);
  // A request that is complete when all has happened that was put into the stream.
  Status mark(DeviceStream& stream, const char* place, std::shared_ptr<Request>& out);
  Status order(DeviceStream& later, DeviceStream& earlier);

  // Makes one copy that has a contiguous section, and all of what other copies have that share bytes with it: these go,
  // but for those that are held or have writes of kernels. Waits for what uses them.
  Status join(const DeviceSection& section, DeviceStream& stream, const char* place);

  // `of_task`: tasks order the calls, and what they name is here.
  Status preload(const DeviceSection& section, DeviceStream& stream, const char* place, std::shared_ptr<Request>& out,
                 bool of_task = false);
  Status overload(const DeviceSection& section, DeviceStream& stream, const char* place, std::shared_ptr<Request>& out);
  Status launch(const DeviceKernel& kernel, DeviceStream& stream, std::span<const DeviceAccess> accesses,
                const void* argument, size_t bytes, const char* place, bool of_task = false);
  Status forward(const DeviceSection& section, DeviceStream& to, DeviceStream& from, const char* place);
  Status hold(const DeviceSection& section, DeviceStream& stream, const char* place, void*& out);
  // As hold, and waits for the stream; on host devices the processor may use the memory as long as `use` lives, which
  // any thread may end. Until then the section cannot be dropped.
  struct Lent {
    DeviceSection there;
    DeviceKind kind = DeviceKind::host;
    int number = 0;  // of the machine
    std::shared_ptr<void> use;
  };
  Status lend(const DeviceSection& section, DeviceStream& stream, const char* place, Lent& out);
  static void* native(const DeviceStream& stream);
  Status drop(const DeviceSection& section, DeviceStream& stream);

  // Bytes that this rank's calls have moved, and that preloads have found unchanged.
  struct Moved {
    uint64_t preloaded = 0, unchanged = 0, overloaded = 0, forwarded = 0;
    uint64_t directly = 0;  // without buffers, of the first and the third
  };
  Moved moved() const;

 private:
  std::unique_ptr<DeviceParts> parts_;
};

// Lists the devices of this machine, for `hiroba info`.
std::string describe_devices();

}  // namespace hiroba
