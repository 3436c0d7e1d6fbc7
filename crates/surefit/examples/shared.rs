//! One heap for four threads: what one inserts another reads and frees, and the heap stays within
//! its bound.

use std::error::Error;
use std::mem::MaybeUninit;
use std::sync::mpsc;
use std::thread;

use surefit::compact::shared::{SharedConfig, SharedHeap};
use surefit::compact::{Config, Handle};

type Heap<'m> = SharedHeap<'m, parking_lot::RawMutex>;

/// A message on its way from one thread to another.
type Message = Handle<[u64; 12]>;

const MESSAGES: u64 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    // Moves in steps of 64 bytes: nobody waits for more than that to be copied.
    let config = SharedConfig::new(Config::DEFAULT).with_increment(64)?;
    let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
    let heap = Heap::new(&mut memory, &config)?;
    let sums = thread::scope(|threads| {
        let (sender, receiver) = mpsc::sync_channel::<Message>(256);
        let heap = &heap;
        let senders = (0..3_u64).map(|number| {
            let sender = sender.clone();
            threads.spawn(move || send(heap, number, &sender))
        });
        let senders: Vec<_> = senders.collect();
        drop(sender);
        let received = threads.spawn(move || receive(heap, &receiver));
        let sent: u64 = senders
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .sum();
        (sent, received.join().expect("no panic"))
    });
    assert_eq!(sums.0, sums.1, "every message arrived as it was sent");
    let stats = heap.stats();
    println!(
        "{} messages, {} moves in {} steps, at most {} bytes copied under a lock",
        3 * MESSAGES,
        stats.moves_total,
        stats.steps_total,
        stats.copied_in_section_max
    );
    assert_eq!(stats.live_blocks, 0);
    Ok(())
}

/// Sends messages; returns the sum of what is in them.
fn send(heap: &Heap<'_>, number: u64, sender: &mpsc::SyncSender<Message>) -> u64 {
    let local = heap
        .register()
        .expect("four threads are registered, sixteen may be");
    let mut sum = 0;
    for i in 0..MESSAGES {
        let value = number * MESSAGES + i;
        let message = local
            .insert([value; 12])
            .expect("the channel bounds what is live");
        sum += value;
        if sender.send(message).is_err() {
            break;
        }
    }
    sum
}

/// Reads and frees messages; returns the sum of what is in them.
fn receive(heap: &Heap<'_>, receiver: &mpsc::Receiver<Message>) -> u64 {
    let local = heap
        .register()
        .expect("four threads are registered, sixteen may be");
    let mut sum = 0;
    for message in receiver {
        sum += heap.pin(&message).expect("ours")[11];
        local.free(message).expect("ours");
    }
    sum
}
