//! The allocators there are: one line each.

use std::mem::MaybeUninit;

use anyhow::{Result, bail};
use surefit_core::Refused;

use crate::sizes::HeapSize;
use crate::spec::Keys;
use crate::steps::Steps;
use crate::subject::{Allocator, Certified, HandleCost, Pass};
use crate::subjects::{
    block_table, compact, dlmalloc, jamaica, raw, rlsf, segregated, sharded, shared, system, talc,
};

macro_rules! registry {
    ($($name:literal $kind:ident $allocator:ty, $what:literal;)*) => {
        /// An allocator of the registry, configured.
        #[derive(Clone, Debug)]
        pub enum Kind {
            $(#[doc = $what] $kind(<$allocator as Allocator>::Options),)*
        }

        /// Every allocator: its name, its keys, and what it is.
        pub const ENTRIES: &[Entry] = &[
            $(Entry { name: $name, keys: <$allocator>::KEYS, what: $what },)*
        ];

        /// Reads a name and its keys.
        ///
        /// # Errors
        /// Lists the names or keys there are.
        pub fn parse(name: &str, keys: &Keys) -> Result<Kind> {
            match name {
                $($name => {
                    keys.only(<$allocator>::KEYS)?;
                    Ok(Kind::$kind(<$allocator>::options(keys)?))
                })*
                _ => bail!("there is no such allocator: known are {}", names()),
            }
        }

        impl Kind {
            /// Builds the allocator over a region and runs a pass with it.
            ///
            /// # Errors
            /// The region is too small for the allocator's own tables, or too large for it.
            pub fn run<P: Pass>(
                &self,
                memory: &mut [MaybeUninit<u8>],
                pass: P,
            ) -> Result<P::Output, Refused> {
                match self {
                    $(Self::$kind(options) => <$allocator>::run(options, memory, pass),)*
                }
            }

            /// What is proven about every program with this trace's demand.
            pub fn certified(&self, steps: &Steps) -> Option<Certified> {
                match self {
                    $(Self::$kind(options) => <$allocator>::certified(options, steps),)*
                }
            }

            /// The bytes of the region it is given, if the user asks for `heap`: no more than it can use.
            pub fn heap_bytes(&self, heap: HeapSize, steps: &Steps) -> usize {
                let most = match self {
                    $(Self::$kind(options) => <$allocator>::most_bytes(options),)*
                };
                heap.bytes(steps.peak_live_bytes).min(most)
            }

            /// Refuses a trace that would take hours to replay.
            ///
            /// # Errors
            /// One line that says what takes so long, and what to leave out.
            pub fn bearable(&self, steps: &Steps) -> Result<()> {
                match self {
                    $(Self::$kind(options) => <$allocator>::bearable(options, steps),)*
                }
            }

            /// What its handles cost; `None` if it hands out raw pointers.
            pub fn handles(&self) -> Option<HandleCost> {
                match self {
                    $(Self::$kind(options) => <$allocator>::handles(options),)*
                }
            }

            /// Whether it lives in a region of a given size.
            pub fn in_region(&self) -> bool {
                match self {
                    $(Self::$kind(_) => <$allocator>::IN_REGION,)*
                }
            }
        }
    };
}

registry! {
    "cf" Cf compact::Cf, "Compact-fit: handles, moves, a bound on fragmentation";
    "cf-direct" CfDirect compact::CfDirect, "Compact-fit without moves: raw pointers";
    "cf-block-table" CfBlockTable block_table::CfBlockTable, "Compact-fit without copies: frames behind a block table";
    "1-cf" OneCf shared::OneCf, "concurrent Compact-fit: one heap for many threads";
    "n-cf" NCf sharded::NCf, "concurrent Compact-fit: an instance for every so many threads";
    "first-fit" FirstFit raw::OurFirstFit, "one free list, first chunk that fits";
    "best-fit" BestFit raw::OurBestFit, "one free list, best chunk that fits";
    "worst-fit" WorstFit raw::OurWorstFit, "one free list, largest chunk";
    "next-fit" NextFit raw::OurNextFit, "one free list, first chunk that fits after the last one that did";
    "tree-fit" TreeFit raw::OurTreeFit, "best fit by a balanced tree of all free chunks";
    "segregated" Segregated segregated::OurSegregated, "a free list for every small size, and a last list";
    "half-fit" HalfFit raw::OurHalfFit, "a free list for every power of two, immediate coalescing";
    "buddy" Buddy raw::OurBuddy, "the binary buddy system";
    "jamaica" Jamaica jamaica::OurJamaica, "blocks of one size, objects as trees or lists of them";
    "dl" Dl dlmalloc::Dlmalloc, "DL, Doug Lea's malloc: the dlmalloc crate in one region";
    "tlsf" Tlsf raw::OurTlsf, "two-level segregated fit, immediate coalescing";
    "peer-rlsf" PeerRlsf rlsf::Rlsf, "the rlsf crate in one region";
    "peer-talc" PeerTalc talc::Talc, "the talc crate in one region";
    "peer-dlmalloc" PeerDlmalloc dlmalloc::Dlmalloc, "the dlmalloc crate in one region";
    "system" System system::System, "the platform's malloc";
}

/// One allocator of the registry, described.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its keys, as `key=values`.
    pub keys: &'static [&'static str],
    /// What it is.
    pub what: &'static str,
}

/// All names, for messages.
fn names() -> String {
    let names: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
    format!("{}, preload:PATH", names.join(", "))
}

/// A table of all allocators and their keys, for `--help`.
#[must_use]
pub fn help() -> String {
    let mut text = String::from("Allocators (name[:key=value,…]):\n");
    for Entry { name, keys, what } in ENTRIES {
        let keys = if keys.is_empty() {
            String::new()
        } else {
            format!(" [{}]", keys.join(", "))
        };
        text += &format!("  {name:<14} {what}{keys}\n");
    }
    text += "  preload:PATH   any malloc library, preloaded in a child process\n";
    text
}
