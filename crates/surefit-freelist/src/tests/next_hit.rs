//! The Next Hit Table equals its definition after every change: all transitions of small tables,
//! many of large ones.

extern crate alloc;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{JUNK, Region};
use crate::counters::Counters;
use crate::lookup::Lookup;
use crate::memory::Memory;
use crate::next_hit_table::NextHitTable;

/// A table over heads of lists that no heap uses. A head other than 0 means a filled list.
struct Table<'m, const N: usize> {
    memory: Memory<'m>,
    table: NextHitTable,
    filled: BTreeSet<usize>,
}

impl<'m, const N: usize> Table<'m, N> {
    fn new(region: &'m mut Region<32768>) -> Self {
        let mut memory = Memory::new(&mut region.0).expect("a small region");
        let table = <NextHitTable as Lookup<N>>::new(&mut memory);
        (0..N).for_each(|list| Self::set_head(&mut memory, list, 0));
        Self {
            memory,
            table,
            filled: BTreeSet::new(),
        }
    }

    fn set_head(memory: &mut Memory<'_>, list: usize, chunk: u32) {
        memory.set(<NextHitTable as Lookup<N>>::head(list as u32), chunk);
    }

    /// Fills a list without updating the table.
    fn put(&mut self, list: usize) {
        self.filled.insert(list);
        Self::set_head(&mut self.memory, list, 1);
    }

    /// Empties a list without updating the table.
    fn take(&mut self, list: usize) {
        self.filled.remove(&list);
        Self::set_head(&mut self.memory, list, 0);
    }

    fn on_filled(&mut self, list: usize) {
        Lookup::<N>::fill(&mut self.table, &mut self.memory, list as u32, true);
    }

    fn on_emptied(&mut self, list: usize) {
        Lookup::<N>::drain(&mut self.table, &mut self.memory, list as u32, true);
    }

    /// Fills an empty list or empties a filled one, and updates the table.
    fn toggle(&mut self, list: usize) {
        if self.filled.contains(&list) {
            self.take(list);
            self.on_emptied(list);
        } else {
            self.put(list);
            self.on_filled(list);
        }
    }

    fn rebuild(&mut self) {
        Lookup::<N>::rebuild(&mut self.table, &mut self.memory);
    }

    /// The definition: the least filled list from `t` on, else `N`.
    fn definition(&self, t: usize) -> u32 {
        self.filled.range(t..).next().map_or(N, |&list| list) as u32
    }

    fn assert_as_defined(&mut self) {
        for t in 0..=N {
            let entry = NextHitTable::entry::<N>(&self.memory, t);
            assert_eq!(
                entry,
                self.definition(t),
                "t = {t}, filled {:?}",
                self.filled
            );
        }
        let sound = Lookup::<N>::check(&self.table, &self.memory);
        assert_eq!(sound, Ok(()));
    }

    /// Every list that was filled and not emptied since is filled, whoever counted it.
    fn assert_counts_add_up(&self) {
        let counters = self.counters();
        let fills = counters.table_fills + counters.table_rebuilt_fills;
        let drains = counters.table_updates - counters.table_fills + counters.table_rebuilt_drains;
        assert_eq!(fills - drains, self.filled.len() as u64, "{counters:?}");
    }

    fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        Lookup::<N>::count(&self.table, &mut counters);
        counters
    }

    /// The number of entries that a change of this list must write: those after the last filled
    /// list below it.
    fn affected(&self, list: usize) -> u64 {
        let below = self.filled.range(..list).next_back();
        (below.map_or(list + 1, |&p| list - p)) as u64
    }
}

/// Each of the N transitions from each of the 2^N states, and back.
fn all_transitions<const N: usize>() {
    let mut region = Region([JUNK; 32768]);
    let mut table = Table::<N>::new(&mut region);
    table.assert_as_defined();
    for state in 0..1_u32 << N {
        for list in 0..N {
            match state >> list & 1 {
                0 => table.take(list),
                _ => table.put(list),
            }
        }
        let before = table.counters();
        table.rebuild();
        table.assert_as_defined();
        let after = table.counters();
        // Until this state, the table was that of the state before.
        let last = state.saturating_sub(1);
        let fills = after.table_rebuilt_fills - before.table_rebuilt_fills;
        let drains = after.table_rebuilt_drains - before.table_rebuilt_drains;
        assert_eq!(fills, u64::from((state & !last).count_ones()));
        assert_eq!(drains, u64::from((last & !state).count_ones()));
        assert_eq!(after.table_updates, before.table_updates);
        for list in 0..N {
            for _there_and_back in 0..2 {
                let before = table.counters();
                table.toggle(list);
                table.assert_as_defined();
                let after = table.counters();
                assert_eq!(after.table_updates - before.table_updates, 1);
                let fills = u64::from(table.filled.contains(&list));
                assert_eq!(after.table_fills - before.table_fills, fills);
                let stores = after.table_stores - before.table_stores;
                assert_eq!(stores, table.affected(list), "no more entries than change");
            }
        }
    }
    assert_eq!(table.counters().table_rebuilds, 1 << N);
    table.assert_counts_add_up();
}

