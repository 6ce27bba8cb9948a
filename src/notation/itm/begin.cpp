// The begin of a transaction of GCC returns once for each run of the block, so it saves the registers that a called
// function keeps. It is the only part that depends on the processor.
#include "notation/itm/state.hpp"

#if !defined(__x86_64__)
#error "libhiroba_tm needs an x86-64 processor"
#endif

// Registers are in the order of Registers. The first two words of the caller's frame are this function's return
// address, which the caller may overwrite later, and what follows it.
asm(R"(
  .text
  .globl _ITM_beginTransaction
  .type _ITM_beginTransaction, @function
_ITM_beginTransaction:
  .cfi_startproc
  leaq 8(%rsp), %rax
  movq (%rsp), %rdx
  subq $72, %rsp
  .cfi_adjust_cfa_offset 72
  movq %rax, 0(%rsp)
  movq %rdx, 8(%rsp)
  movq %rbx, 16(%rsp)
  movq %rbp, 24(%rsp)
  movq %r12, 32(%rsp)
  movq %r13, 40(%rsp)
  movq %r14, 48(%rsp)
  movq %r15, 56(%rsp)
  movq %rsp, %rsi
  call hiroba_itm_begin
  addq $72, %rsp
  .cfi_adjust_cfa_offset -72
  ret
  .cfi_endproc
  .size _ITM_beginTransaction, . - _ITM_beginTransaction

  .globl hiroba_itm_return
  .hidden hiroba_itm_return
  .type hiroba_itm_return, @function
hiroba_itm_return:
  .cfi_startproc
  movl %esi, %eax
  movq 16(%rdi), %rbx
  movq 24(%rdi), %rbp
  movq 32(%rdi), %r12
  movq 40(%rdi), %r13
  movq 48(%rdi), %r14
  movq 56(%rdi), %r15
  movq 8(%rdi), %rdx
  movq 0(%rdi), %rsp
  jmp *%rdx
  .cfi_endproc
  .size hiroba_itm_return, . - hiroba_itm_return
  .section .note.GNU-stack, "", @progbits
  .text
)");
