//! XScale (armv5te): begins at address 0, where the vectors are.

use core::arch::global_asm;

global_asm!(
    r#"
    .section .text.start, "ax"
    .arm
    .global _start
_start:
    b       reset
    b       undefined
    b       supervisor
    b       prefetch
    b       data
    nop
    nop
    nop

reset:
    ldr     sp, =_stack_start
    ldr     r0, =_data
    ldr     r1, =_data_end
    ldr     r2, =_data_image
1:  cmp     r0, r1
    ldrlo   r3, [r2], #4
    strlo   r3, [r0], #4
    blo     1b
    ldr     r0, =_bss
    ldr     r1, =_bss_end
    mov     r2, #0
2:  cmp     r0, r1
    strlo   r2, [r0], #4
    blo     2b
    ldr     r0, =_stack_end
    ldr     r2, =0xcccccccc
3:  cmp     r0, sp
    strlo   r2, [r0], #4
    blo     3b
    bl      {run}

undefined:
    mov     r0, #1
    b       faulted
supervisor:
    mov     r0, #2
    b       faulted
prefetch:
    mov     r0, #3
    b       faulted
data:
    mov     r0, #4
faulted:
    ldr     sp, =_stack_start
    bl      {fault}
    .ltorg
    "#,
    run = sym run,
    fault = sym fault,
);

extern "C" fn run() -> ! {
    super::board::run()
}

extern "C" fn fault(cause: usize) -> ! {
    super::board::fault(cause)
}
