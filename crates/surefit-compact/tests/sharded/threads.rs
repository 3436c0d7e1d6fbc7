//! Threads that free what others have inserted. They do fixed amounts of work, and at the end
//! everything is free.

use std::sync::Mutex;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::Handle;
use surefit_compact::shared::{PerClass, PerHeap, SharedConfig, Stepwise};

use super::{Heap, bounds, config, is_empty, region};

const THREADS: usize = 4;
const ROUNDS: usize = 3000;

enum Object {
    Small(Handle<[u32; 5]>, u32),
    Large(Handle<[u32; 300]>, u32),
}

/// One thread: inserts, reads, and frees its own objects or those that others have handed over.
fn work<G: Stepwise>(
    heap: &Heap<'_, G>,
    mailboxes: &[Mutex<Vec<Object>>],
    me: usize,
    foreign: f64,
) {
    let local = heap.register().unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(me as u64);
    let mut own: Vec<Object> = Vec::new();
    let free = |object| match object {
        Object::Small(mut handle, word) => {
            heap.pin_mut(&mut handle).unwrap()[4] += 1;
            assert_eq!(
                local.remove(handle).unwrap(),
                [word, word, word, word, word + 1]
            );
        }
        Object::Large(handle, word) => {
            assert_eq!(*heap.pin(&handle).unwrap(), [word; 300]);
            local.free(handle).unwrap();
        }
    };
    for _ in 0..ROUNDS {
        let word = random.random_range(0..1 << 30);
        own.push(if random.random_bool(0.8) {
            Object::Small(local.insert([word; 5]).unwrap(), word)
        } else {
            Object::Large(local.insert([word; 300]).unwrap(), word)
        });
        if own.len() < 60 {
            continue;
        }
        let object = own.swap_remove(random.random_range(0..own.len()));
        if random.random_bool(foreign) {
            mailboxes[(me + 1) % THREADS].lock().unwrap().push(object);
        } else {
            free(object);
        }
        let arrived = core::mem::take(&mut *mailboxes[me].lock().unwrap());
        arrived.into_iter().for_each(free);
    }
    own.into_iter().for_each(free);
}

fn stress<G: Stepwise>(config: &SharedConfig<G>, instances: u16, foreign: f64) {
    let size = 8 << 20;
    let mut memory = region(size);
    let heap: Heap<'_, G> = Heap::new(&mut memory, config, instances).unwrap();
    let mailboxes: Vec<Mutex<Vec<Object>>> = (0..THREADS).map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for me in 0..THREADS {
            let (heap, mailboxes) = (&heap, &mailboxes);
            scope.spawn(move || work(heap, mailboxes, me, foreign));
        }
    });
    // What arrived after its receiver had left.
    let local = heap.register().unwrap();
    for object in mailboxes
        .into_iter()
        .flat_map(|mailbox| mailbox.into_inner().unwrap())
    {
        match object {
            Object::Small(handle, word) => assert_eq!(local.remove(handle).unwrap(), [word; 5]),
            Object::Large(handle, word) => assert_eq!(local.remove(handle).unwrap(), [word; 300]),
        }
    }
    drop(local);
    heap.check(true).unwrap();
    is_empty(&heap, size);
}

#[test]
fn everything_comes_back_from_many_threads() {
    for bound in bounds() {
        for foreign in [0.0, 0.1, 0.5] {
            stress(&config::<PerClass>(bound), 4, foreign);
            stress(&config::<PerClass>(bound), 2, foreign);
        }
        stress(&config::<PerHeap>(bound), 4, 0.5);
        let stepwise = config::<PerClass>(bound).with_increment(64).unwrap();
        stress(&stepwise, 2, 0.5);
    }
}
