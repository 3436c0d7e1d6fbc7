//! The mission: lists of waypoints of changing length. It loads new lists, splits long ones, drops
//! those that the vehicle has flown and some that it has not, and tells the controller where to go.

use super::Signals;
use crate::fixed::{Fixed, Random};
use crate::load::Process;
use crate::memory::Memory;
use crate::port::{Object, Port, bytes_to_words, words_to_bytes};

/// Lists at once, one of which is the half of another while that is split.
const LISTS: usize = 12;

/// The fewest and the most waypoints of a list; the load may allow less. Bytes of one: x, y, z,
/// and their sum.
const WAYPOINTS: (u32, u32) = (4, 60);
const WAYPOINT_BYTES: usize = 16;

/// A list longer than this is split.
const SPLIT_ABOVE: usize = 24 * WAYPOINT_BYTES;

/// Releases after which a waypoint is given up.
const PATIENCE: u32 = 40;

/// Its lists: the first is flown.
#[derive(Debug)]
pub struct Mission<N> {
    lists: [Option<Object<N>>; LISTS],
    /// A list that is split, until the budget allows its free.
    spent: Option<Object<N>>,
    /// The most bytes of all lists.
    most_bytes: usize,
    /// The most waypoints of a list.
    waypoints: u32,
    /// The waypoint in the first list, and for how many releases the vehicle flies to it.
    at: usize,
    waited: u32,
    /// The last waypoint that was loaded.
    end: [Fixed; 3],
    random: Random,
    /// Waypoints that the vehicle reached.
    pub reached: u32,
}

impl<N> Mission<N> {
    /// A mission that begins three metres above the ground. Of its demand it keeps the longest
    /// object for the halves of a list that is split.
    pub const fn new(seed: u32, demand: &Process) -> Self {
        Self {
            lists: [const { None }; LISTS],
            spent: None,
            most_bytes: (demand.bytes - demand.longest) as usize,
            waypoints: demand.longest / WAYPOINT_BYTES as u32,
            at: 0,
            waited: 0,
            end: [Fixed::ZERO, Fixed::ZERO, Fixed::milli(3000)],
            random: Random::new(seed, 2),
            reached: 0,
        }
    }

    /// One release. What the budget denies is done in a later one.
    pub fn run<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>, signals: &mut Signals) {
        if port.clear(&mut self.spent) {
            self.change(port);
            self.load(port);
            self.split(port);
        }
        self.follow(port, signals);
    }

    /// The first place without a list.
    fn empty(&self) -> Option<usize> {
        self.lists.iter().position(Option::is_none)
    }

    fn bytes(&self) -> usize {
        self.lists.iter().flatten().map(Object::len).sum()
    }

    /// In one of four releases the end of the mission is dropped: another one will be loaded.
    fn change<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>) {
        let last = self.empty().unwrap_or(LISTS);
        if last > 1 && self.random.below(4) == 0 {
            port.clear(&mut self.lists[last - 1]);
        }
    }

    /// Loads a list if there is room for it.
    fn load<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>) {
        let (fewest, most) = WAYPOINTS;
        let more = self.waypoints.clamp(fewest, most) - fewest;
        let len = (fewest + self.random.below(more + 1)) as usize * WAYPOINT_BYTES;
        // Two places are left for a list that is split.
        let Some(place) = self.empty().filter(|place| place + 2 < LISTS) else {
            return;
        };
        if self.bytes() + len > self.most_bytes {
            return;
        }
        let Ok(mut list) = port.allocate(len) else {
            return;
        };
        for at in (0..len).step_by(WAYPOINT_BYTES) {
            let waypoint: [u8; WAYPOINT_BYTES] = words_to_bytes(self.next_waypoint());
            port.write(&mut list, at, &waypoint);
        }
        self.lists[place] = Some(list);
    }

    /// A waypoint not far from the last one.
    fn next_waypoint(&mut self) -> [i32; 4] {
        for (place, most) in self.end.iter_mut().zip([8000, 8000, 2000]) {
            let way = self.random.around_zero(Fixed::milli(2000));
            *place = (*place + way).within(Fixed::milli(most));
        }
        let [x, y, z] = self.end;
        let z = z + Fixed::milli(4000);
        [x.0, y.0, z.0, sum(x, y, z)]
    }

    /// Splits a list that is not flown yet into halves, each in an object of its own.
    fn split<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>) {
        let long =
            |list: &Option<Object<N>>| matches!(list, Some(list) if list.len() > SPLIT_ABOVE);
        let Some(number) = self.lists.iter().skip(1).position(long) else {
            return;
        };
        let Some(place) = self.empty() else { return };
        let Some(list) = self.lists[number + 1].take() else {
            return;
        };
        let half = list.len() / (2 * WAYPOINT_BYTES) * WAYPOINT_BYTES;
        let first = copy_of(port, &list, 0, half);
        let second = copy_of(port, &list, half, list.len() - half);
        match (first, second) {
            (Some(first), Some(second)) => {
                self.lists[number + 1] = Some(first);
                self.lists[place] = Some(second);
                self.spent = port.free(list).err();
            }
            (one, other) => {
                self.lists[number + 1] = Some(list);
                self.spent = one.or(other);
                port.clear(&mut self.spent);
            }
        }
    }

    /// Goes to the next waypoint when the vehicle has reached this one, and drops a list at its
    /// end.
    fn follow<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>, signals: &mut Signals) {
        let Some(list) = &self.lists[0] else { return };
        if self.at >= list.len() {
            if port.clear(&mut self.lists[0]) {
                self.lists.rotate_left(1);
                self.at = 0;
            }
            return;
        }
        let mut bytes = [0; WAYPOINT_BYTES];
        port.read(list, self.at, &mut bytes);
        let [x, y, z, check]: [i32; 4] = bytes_to_words(&bytes);
        let waypoint = [x, y, z].map(Fixed);
        let [x, y, z] = waypoint;
        port.verify(check == sum(x, y, z));
        signals.target = waypoint;
        let mut ways = waypoint.iter().zip(signals.known);
        let is_near = ways.all(|(&to, from)| (to - from).abs() < Fixed::milli(500));
        self.waited += 1;
        if is_near || self.waited > PATIENCE {
            self.reached += u32::from(is_near);
            self.at += WAYPOINT_BYTES;
            self.waited = 0;
        }
    }
}

/// A part of a list in an object of its own.
fn copy_of<M: Memory>(
    port: &mut Port<'_, M>,
    list: &Object<M::Name>,
    from: usize,
    len: usize,
) -> Option<Object<M::Name>> {
    let mut copy = port.allocate(len).ok()?;
    for at in (0..len).step_by(WAYPOINT_BYTES) {
        let mut bytes = [0; WAYPOINT_BYTES];
        port.read(list, from + at, &mut bytes);
        port.write(&mut copy, at, &bytes);
    }
    Some(copy)
}

fn sum(x: Fixed, y: Fixed, z: Fixed) -> i32 {
    x.0 ^ y.0.rotate_left(8) ^ z.0.rotate_left(16)
}
