//! 48 threads send each other collections and strings, in waves: most objects end in another thread
//! than the one that made them.
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }
}

enum Parcel {
    Text(String),
    Bytes(Vec<u8>),
    Map(BTreeMap<u64, String>),
    Nested(Vec<Box<[u16]>>),
    Shared(Arc<Vec<u64>>),
}

#[repr(align(256))]
struct Wide([u64; 4]);

fn parcel(chance: &mut Chance) -> Parcel {
    let n = chance.below(60);
    match chance.below(5) {
        0 => Parcel::Text("t".repeat((n * n) as usize)),
        1 => Parcel::Bytes((0..n * 200).map(|i| i as u8).collect()),
        2 => Parcel::Map((0..n).map(|i| (i, i.to_string())).collect()),
        3 => Parcel::Nested((0..n).map(|i| vec![i as u16; i as usize].into_boxed_slice()).collect()),
        _ => Parcel::Shared(Arc::new((0..n).collect())),
    }
}

fn weight(parcel: &Parcel) -> u64 {
    match parcel {
        Parcel::Text(text) => text.len() as u64,
        Parcel::Bytes(bytes) => bytes.iter().map(|b| u64::from(*b)).sum(),
        Parcel::Map(map) => map.values().map(|text| text.len() as u64).sum(),
        Parcel::Nested(lists) => lists.iter().flat_map(|list| list.iter()).map(|n| u64::from(*n)).sum(),
        Parcel::Shared(list) => list.iter().sum(),
    }
}

/// One thread: makes parcels for its neighbour, and weighs and drops those that it is sent.
fn work(seed: u64, to: mpsc::Sender<Parcel>, from: mpsc::Receiver<Parcel>, kept: Arc<Mutex<VecDeque<Parcel>>>) -> (u64, u64) {
    let mut chance = Chance(seed);
    let (mut made, mut weighed) = (0, 0);
    let mut table: HashMap<u64, Box<Wide>> = HashMap::new();
    for turn in 0..3000u64 {
        let parcel = parcel(&mut chance);
        made += weight(&parcel);
        to.send(parcel).expect("the neighbour is there");
        weighed += from.try_iter().map(|parcel| weight(&parcel)).sum::<u64>();
        let wide = Box::new(Wide([turn; 4]));
        assert_eq!(&*wide as *const Wide as usize % 256, 0);
        table.insert(chance.below(50), wide);
        if turn % 16 == 0 {
            let mut kept = kept.lock().expect("no thread panics");
            kept.push_back(self::parcel(&mut chance));
            if kept.len() > 500 {
                kept.pop_front();
            }
        }
    }
    drop(to);
    weighed += from.iter().map(|parcel| weight(&parcel)).sum::<u64>();
    assert!(table.values().all(|wide| wide.0[0] == wide.0[3]));
    (made, weighed)
}

fn wave(number: u64, kept: &Arc<Mutex<VecDeque<Parcel>>>) -> (u64, u64) {
    let count = 48;
    let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel()).unzip();
    senders.rotate_left(1);
    let threads: Vec<_> = (0..count)
        .map(|i| (i, senders.remove(0), receivers.remove(0), Arc::clone(kept)))
        .map(|(i, to, from, kept)| thread::spawn(move || work(number * 1000 + i, to, from, kept)))
        .collect();
    let sums = threads.into_iter().map(|thread| thread.join().expect("no thread panics"));
    sums.fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
}

fn main() {
    if std::env::args().count() > 1 {
        return println!("{}", "short".to_string());
    }
    let kept = Arc::new(Mutex::new(VecDeque::new()));
    for number in 0..4 {
        let (made, weighed) = wave(number, &kept);
        assert_eq!(made, weighed, "what was weighed is not what was made");
        println!("wave {number}: {made}");
    }
    let panicked = thread::spawn(|| panic_quietly()).join().is_err();
    println!("panicked: {panicked}, kept: {}", kept.lock().expect("no thread panics").len());
}

fn panic_quietly() {
    std::panic::set_hook(Box::new(|_| ()));
    let text = "x".repeat(1000);
    panic!("{}", text);
}
