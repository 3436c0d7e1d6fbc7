//! RISC-V of 32 bits: begins in machine mode at the first byte of the image.

use core::arch::global_asm;

global_asm!(
    r#"
    .section .text.start, "ax"
    .global _start
_start:
    la      sp, _stack_start
    la      t0, trapped
    csrw    mtvec, t0
    la      t0, _data
    la      t1, _data_end
    la      t2, _data_image
1:  bgeu    t0, t1, 2f
    lw      t3, 0(t2)
    sw      t3, 0(t0)
    addi    t0, t0, 4
    addi    t2, t2, 4
    j       1b
2:  la      t0, _bss
    la      t1, _bss_end
3:  bgeu    t0, t1, 4f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       3b
4:  la      t0, _stack_end
    li      t2, 0xcccccccc
5:  bgeu    t0, sp, 6f
    sw      t2, 0(t0)
    addi    t0, t0, 4
    j       5b
6:  call    {run}

    .balign 4
trapped:
    csrr    a0, mcause
    call    {fault}
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
