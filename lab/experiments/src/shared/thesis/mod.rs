//! What the thesis's experiments on Java programs share; each of them is an experiment of its own.
//!
//! | module | holds | of the thesis |
//! | --- | --- | --- |
//! | `published` | the figures of the thesis that ours stand beside | |
//! | `java` | the programs on the Java machine, and what stands for what | table 4-1 |
//! | `heaps` | one run; smallest heaps, which heap sizes are multiples of | |
//! | `collecting` | a heap in which a program collects: where counts are taken | |
//! | `systems` | the two heaps: the thesis's one heap, and ours beside it | |
//!
//! | experiment | shows | of the thesis |
//! | --- | --- | --- |
//! | `gc-size-classes` | how many sizes most objects have | table 2-1 |
//! | `gc-free-chunks` | the free chunks after each collection | figures 2-9, 2-10, 3-3 |
//! | `gc-table-updates` | how often the Next Hit Table changes | table 3-1 |
//! | `gc-lists` | heap management time against the number of lists | figure 4-14 |
//! | `gc-times` | the three times against the heap's size, for every program | figures 4-1 to 4-13, A-1 to A-15 |
//! | `gc-visits` | visits per allocation, over a program's life | table 2-2, figure 3-1 |
//! | `gc-incremental` | the table under collectors in steps and with two generations, and in promotion | its predictions |
//!
//! Everything except times is counted: the same run gives the same figures.
//!
//! # What cannot be compared
//! The thesis ran the programs of SPECjvm98 in an interpreter of 32 bits; these are other programs
//! of the same kinds, in an interpreter whose words have 32 bits too. Chunks start at multiples of
//! 8 bytes here: so 256 lists end at 1 KB there and at 2 KiB here. A claim about shares or about an
//! order is tested; a claim about absolute numbers is tested where its rule says that the programs
//! are alike enough, and is not comparable elsewhere.
//!
//! # Source
//! The thesis on free-list organisation, chapters 2 to 4.

pub(crate) mod collecting;
pub(crate) mod heaps;
pub(crate) mod java;
pub(crate) mod published;
pub(crate) mod systems;
