//! Segregated lists by their four parameters as values: lookup × coalescing × last list × number of
//! lists.
//!
//! In [`surefit_freelist`] the parameters are types, so that they cost nothing at run time. A
//! laboratory reads them from a command line. This module is their one vocabulary, and has the one
//! dispatch from values to types: [`Lists::choose`].

use std::fmt;

use surefit_freelist::{
    Bitmap, Coalescing, Deferred, Immediate, LastList, Linear, Lookup, Never, NextHitTable, Scan,
    Tree, When,
};

/// How segregated lists are organised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lists {
    /// How a list that holds a chunk is found.
    pub finds: Finds,
    /// When free neighbours are merged.
    pub merges: When,
    /// Whether the last list is a tree. If not, it is searched from end to end.
    pub is_tree: bool,
    /// The number of lists beside the last one: a power of two from 16 to 4096.
    pub count: u32,
}

/// How a list that holds a chunk is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// One head after the other.
    Scan,
    /// The Next Hit Table.
    NextHitTable,
    /// A bitmap.
    Bitmap,
}

/// The policies of coalescing, from the least merging to the most.
pub const MERGES: [When; 3] = [When::Never, When::Deferred, When::Immediate];

/// The name of a policy, which is also its key.
#[must_use]
pub const fn merges_name(when: When) -> &'static str {
    match when {
        When::Never => "never",
        When::Deferred => "deferred",
        When::Immediate => "immediate",
    }
}

impl Finds {
    /// All values: the two of the thesis, and ours.
    pub const ALL: [Self; 3] = [Self::Scan, Self::NextHitTable, Self::Bitmap];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::NextHitTable => "table",
            Self::Bitmap => "bitmap",
        }
    }

    /// The value of the key `index`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::NextHitTable => "nht",
            Self::Bitmap => "bitmap",
        }
    }
}

/// An action for lists of one type.
pub trait Choice {
    /// The result of the action.
    type Output;

    /// Performs the action for lists of this type.
    fn of<L: Lookup<N> + 'static, C: Coalescing + 'static, T: LastList + 'static, const N: usize>(
        self,
    ) -> Self::Output;
}

impl Lists {
    /// The largest number of lists in the thesis.
    pub const USUAL_COUNT: u32 = 256;

    /// The numbers of lists that [`Lists::choose_usual`] has only in two kinds; it has 256 in all
    /// kinds.
    pub const ONLY_TWO_KINDS: [u32; 8] = [16, 32, 64, 128, 512, 1024, 2048, 4096];

    /// 256 lists, and a tree for the last one.
    #[must_use]
    pub const fn usual(finds: Finds, merges: When) -> Self {
        Self {
            finds,
            merges,
            is_tree: true,
            count: Self::USUAL_COUNT,
        }
    }

