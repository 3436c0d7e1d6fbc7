//! The thesis's experiments on recorded Java programs: what is counted, and the times against heap size and the number of lists.
//!
//! | file | holds | of the thesis |
//! | --- | --- | --- |
//! | `published` | the figures of the thesis that ours stand beside | |
//! | `recorded` | the programs, and what stands for what | table 4-1 |
//! | `heaps` | one replay; the heap in which most of several spaces complete | |
//! | `size_classes` | `gc-size-classes`: how many sizes most objects have | table 2-1 |
//! | `free_chunks` | `gc-free-chunks`: the free chunks after each collection | figures 2-9, 2-10, 3-3 |
//! | `table_updates` | `gc-table-updates`: how often the Next Hit Table changes | table 3-1 |
//! | `lists` | `gc-lists`: heap management time against the number of lists | figure 4-14 |
//! | `systems` | strategies by lookups by last lists | |
//! | `measured` | smallest heaps, and times in interleaved rounds: what the next two read | |
//! | `times` | `gc-times`: the three times against the heap's size, for every program | figures 4-1 to 4-13, A-1 to A-15 |
//! | `turn_around` | `gc-turn-around`: which strategy is best, without a table and with it | figures 4-11 to 4-13 |
//! | `visits` | `gc-visits`: visits an allocation, over a program's life | table 2-2, figure 3-1 |
//!
//! Everything but times is counted: the same run gives the same figures. Visits, and times by the size of the heap, are in `gc`.
//!
//! # What cannot be compared
//! The thesis ran the programs of SPECjvm98 in an interpreter of 32 bits; these are recordings of other programs of the same
//! kinds in a virtual machine of 64 bits, whose objects are longer and start at multiples of 8 bytes. So 256 lists end at
//! 1 KB there and at 2 KiB here. A claim about shares or about an order is tested; a claim about absolute numbers is tested
//! where its rule says that the programs are alike enough, and is not comparable elsewhere.
//!
//! # Source
//! The thesis on free-list organisation, chapters 2 to 4.

mod heaps;
mod measured;
mod published;
mod recorded;
mod systems;

pub(super) mod free_chunks;
pub(super) mod lists;
pub(super) mod size_classes;
pub(super) mod table_updates;
pub(super) mod times;
pub(super) mod turn_around;
pub(super) mod visits;
