//! Tasks of a small operating system that send each other packets. The size is the number of turns.
//!
//! The task with the highest priority that has a packet takes its turn: it answers its oldest
//! packet. Workers forward packets after working on them; devices return them after a while. The
//! idle task begins a conversation whenever there are fewer than a program of this size should
//! have. Every message is a new packet. Its history is the packet that it answers, up to four
//! packets back.
//!
//! # Source
//! After Martin Richards' operating-system simulation.

use std::cell::Cell;
use std::mem::MaybeUninit;

use surefit_freelist::Index;
use surefit_gc::{Arena, Full, Gc, GcArray, Mutation, Rootable, Trace};

use super::between::{Between, Stopped};
use super::numbers::{Chance, Checksum};

/// A message.
#[derive(Trace)]
struct Packet<'gc> {
    /// The next in the mailbox.
    next: Cell<Option<Gc<'gc, Packet<'gc>>>>,
    answers: Cell<Option<Gc<'gc, Packet<'gc>>>>,
    from: u32,
    data: [Cell<u8>; 4],
}

/// What a task does with a packet.
#[derive(Clone, Copy, Trace)]
enum Role {
    /// Makes work.
    Idle,
    /// Changes the data and sends the packet to a device.
    Worker { next: u32 },
    /// Returns it to its sender.
    Device,
}

#[derive(Trace)]
struct Task<'gc> {
    role: Role,
    turns: Cell<u64>,
    /// The oldest and the newest packet of the mailbox.
    oldest: Cell<Option<Gc<'gc, Packet<'gc>>>>,
    newest: Cell<Option<Gc<'gc, Packet<'gc>>>>,
}

/// Tasks by priority, the highest first; the last one is idle.
type Tasks<'gc> = GcArray<'gc, Gc<'gc, Task<'gc>>>;

/// Tasks beside the idle one; every third is a device.
const BUSY: u32 = 9;
/// There is one conversation per this many turns, and one more.
const TURNS: u32 = 32;
/// How many packets a packet remembers.
const HISTORY: usize = 4;

/// The number of conversations. Each has one packet in a mailbox.
struct Talks {
    now: u32,
    most: u32,
}

/// Takes turns.
pub(super) fn run<I: Index>(
    region: &mut [MaybeUninit<u8>],
    size: u32,
    between: &mut impl Between,
) -> Result<u64, Stopped> {
    let mut tasks = Arena::<Rootable!['gc => Tasks<'gc>], I>::new(region, tasks)?;
    let (mut checksum, mut chance) = (Checksum::default(), Chance(20_260));
    let (now, most) = (0, 1 + size / TURNS);
    let mut talks = Talks { now, most };
    for _ in 0..size {
        between.step(&mut tasks, Gc::<Packet<'_>>::BYTES)?;
        let sum = tasks.mutate(|mc, tasks| turn(mc, tasks, &mut talks, &mut chance))?;
        checksum.add(sum);
    }
    tasks.mutate(|_, tasks| tasks.iter().for_each(|task| checksum.add(task.turns.get())));
    Ok(checksum.0)
}

fn tasks<'gc>(mc: &Mutation<'gc>) -> Result<Tasks<'gc>, Full> {
    let mut tasks = Vec::new();
    for number in 0..=BUSY {
        let role = match number {
            BUSY => Role::Idle,
            _ if number % 3 == 2 => Role::Device,
            _ => Role::Worker {
                next: number / 3 * 3 + 2,
            },
        };
        let (oldest, newest) = (Cell::new(None), Cell::new(None));
        let turns = Cell::new(0);
        tasks.push(mc.alloc(Task {
            role,
            turns,
            oldest,
            newest,
        })?);
    }
    mc.alloc_array(tasks.len(), |number| tasks[number])
}

/// The first task with a packet answers it, or the idle task begins a conversation. Returns a sum
/// of what was sent.
fn turn<'gc>(
    mc: &Mutation<'gc>,
    tasks: &Tasks<'gc>,
    talks: &mut Talks,
    chance: &mut Chance,
) -> Result<u64, Full> {
    let has_packet = |task: &Gc<'gc, Task<'gc>>| task.oldest.get().is_some();
    let first = tasks.iter().position(has_packet);
    let first = first.filter(|_| talks.now >= talks.most);
    let number = first.unwrap_or(BUSY as usize);
    let task = tasks[number];
    task.turns.set(task.turns.get() + 1);
    let packet = take(&task);
    let data = packet.map_or([7, 5, 3, 1], |packet| packet.data.each_ref().map(Cell::get));
    let (to, data) = match task.role {
        Role::Idle => (chance.below(BUSY), data),
        Role::Worker { next } => (
            next,
            data.map(|byte| byte.wrapping_mul(31).wrapping_add(number as u8)),
        ),
        Role::Device => (
            answer_to(packet, chance),
            data.map(|byte| byte.rotate_left(1)),
        ),
    };
    talks.now += u32::from(number == BUSY as usize);
    // Every third message of a device ends its conversation; then the idle task begins another one.
    talks.now -= u32::from(to == BUSY);
    if to < BUSY {
        let sent = mc.alloc(Packet {
            next: Cell::new(None),
            answers: Cell::new(packet),
            from: number as u32,
            data: data.map(Cell::new),
        })?;
        forget(sent);
        put(&tasks[to as usize], sent);
    }
    Ok(u64::from(to) << 32 | u64::from(u32::from_le_bytes(data)))
}

fn answer_to(packet: Option<Gc<'_, Packet<'_>>>, chance: &mut Chance) -> u32 {
    match packet {
        Some(packet) if chance.below(3) > 0 => packet.from,
        _ => BUSY,
    }
}

/// Cuts the history of a packet.
fn forget<'gc>(packet: Gc<'gc, Packet<'gc>>) {
    let mut last = Some(packet);
    for _ in 0..HISTORY {
        last = last.and_then(|packet| packet.answers.get());
    }
    if let Some(last) = last {
        last.answers.set(None);
    }
}

fn take<'gc>(task: &Task<'gc>) -> Option<Gc<'gc, Packet<'gc>>> {
    let packet = task.oldest.get()?;
    task.oldest.set(packet.next.take());
    if task.oldest.get().is_none() {
        task.newest.set(None);
    }
    Some(packet)
}

fn put<'gc>(task: &Task<'gc>, packet: Gc<'gc, Packet<'gc>>) {
    match task.newest.replace(Some(packet)) {
        Some(before) => before.next.set(Some(packet)),
        None => task.oldest.set(Some(packet)),
    }
}
