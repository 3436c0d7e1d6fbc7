//! What the table costs in bytes: "some KB".

use surefit_clients::lists::{Choice, Finds, Lists};
use surefit_core::RawHeap;
use surefit_freelist::{Coalescing, Heap, LastList, Lookup, Segregated, When};

use crate::kit::{Claim, Table};

/// Some KB: less than ten of 1024 bytes.
const SOME_KB: usize = 10 << 10;

/// The numbers of lists.
const COUNTS: [u32; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/// A region that has room for all tables.
const REGION: usize = 1 << 16;

/// A number of lists, and the bytes of a heap that holds nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Empty {
    lists: u32,
    /// Heads without a table.
    scan: usize,
    /// Heads and the table.
    table: usize,
}

impl Empty {
    const fn table_bytes(&self) -> usize {
        self.table.saturating_sub(self.scan)
    }
}

/// Makes an empty heap and measures its tables.
struct Administrative;

impl Choice for Administrative {
    type Output = usize;

    fn of<
        L: Lookup<N> + 'static,
        C: Coalescing + 'static,
        T: LastList + 'static,
        const N: usize,
    >(
        self,
    ) -> usize {
        let mut region = vec![std::mem::MaybeUninit::uninit(); REGION];
        let heap = Heap::<Segregated<L, C, T, N>>::new(&mut region);
        heap.map_or(0, |heap| heap.usage().administrative_bytes)
    }
}

pub(super) fn measured() -> [Empty; 9] {
    COUNTS.map(|count| {
        let of = |finds| {
            let lists = Lists {
                count,
                ..Lists::usual(finds, When::Immediate)
            };
            lists.choose(Administrative)
        };
        Empty {
            lists: count,
            scan: of(Finds::Scan),
            table: of(Finds::NextHitTable),
        }
    })
}

pub(super) fn table(all: &[Empty]) -> Table {
    Table::of(
        "bytes of an empty heap's tables: heads alone, and with the Next Hit Table",
        all,
    )
    .figure("lists", 0, |empty| empty.lists)
    .figure("heads B", 0, |empty| empty.scan as u64)
    .figure("with the table B", 0, |empty| empty.table as u64)
    .figure("the table B", 0, |empty| empty.table_bytes() as u64)
    .table()
}

pub(super) fn claim(all: &[Empty]) -> Claim {
    let most = all.iter().max_by_key(|empty| empty.table_bytes());
    let usual = all.iter().find(|empty| empty.lists == Lists::USUAL_COUNT);
    let both = most.zip(usual);
    Claim::that("the table costs some KB")
        .of("table space")
        .papers("some KB")
        .measured(both.map(|(most, usual)| {
            format!(
                "{} B for {} lists, {} B for {}",
                usual.table_bytes(),
                usual.lists,
                most.table_bytes(),
                most.lists
            )
        }))
        .decide(
            most.map(|most| most.table_bytes() < SOME_KB),
            format!(
                "an empty heap with the table less one without, for every number of lists; below \
                 {} KiB is some",
                SOME_KB >> 10
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::{Empty, claim, measured};
    use crate::kit::Verdict;

    #[test]
    fn a_table_has_one_or_two_bytes_per_list() {
        for empty in measured() {
            let entry = if empty.lists < 256 { 1 } else { 2 };
            let bytes = (empty.lists as usize + 1) * entry;
            assert!(
                (bytes..bytes + 16).contains(&empty.table_bytes()),
                "{empty:?}"
            );
        }
        assert_eq!(claim(&measured()).verdict, Verdict::Holds);
    }

    #[test]
    fn a_large_table_refutes_it() {
        let large = Empty {
            lists: 256,
            scan: 1000,
            table: 20_000,
        };
        assert_eq!(claim(&[large]).verdict, Verdict::DoesNot);
        assert_eq!(claim(&[]).verdict, Verdict::NotComparable);
    }
}
