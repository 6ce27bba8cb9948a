#include "memory/check/instruction.hpp"

#include <Zydis/Zydis.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>

#include "memory/layout.hpp"

namespace hiroba {

namespace {

// The functions in use of the library. It is loaded on demand: libhiroba itself needs none.
struct Zydis {
  decltype(&ZydisDecoderInit) init;
  decltype(&ZydisDecoderDecodeFull) decode;
  decltype(&ZydisCalcAbsoluteAddressEx) address;
} zydis;

constexpr greg_t written = 2;  // a bit of a page fault's error code

// The general registers in Zydis's order.
constexpr int registers[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

ZydisRegisterContext registers_of(const ucontext_t& context) {
  ZydisRegisterContext out = {};
  for (size_t i = 0; i < std::size(registers); ++i)
    out.values[ZYDIS_REGISTER_RAX + i] = static_cast<ZyanU64>(context.uc_mcontext.gregs[registers[i]]);
  out.values[ZYDIS_REGISTER_RIP] = static_cast<ZyanU64>(context.uc_mcontext.gregs[REG_RIP]);
  return out;
}

bool decode(uint64_t at, ZydisDecodedInstruction& instruction, ZydisDecodedOperand* operands) {
  ZydisDecoder decoder;
  zydis.init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  // The first try stays within the page: the next one may not be mapped.
  const uint64_t here = std::min<uint64_t>(ZYDIS_MAX_INSTRUCTION_LENGTH, page_bytes - at % page_bytes);
  for (const uint64_t length : {here, uint64_t{ZYDIS_MAX_INSTRUCTION_LENGTH}})
    if (ZYAN_SUCCESS(zydis.decode(&decoder, reinterpret_cast<const void*>(at), length, &instruction, operands)))
      return true;
  return false;
}

bool is_masked(const ZydisDecodedInstruction& instruction) {
  const ZydisMnemonic name = instruction.mnemonic;
  return instruction.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED || name == ZYDIS_MNEMONIC_VMASKMOVPS ||
         name == ZYDIS_MNEMONIC_VMASKMOVPD || name == ZYDIS_MNEMONIC_VPMASKMOVD || name == ZYDIS_MNEMONIC_VPMASKMOVQ;
}

}  // namespace

Status load_decoder() {
  void* const library = dlopen(HIROBA_ZYDIS, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Status::error("cannot load %s, which decodes instructions (%s); in Debian it comes with libzydis-dev",
                         HIROBA_ZYDIS, dlerror());
  zydis.init = reinterpret_cast<decltype(zydis.init)>(dlsym(library, "ZydisDecoderInit"));
  zydis.decode = reinterpret_cast<decltype(zydis.decode)>(dlsym(library, "ZydisDecoderDecodeFull"));
  zydis.address = reinterpret_cast<decltype(zydis.address)>(dlsym(library, "ZydisCalcAbsoluteAddressEx"));
  if (zydis.init != nullptr && zydis.decode != nullptr && zydis.address != nullptr) return {};
  return Status::error("%s lacks functions of Zydis 4", HIROBA_ZYDIS);
}

MemoryAccess memory_access(const ucontext_t& context, const void* address) {
  const bool writes = (context.uc_mcontext.gregs[REG_ERR] & written) != 0;
  const char* const fault = static_cast<const char*>(address);
  MemoryAccess out = {fault, 1, !writes, writes, false};
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  const auto at = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (!decode(at, instruction, operands)) return out;
  const ZydisRegisterContext values = registers_of(context);
  for (size_t i = 0; i < instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM) continue;
    ZyanU64 begin = 0;
    if (!ZYAN_SUCCESS(zydis.address(&instruction, &operand, at, &values, &begin))) continue;
    const char* const first = reinterpret_cast<const char*>(begin);
    const size_t bytes = operand.size / 8;
    if (fault < first || fault >= first + bytes) continue;
    out.reads = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    out.writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    out.atomic = (instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 || instruction.mnemonic == ZYDIS_MNEMONIC_XCHG;
    if (!is_masked(instruction)) out.address = first, out.bytes = bytes;
    if (out.reads || out.writes) return out;
  }
  return {fault, 1, !writes, writes, out.atomic};
}

}  // namespace hiroba
