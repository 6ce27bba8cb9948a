#include "openmp/program/code.hpp"

#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "base/debug/symbols.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

struct Zydis {
  decltype(&ZydisDecoderInit) init;
  decltype(&ZydisDecoderDecodeInstruction) decode;

  Status load() {
    void* const library = dlopen(HIROBA_ZYDIS, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      return Status::error(
          "OpenMP over several nodes needs %s, which decodes instructions (%s); in Debian it comes "
          "with libzydis-dev",
          HIROBA_ZYDIS, dlerror());
    init = reinterpret_cast<decltype(init)>(dlsym(library, "ZydisDecoderInit"));
    decode = reinterpret_cast<decltype(decode)>(dlsym(library, "ZydisDecoderDecodeInstruction"));
    return init != nullptr && decode != nullptr ? Status()
                                                : Status::error("%s lacks functions of Zydis 4", HIROBA_ZYDIS);
  }
};

struct Code {
  const Program& program;
  char* begin = nullptr;
  size_t bytes = 0;
};

int find_code(dl_phdr_info* object, size_t, void* out) {
  Code& code = *static_cast<Code*>(out);
  if (program_of(*object).begin != code.program.begin) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0)
      code.begin = reinterpret_cast<char*>(object->dlpi_addr + header.p_vaddr), code.bytes = header.p_memsz;
  }
  return 1;
}

// GCC's fence: lock orq $0, (%rsp).
constexpr unsigned char fence[] = {0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00};

// A detour for one fence: the call must not touch the bytes below the stack pointer, which functions may use.
//   lea -128(%rsp), %rsp; call *call(%rip); lea 128(%rsp), %rsp; jmp *back(%rip)
struct Detour {
  unsigned char code[32] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0xff, 0x15, 0x15, 0,    0, 0, 0x48, 0x8d,
                            0xa4, 0x24, 0x80, 0,    0,    0,    0xff, 0x25, 0x0f, 0, 0, 0};
  const void* call = nullptr;
  const void* back = nullptr;
};
static_assert(sizeof(Detour) == 48);

}  // namespace

// Saves all registers that a call may change: the code around the fence expects them.
asm(R"(
  .text
  .type hiroba_openmp_flush_all, @function
  .hidden hiroba_openmp_flush_all
hiroba_openmp_flush_all:
  push %rbp
  mov %rsp, %rbp
  push %rax
  push %rcx
  push %rdx
  push %rsi
  push %rdi
  push %r8
  push %r9
  push %r10
  push %r11
  sub $2816, %rsp
  and $-64, %rsp
  xor %eax, %eax
  lea 512(%rsp), %rdi
  mov $8, %ecx
  rep stosq
  mov $0xe7, %eax
  xor %edx, %edx
  xsave (%rsp)
  call hiroba_openmp_flush
  mov $0xe7, %eax
  xor %edx, %edx
  xrstor (%rsp)
  lea -72(%rbp), %rsp
  pop %r11
  pop %r10
  pop %r9
  pop %r8
  pop %rdi
  pop %rsi
  pop %rdx
  pop %rcx
  pop %rax
  pop %rbp
  ret
  .size hiroba_openmp_flush_all, .-hiroba_openmp_flush_all
)");
extern "C" void hiroba_openmp_flush_all();

// All flushes meet at rank 0: what others have flushed before is seen after it.
extern "C" __attribute__((visibility("hidden"), used)) void hiroba_openmp_flush() {
  if (!process_started()) return;
  const InRuntime runtime;
  Memory& memory = process_memory("flush");
  Consistency& consistency = memory.consistency();
  consistency.release_to(0);
  consistency.acquire_from(0);
  // Rank 0 sends no message here. Where it waits by flushes, it answers those of the others meanwhile: its progress
  // thread, which looks only now and then while the program computes, may answer milliseconds later.
  if (memory.job().rank == 0) memory.collective().world().transport->progress();
  static const char all = 0;  // flushes are changes of one word, and looks at it
  consistency.note_word(Consistency::Word::changes, &all);
  consistency.note_word(Consistency::Word::has_looked, &all);
}

namespace {

// Redirects the fences. The detours lie near the code: after a library, or before the executable, which may have large
// variables, and needs room for brk().
Status redirect(const std::vector<char*>& fences, const Code& code) {
  if (fences.empty()) return {};
  words::program_flushes = true;
  const Program& program = code.program;
  const uint64_t bytes = (fences.size() * sizeof(Detour) + page_bytes - 1) / page_bytes * page_bytes;
  const uint64_t near_code = program.begin < libraries_begin ? program.begin - bytes : program.end + page_bytes;
  void* const at = mmap(reinterpret_cast<void*>(near_code), bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED || mprotect(code.begin, code.bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return Status::error("the system does not let the program's flushes become calls; is code write-protected here?");
  auto* detour = static_cast<Detour*>(at);
  for (char* const place : fences) {
    *detour = {};
    detour->call = reinterpret_cast<const void*>(hiroba_openmp_flush_all);
    detour->back = place + sizeof fence;
    const auto distance = static_cast<int32_t>(reinterpret_cast<char*>(detour) - (place + 5));
    place[0] = static_cast<char>(0xe9);  // jmp
    std::memcpy(place + 1, &distance, sizeof distance);
    place[5] = static_cast<char>(0x90);  // nop
    ++detour;
  }
  mprotect(code.begin, code.bytes, PROT_READ | PROT_EXEC);
  mprotect(at, bytes, PROT_READ | PROT_EXEC);
  return {};
}

// An exchange with memory needs no prefix.
bool is_atomic(const ZydisDecodedInstruction& instruction) {
  return (instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 ||
         (instruction.mnemonic == ZYDIS_MNEMONIC_XCHG && instruction.raw.modrm.mod != 3);
}

}  // namespace

Status prepare_code(const Program& program) {
  Zydis zydis = {};
  HIROBA_TRY(zydis.load());
  Code code = {program};
  dl_iterate_phdr(find_code, &code);
  ZydisDecoder decoder;
  zydis.init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  std::vector<char*> fences;
  for (size_t at = 0; at < code.bytes;) {
    ZydisDecodedInstruction instruction;
    if (!ZYAN_SUCCESS(zydis.decode(&decoder, nullptr, code.begin + at, code.bytes - at, &instruction))) {
      ++at;
      continue;
    }
    if (std::memcmp(code.begin + at, fence, std::min(sizeof fence, code.bytes - at)) == 0)
      fences.push_back(code.begin + at);
    else if (is_atomic(instruction))
      return Status::error(
          "an atomic operation of the program is an instruction, in %s, which would act on this rank's copy "
          "alone, and which option check cannot see; compile all files with -fno-inline-atomics and, if they call "
          "__sync_fetch_and_add and its kin, with -include hiroba/sync_calls.h (hirobacc -fopenmp-nodes does both); "
          "in the place of assembler write __atomic_exchange_n and its kin",
          source_location(code.begin + at).c_str());
    at += instruction.length;
  }
  return redirect(fences, code);
}

}  // namespace hiroba::openmp
