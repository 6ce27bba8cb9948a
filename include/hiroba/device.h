/* device.h: sections of shared arrays in the memory of devices (GPUs), and kernels that use them there.
 * docs/devices.md teaches it.
 *
 * hiroba_device_preload brings a section from wherever its home is into the memory of a device, hiroba_device_launch
 * runs a kernel on it there, and hiroba_device_overload writes a section back, as writes of this rank: other ranks see
 * them as all writes of this rank, after the next synchronisation. All three return at once. Calls with the same stream
 * take effect one after the other; streams are independent of each other, unless hiroba_stream_after orders them, or
 * the program waits in between.
 *
 * Copies: a section is contiguous in the memory of a device, in the order of its blocks. It stays there, within the
 * bounds of option device-cache, and a preload of a section that is there moves only what has changed since. A section
 * that lies in one that is there is a part of that copy. Any memory may be named; private memory is each rank's own.
 * Devices: option devices. `hirobarun --devices host:2` gives every node two devices that are threads of this
 * processor, with memory of their own; programs behave the same on them. The devices of a node are divided among its
 * ranks, those of a rank's own NUMA domain first; each rank counts its own from 0 on.
 * Errors: a kernel before its preload, an overload before the kernel, and uses of a section in two streams that nothing
 * orders, end the job with a message that names both places, as other misuse does. Functions return nothing, unless
 * they say so. Thread-safe, but for each single stream. Only waits block, and calls that need room in a full device.
 */
#ifndef HIROBA_DEVICE_H
#define HIROBA_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "request.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- devices -------------------------------------------------------------------------------------------------- */

enum { HIROBA_DEVICE_HOST = 1, HIROBA_DEVICE_CUDA = 2 };

typedef struct hiroba_device_properties {
  char name[96];
  int kind;        /* HIROBA_DEVICE_HOST, ... */
  int number;      /* of this device among those of the machine */
  int domain;      /* NUMA domain; -1: not known */
  uint64_t memory; /* bytes */
  uint64_t cache;  /* bytes that this rank may use for copies */
  uint64_t used;   /* bytes of copies now */
  char link[64];   /* to the memory of this machine */
} hiroba_device_properties;

/* Returns the number of devices of this rank; 0 if there are none. */
int hiroba_device_count(void);
void hiroba_device_get(int device, hiroba_device_properties* properties);

/* ---- streams -------------------------------------------------------------------------------------------------- */

typedef struct hiroba_stream_part* hiroba_stream;

/* Returns a stream of a device of this rank. It is freed at the end of the program at the latest. */
hiroba_stream hiroba_stream_create(int device);
/* Waits for all that was called with it. Sets it to NULL. */
void hiroba_stream_free(hiroba_stream* stream);
/* Waits until all that was called with this stream has taken effect. */
void hiroba_stream_wait(hiroba_stream stream);
/* Calls with `later` from now on take effect after all calls with `earlier` so far. */
void hiroba_stream_after(hiroba_stream later, hiroba_stream earlier);

/* ---- sections ------------------------------------------------------------------------------------------------- */

/* Returns the section of `bytes` contiguous bytes. */
static inline hiroba_section hiroba_bytes(const void* address, size_t bytes) {
  hiroba_section section;
  section.address = (void*)address, section.bytes = bytes, section.dims = 0;
  return section;
}

/* Brings a section into the memory of the stream's device. If request is not NULL, hiroba_wait and its like wait for
 * it; a later launch in the stream needs no wait. Until the preload is complete the program writes nothing there. */
void hiroba_device_preload(const hiroba_section* section, hiroba_stream stream, hiroba_request* request);
/* Writes a section of the device back. Once it is complete, the program may read the section, and write it. */
void hiroba_device_overload(const hiroba_section* section, hiroba_stream stream, hiroba_request* request);
/* Brings a section from the device of one stream to that of another, where it takes the place of what is there, and not
 * by the memory of the processor. It is a call with `to`, after all that was called with `from` before; what `from`
 * does later to the section needs an order. Overloads of it are for the device that it comes from. */
void hiroba_device_forward(const hiroba_section* section, hiroba_stream to, hiroba_stream from);
/* Returns the address of a section on the stream's device, for other libraries. It is valid until hiroba_device_drop.
 * Makes a copy without contents if there is none. Uses by these libraries have no order here: the program waits. */
