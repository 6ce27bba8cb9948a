// Sections on devices as tensors of DLPack, for other libraries.
#include <array>
#include <memory>

#include "notation/device/device_process.hpp"
#include "process/process.hpp"

// As in dlpack.h, version 0.8.
struct DLManagedTensor {
  void* data;
  int32_t device_type, device_number;
  int32_t dims;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;  // in elements
  uint64_t byte_offset;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
static_assert(sizeof(DLManagedTensor) == 64);

namespace hiroba {

namespace {

constexpr int of_processor = 1, of_cuda = 2;

struct Tensor {
  static constexpr size_t most_dims = DeviceSection::most_dims + 1;
  DLManagedTensor shown = {};
  std::array<int64_t, most_dims> shape{}, strides{};
  Devices::Lent lent;

  static void end(DLManagedTensor* shown) { delete static_cast<Tensor*>(shown->context); }
};

// True if the section consists of such elements.
bool fits(const DeviceSection& section, int64_t element) {
  bool out = static_cast<int64_t>(section.bytes) % element == 0;
  for (int d = 0; d < section.dims; ++d) out = out && section.stride[static_cast<size_t>(d)] % element == 0;
  return out;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) DLManagedTensor* hiroba_device_tensor(const hiroba_section* section,
                                                                                        hiroba_stream stream, int code,
                                                                                        int bits) {
  const CheckedCall call("hiroba_device_tensor");
  if (stream == nullptr) call.fail("the stream is NULL; hiroba_stream_create returns one");
  if (bits < 8 || bits > 128 || bits % 8 != 0) call.fail(format("elements of %d bits; 8, 16, 32, 64 or 128", bits));
  if (section->bytes == 0) call.fail("a tensor without elements");
  const int64_t element = bits / 8;
  const DeviceSection host = section_of(call, *section);
  auto tensor = std::make_unique<Tensor>();
  call.require(devices().lend(host, *reinterpret_cast<DeviceStream*>(stream), place(), tensor->lent));
  const DeviceSection& there = tensor->lent.there;
  if (!fits(there, element))
    call.fail(format("blocks of %zu bytes, or their distances, are no multiples of elements of %ld bytes", host.bytes,
                     element));
  const auto dims = static_cast<size_t>(host.dims);
  for (size_t d = 0; d < dims; ++d) tensor->shape[d] = host.count[d], tensor->strides[d] = there.stride[d] / element;
  tensor->shape[dims] = static_cast<int64_t>(host.bytes) / element, tensor->strides[dims] = 1;
  tensor->shown = {there.address,
                   tensor->lent.kind == DeviceKind::cuda ? of_cuda : of_processor,
                   tensor->lent.kind == DeviceKind::cuda ? tensor->lent.number : 0,
                   static_cast<int32_t>(dims) + 1,
                   static_cast<uint8_t>(code),
                   static_cast<uint8_t>(bits),
                   1,
                   tensor->shape.data(),
                   tensor->strides.data(),
                   0,
                   tensor.get(),
                   Tensor::end};
  return &tensor.release()->shown;
}

extern "C" __attribute__((visibility("default"))) void* hiroba_stream_native(hiroba_stream stream) {
  const CheckedCall call("hiroba_stream_native");
  if (stream == nullptr) call.fail("the stream is NULL; hiroba_stream_create returns one");
  return Devices::native(*reinterpret_cast<DeviceStream*>(stream));
}

}  // namespace hiroba