#[test]
fn every_transition_of_every_state_of_tables_to_12_lists_is_as_defined() {
    all_transitions::<1>();
    all_transitions::<2>();
    all_transitions::<3>();
    all_transitions::<4>();
    all_transitions::<5>();
    all_transitions::<6>();
    all_transitions::<7>();
    all_transitions::<8>();
    all_transitions::<9>();
    all_transitions::<10>();
    all_transitions::<11>();
    all_transitions::<12>();
}

/// An allocation empties list F and its remainder fills list R: four events, in every order that
/// keeps each pair.
#[test]
fn lists_and_table_may_change_in_either_order() {
    const N: usize = 6;
    for state in 0..1_u32 << N {
        for (emptied, filled) in (0..N).flat_map(|f| (0..f).map(move |r| (f, r))) {
            if state >> emptied & 1 == 0 || state >> filled & 1 == 1 {
                continue;
            }
            for order in 0..4 {
                let mut region = Region([JUNK; 32768]);
                let mut table = Table::<N>::new(&mut region);
                (0..N)
                    .filter(|list| state >> list & 1 == 1)
                    .for_each(|list| table.toggle(list));
                match order {
                    0 => [emptied, filled].map(|list| table.toggle(list)),
                    1 => [filled, emptied].map(|list| table.toggle(list)),
                    _ => {
                        table.take(emptied);
                        table.put(filled);
                        match order {
                            2 => (table.on_emptied(emptied), table.on_filled(filled)).into(),
                            _ => (table.on_filled(filled), table.on_emptied(emptied)).into(),
                        }
                    }
                };
                table.assert_as_defined();
            }
        }
    }
}

#[test]
fn filling_a_filled_list_again_changes_nothing() {
    let mut region = Region([JUNK; 32768]);
    let mut table = Table::<12>::new(&mut region);
    for list in [3, 11, 0, 7] {
        table.toggle(list);
        table.on_filled(list);
        table.assert_as_defined();
    }
}

#[test]
fn the_worst_case_writes_an_entry_for_every_list_below() {
    let mut region = Region([JUNK; 32768]);
    let mut table = Table::<4096>::new(&mut region);
    for round in 1..=10 {
        table.toggle(4095);
        assert_eq!(table.counters().table_stores, round * 4096);
    }
}

#[test]
fn the_checker_objects_to_every_wrong_entry() {
    fn every_byte<const N: usize>() {
        let mut region = Region([JUNK; 32768]);
        let mut table = Table::<N>::new(&mut region);
        let _ = [1, 5, N / 2, N - 1].map(|list| table.toggle(list));
        let first = crate::chunk::NOBODYS_WORDS * 4;
        for byte in first..first + <NextHitTable as Lookup<N>>::WORDS * 4 {
            let sound = table.memory.get_byte(byte);
            for wrong in (0..=u8::MAX).filter(|&wrong| wrong != sound) {
                table.memory.set_byte(byte, wrong);
                let found = Lookup::<N>::check(&table.table, &table.memory);
                assert_eq!(found.expect_err("N1").invariant, "N1", "byte {byte}");
            }
            table.memory.set_byte(byte, sound);
        }
        table.assert_as_defined();
    }
    every_byte::<16>();
    every_byte::<255>();
    every_byte::<256>();
    every_byte::<300>();
}

/// Toggles lists, mostly near each other. From time to time lists change without updates, and the
/// table is rebuilt.
fn long_sequence<const N: usize>(changes: &[(u16, u8)]) {
    let mut region = Region([JUNK; 32768]);
    let mut table = Table::<N>::new(&mut region);
    for (n, &(list, kind)) in changes.iter().enumerate() {
        let list = usize::from(list) % N;
        match kind {
            0..8 => {
                let unseen: Vec<_> = (list..N)
                    .step_by(usize::from(kind) * 5 + 1)
                    .take(40)
                    .collect();
                unseen.iter().for_each(|&list| table.put(list));
                (list / 2..list).for_each(|list| table.take(list));
                table.rebuild();
            }
            8..64 => [list, (list + 1) % N, (list + 2) % N]
                .into_iter()
                .for_each(|list| table.toggle(list)),
            _ => table.toggle(list),
        }
        if N < 1000 || n % 16 == 0 || kind < 8 {
            table.assert_as_defined();
        }
    }
    table.assert_as_defined();
    table.assert_counts_add_up();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn long_sequences_keep_large_tables_as_defined(
        changes in prop::collection::vec(any::<(u16, u8)>(), 0..300)
    ) {
        long_sequence::<17>(&changes);
        long_sequence::<64>(&changes);
        long_sequence::<255>(&changes);
        long_sequence::<256>(&changes);
        long_sequence::<4096>(&changes);
    }
}