void* hiroba_device_hold(const hiroba_section* section, hiroba_stream stream);
/* The same as a tensor for libraries that know DLPack (https://dmlc.github.io/dlpack: struct DLManagedTensor, version
 * 0.8), of the elements that a code and a number of bits say: HIROBA_TENSOR_FLOAT, 64 is double. Its dimensions are
 * those of the section, and the elements of a block. Waits for all that was called with the stream. On host devices the
 * processor may use the memory until the tensor's deleter was called, by any thread; until then the section cannot be
 * dropped. */
struct DLManagedTensor;
enum {
  HIROBA_TENSOR_INT = 0,
  HIROBA_TENSOR_UINT = 1,
  HIROBA_TENSOR_FLOAT = 2,
  HIROBA_TENSOR_COMPLEX = 5,
  HIROBA_TENSOR_BOOL = 6
};
struct DLManagedTensor* hiroba_device_tensor(const hiroba_section* section, hiroba_stream stream, int code, int bits);
/* Returns the cudaStream_t (CUstream) to which calls with a stream of a GPU go; NULL for one of a host device. */
void* hiroba_stream_native(hiroba_stream stream);
/* Drops the copies of a section on the stream's device, after all that was called with the stream. What kernels have
 * written there and no overload has written back is lost. */
void hiroba_device_drop(const hiroba_section* section, hiroba_stream stream);

/* ---- kernels -------------------------------------------------------------------------------------------------- */

/* data[i] is the address on the device of what access i names. host: computes, in a thread of the stream. cuda: starts
 * kernels in `stream`, which is a cudaStream_t (CUstream), and does not wait for them; the device is current. Each
 * returns 0, or a number that messages show (a cudaError_t). */
typedef int (*hiroba_kernel_function)(void* const* data, const void* argument, void* stream);
typedef struct hiroba_kernel {
  const char* name;
  hiroba_kernel_function host, cuda; /* NULL: it has none for these devices */
} hiroba_kernel;

/* Runs a kernel with what it uses: HIROBA_IN (a preload or a kernel before it has brought it there), HIROBA_OUT (all of
 * it is written), HIROBA_INOUT. Copies the argument, `bytes` bytes. Kernel and name outlive the launch. */
void hiroba_device_launch(const hiroba_kernel* kernel, hiroba_stream stream, const hiroba_access* accesses, int count,
                          const void* argument, size_t bytes);

/* For other interfaces, in the body of a task (task.h): brings what the kernel reads to a device, runs it there, and
 * writes back what it writes. The task ends once all of that is done, and then destroy(object) was called; the kernel's
 * argument is the pointer `object` itself. */
void hiroba_device_task(int device, const hiroba_kernel* kernel, const hiroba_access* accesses, int count, void* object,
                        void (*destroy)(void* object));

#ifndef HIROBA_NO_PLACES
#define hiroba_device_count() HIROBA_HERE(hiroba_device_count())
#define hiroba_stream_create(...) HIROBA_HERE(hiroba_stream_create(__VA_ARGS__))
#define hiroba_stream_free(...) HIROBA_HERE(hiroba_stream_free(__VA_ARGS__))
#define hiroba_stream_wait(...) HIROBA_HERE(hiroba_stream_wait(__VA_ARGS__))
#define hiroba_stream_after(...) HIROBA_HERE(hiroba_stream_after(__VA_ARGS__))
#define hiroba_device_get(...) HIROBA_HERE(hiroba_device_get(__VA_ARGS__))
#define hiroba_device_preload(...) HIROBA_HERE(hiroba_device_preload(__VA_ARGS__))
#define hiroba_device_overload(...) HIROBA_HERE(hiroba_device_overload(__VA_ARGS__))
#define hiroba_device_forward(...) HIROBA_HERE(hiroba_device_forward(__VA_ARGS__))
#define hiroba_device_hold(...) HIROBA_HERE(hiroba_device_hold(__VA_ARGS__))
#define hiroba_device_tensor(...) HIROBA_HERE(hiroba_device_tensor(__VA_ARGS__))
#define hiroba_stream_native(...) HIROBA_HERE(hiroba_stream_native(__VA_ARGS__))
#define hiroba_device_drop(...) HIROBA_HERE(hiroba_device_drop(__VA_ARGS__))
#define hiroba_device_launch(...) HIROBA_HERE(hiroba_device_launch(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