    /// How the last list is organised: the value of the key `last`.
    #[must_use]
    pub const fn last(self) -> &'static str {
        if self.is_tree { "tree" } else { "linear" }
    }

    /// Performs an action for the type of these lists, one of 162. An unknown number of lists
    /// counts as 256.
    pub fn choose<C: Choice>(self, choice: C) -> C::Output {
        match self.count {
            16 => self.with_lookup::<C, 16>(choice),
            32 => self.with_lookup::<C, 32>(choice),
            64 => self.with_lookup::<C, 64>(choice),
            128 => self.with_lookup::<C, 128>(choice),
            512 => self.with_lookup::<C, 512>(choice),
            1024 => self.with_lookup::<C, 1024>(choice),
            2048 => self.with_lookup::<C, 2048>(choice),
            4096 => self.with_lookup::<C, 4096>(choice),
            _ => self.with_lookup::<C, 256>(choice),
        }
    }

    /// The lists that [`Lists::choose_usual`] chooses for these: themselves, unless their number is
    /// one of [`Lists::ONLY_TWO_KINDS`]. Then they are merged at once, and are the thesis's (the
    /// Next Hit Table, the last list searched from end to end) or, without that table, ours (a
    /// bitmap, a tree).
    #[must_use]
    pub fn to_usual(self) -> Self {
        if !Self::ONLY_TWO_KINDS.contains(&self.count) {
            return self;
        }
        let is_table = self.finds == Finds::NextHitTable;
        Self {
            finds: if is_table { self.finds } else { Finds::Bitmap },
            merges: When::Immediate,
            is_tree: !is_table,
            count: self.count,
        }
    }

    /// As [`Lists::choose`] of [`Lists::to_usual`], but compiled for 34 types.
    pub fn choose_usual<C: Choice>(self, choice: C) -> C::Output {
        match self.count {
            16 => self.of_two_kinds::<C, 16>(choice),
            32 => self.of_two_kinds::<C, 32>(choice),
            64 => self.of_two_kinds::<C, 64>(choice),
            128 => self.of_two_kinds::<C, 128>(choice),
            512 => self.of_two_kinds::<C, 512>(choice),
            1024 => self.of_two_kinds::<C, 1024>(choice),
            2048 => self.of_two_kinds::<C, 2048>(choice),
            4096 => self.of_two_kinds::<C, 4096>(choice),
            _ => self.with_lookup::<C, 256>(choice),
        }
    }

    /// As [`Lists::choose`], but compiled for six types: 256 lists with a tree as the last one,
    /// merged late or at once. Lists that are never merged count as merged late.
    pub fn choose_merging<C: Choice>(self, choice: C) -> C::Output {
        match self.finds {
            Finds::Scan => self.merging::<C, Scan>(choice),
            Finds::NextHitTable => self.merging::<C, NextHitTable>(choice),
            Finds::Bitmap => self.merging::<C, Bitmap>(choice),
        }
    }

    fn merging<C: Choice, L: Lookup<256> + 'static>(self, choice: C) -> C::Output {
        match self.merges {
            When::Never | When::Deferred => choice.of::<L, Deferred, Tree, 256>(),
            When::Immediate => choice.of::<L, Immediate, Tree, 256>(),
        }
    }

    fn of_two_kinds<C: Choice, const N: usize>(self, choice: C) -> C::Output {
        if self.finds == Finds::NextHitTable {
            choice.of::<NextHitTable, Immediate, Linear, N>()
        } else {
            choice.of::<Bitmap, Immediate, Tree, N>()
        }
    }

    fn with_lookup<C: Choice, const N: usize>(self, choice: C) -> C::Output {
        match self.finds {
            Finds::Scan => self.with_coalescing::<C, Scan, N>(choice),
            Finds::NextHitTable => self.with_coalescing::<C, NextHitTable, N>(choice),
            Finds::Bitmap => self.with_coalescing::<C, Bitmap, N>(choice),
        }
    }

    fn with_coalescing<C: Choice, L: Lookup<N> + 'static, const N: usize>(
        self,
        choice: C,
    ) -> C::Output {
        match self.merges {
            When::Never => self.with_last::<C, L, Never, N>(choice),
            When::Deferred => self.with_last::<C, L, Deferred, N>(choice),
            When::Immediate => self.with_last::<C, L, Immediate, N>(choice),
        }
    }

    fn with_last<C: Choice, L: Lookup<N> + 'static, M: Coalescing + 'static, const N: usize>(
        self,
        choice: C,
    ) -> C::Output {
        if self.is_tree {
            choice.of::<L, M, Tree, N>()
        } else {
            choice.of::<L, M, Linear, N>()
        }
    }
}

impl fmt::Display for Lists {
    /// The name of the allocator with these lists.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (index, merges, last) = (self.finds.key(), merges_name(self.merges), self.last());
        let lists = self.count;
        write!(
            f,
            "segregated:index={index},coalesce={merges},lists={lists},last={last}"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::any::type_name;

    use surefit_freelist::{Coalescing, LastList, Lookup, When};

    use super::{Choice, Finds, Lists, MERGES};

    struct Names;

    impl Choice for Names {
        type Output = String;

        fn of<L: Lookup<N>, C: Coalescing, T: LastList, const N: usize>(self) -> String {
            let names = [type_name::<L>(), type_name::<C>(), type_name::<T>()];
            let last = names.map(|name| name.rsplit("::").next().unwrap_or(name));
            format!("{} {N}", last.join(" "))
        }
    }

    fn all() -> impl Iterator<Item = Lists> {
        let counts = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
        let kinds = Finds::ALL
            .into_iter()
            .flat_map(|finds| MERGES.map(|merges| (finds, merges)));
        kinds.flat_map(move |(finds, merges)| {
            counts.into_iter().flat_map(move |count| {
                [true, false].map(|is_tree| Lists {
                    finds,
                    merges,
                    is_tree,
                    count,
                })
            })
        })
    }

    #[test]
    fn every_value_chooses_the_type_of_its_name() {
        let mut seen = std::collections::HashSet::new();
        for lists in all() {
            let chosen = lists.choose(Names).to_lowercase();
            let finds = format!("{:?}", lists.finds).to_lowercase();
            let merges = super::merges_name(lists.merges);
            let expected = format!("{finds} {merges} {} {}", lists.last(), lists.count);
            assert_eq!(chosen, expected);
            seen.insert(chosen);
        }
        assert_eq!(seen.len(), 162);
    }

    #[test]
    fn a_choice_among_fewer_types_differs_only_where_it_says() {
        let mut usual = std::collections::HashSet::new();
        for lists in all() {
            let chosen = lists.choose_usual(Names);
            assert_eq!(chosen, lists.to_usual().choose(Names), "{lists}");
            assert_eq!(lists.to_usual(), lists.to_usual().to_usual(), "{lists}");
            usual.insert(chosen);
            let merges = match lists.merges {
                When::Never => When::Deferred,
                merges => merges,
            };
            let merging = Lists::usual(lists.finds, merges);
            assert_eq!(
                lists.choose_merging(Names),
                merging.choose(Names),
                "{lists}"
            );
        }
        assert_eq!(usual.len(), 34);
    }
}
