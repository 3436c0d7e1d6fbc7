//! A heap on a Cortex-M4, in as many bytes as its demand is certified to need.
#![no_std]
#![no_main]

use core::alloc::Layout;
use core::arch::global_asm;

use cortex_m_rt::entry;
use semihosting::{println, process};
use surefit::compact::certify::{Demand, region_bytes};
use surefit::compact::{Bytes, Config, Heap, Narrow};
use surefit::{Page1K, Refused, Region};

static CONFIG: Config = Config::MICRO;

/// At most 128 messages at once, each of up to 256 bytes, 4 KiB in all, in any mix of lengths and
/// in any order.
const MESSAGES: usize = 128;
const LONGEST: usize = 256;
const BYTES: usize = 4 << 10;
const DEMAND: Demand<'static> =
    Demand::of_mix::<Narrow>(&CONFIG, MESSAGES as u64, LONGEST, BYTES as u64);

static MEMORY: Region<{ region_bytes::<Narrow>(&CONFIG, &DEMAND) }, Page1K> = Region::new();

#[entry]
fn main() -> ! {
    match messages() {
        Ok(sum) => {
            println!("sum {sum}");
            process::exit(0)
        }
        Err(refused) => {
            println!("refused: {refused}");
            process::exit(1)
        }
    }
}

/// Queues messages of changing lengths, and adds up what they hold.
fn messages() -> Result<u32, Refused> {
    let memory = MEMORY.take().expect("taken once");
    let mut heap: Heap<Narrow> = Heap::new(memory, &CONFIG)?;
    let mut queue: [Option<Bytes>; MESSAGES] = [const { None }; MESSAGES];
    let (mut oldest, mut held, mut sum) = (0, 0, 0);
    for number in 0..1000_usize {
        let longest = if number % 8 == 0 { LONGEST } else { 40 };
        let len = 16 + number * 37 % (longest - 15);
        // The oldest make room.
        while number - oldest == MESSAGES || held + len > BYTES {
            let message = queue[oldest % MESSAGES].take().expect("queued");
            sum += u32::from(heap.chunk(&message, 0)[0]);
            held -= message.len();
            heap.free_bytes(message); // may move other messages; their handles stay valid
            oldest += 1;
        }
        let layout = Layout::array::<u8>(len).expect("a short message");
        let mut message = heap.alloc_zeroed(layout)?;
        heap.chunk_mut(&mut message, 0)
            .fill(number.to_le_bytes()[0]);
        queue[number % MESSAGES] = Some(message);
        held += len;
    }
    Ok(sum)
}

// The handler of faults. A stack that is too small ends here, where nothing more can be pushed: so
// the rest begins with the whole stack. Nothing goes back to what was on it.
global_asm!(
    ".section .HardFault.user, \"ax\"",
    ".global HardFault",
    ".type HardFault, %function",
    ".thumb_func",
    "HardFault:",
    "ldr r0, =_stack_start", // `memory.x` says it
    "msr MSP, r0",
    "bl {fault}",
    ".ltorg",
    ".size HardFault, . - HardFault",
    fault = sym fault,
);

extern "C" fn fault() -> ! {
    println!("a fault of the processor, or the stack is too small");
    process::exit(2)
}
