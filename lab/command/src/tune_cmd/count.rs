//! The region that a run needs with full compaction (`k=1`), counted without a replay.
//!
//! With one not-full page per size-class, a class of h page-blocks has ⌈h/π⌉ pages, whatever the
//! order of calls. So the pages of a moment follow from what is live:
//!
//! ```text
//! bytes = P · Σ ⌈h/π⌉ + w · (the most entries until then) + class states + page records
//! ```
//! The most over all events is the smallest region, but for rounding and for the order in which a
//! resize gives and takes. A replay judges the best of these counts.

use surefit_compact::certify::pages_max;
use surefit_compact::layout::fixed_bytes;
use surefit_compact::pieces::Pieces;
use surefit_compact::{Config, Width};

use super::live::{Kind, Run};

/// Regions of so many per cent of the smallest must be possible too: another run may need more.
const ROOM_PER_CENT: usize = 125;

/// A class and a number of page-blocks of it.
type Blocks = (u8, u32);

/// The page-blocks of one object, spines included; `None` for one that the configuration cannot
/// serve.
pub(super) fn blocks_of<W: Width>(
    config: &Config,
    kind: Kind,
) -> impl Iterator<Item = Option<Blocks>> {
    let division = config.division();
    let runs = Pieces::new(kind.size, kind.align, division, W::SPINE_WORD_BYTES);
    runs.map(move |run| {
        let class = config.geometry().class_for(run.bytes, run.align)?;
        let class = u8::try_from(class.index()).ok()?;
        Some((class, u32::try_from(run.count).ok()?))
    })
}

/// The page-blocks of every kind of a run.
struct Table {
    /// Where each kind begins in `blocks`, and the end.
    first: Vec<usize>,
    blocks: Vec<Blocks>,
}

impl Table {
    fn new<W: Width>(run: &Run, config: &Config) -> Option<Self> {
        let (mut first, mut blocks) = (vec![0], Vec::new());
        for kind in &run.kinds {
            for block in blocks_of::<W>(config, *kind) {
                blocks.push(block?);
            }
            first.push(blocks.len());
        }
        Some(Self { first, blocks })
    }

    fn of(&self, kind: Option<u32>) -> &[Blocks] {
        kind.map_or(&[], |kind| {
            let kind = kind as usize;
            &self.blocks[self.first[kind]..self.first[kind + 1]]
        })
    }
}

/// Pages and entries of a moment. There are fewer than 2^31 entries and an object has fewer than
/// 2^27, so counts of 32 bits are enough.
struct Moment {
    /// For each class its page-blocks, and how many a page has.
    classes: Vec<(u32, u32)>,
    pages: usize,
    entries: usize,
}

impl Moment {
    fn new(config: &Config) -> Self {
        let geometry = config.geometry();
        let per_page = |class| u32::from(geometry.layout(class).blocks);
        Self {
            classes: geometry.classes().map(|it| (0, per_page(it))).collect(),
            pages: 0,
            entries: 0,
        }
    }

    fn add(&mut self, blocks: &[Blocks]) {
        for (class, count) in blocks {
            let (used, per_page) = &mut self.classes[usize::from(*class)];
            let before = used.div_ceil(*per_page);
            *used += count;
            self.pages += (used.div_ceil(*per_page) - before) as usize;
            self.entries += *count as usize;
        }
    }

    fn remove(&mut self, blocks: &[Blocks]) {
        for (class, count) in blocks {
            let (used, per_page) = &mut self.classes[usize::from(*class)];
            let before = used.div_ceil(*per_page);
            *used -= count;
            self.pages -= (before - used.div_ceil(*per_page)) as usize;
            self.entries -= *count as usize;
        }
    }
}

/// The smallest region of a run, in bytes; `None` if the configuration cannot serve it, or has no
/// room for a run that needs a little more.
pub(super) fn smallest_region<W: Width>(run: &Run, config: &Config) -> Option<u64> {
    let table = Table::new::<W>(run, config)?;
    let page_bytes = config.geometry().page_bytes();
    let most_pages = pages_max::<W>(config.geometry()) as usize * 100 / ROOM_PER_CENT;
    let most_entries = (1_usize << (8 * W::WORD_BYTES).min(31)) * 100 / ROOM_PER_CENT;
    let mut moment = Moment::new(config);
    let (mut entries, mut most) = (run.most_before, 0);
    for (goes, comes) in run.changes() {
        let (goes, comes) = (table.of(goes), table.of(comes));
        if comes == goes {
            continue;
        }
        // A resize in pieces holds only what differs twice, one in page-blocks everything.
        let is_divided = comes.len() > 1 && goes.len() > 1;
        if is_divided {
            moment.remove(goes);
        }
        moment.add(comes);
        entries = entries.max(moment.entries);
        most = most.max(moment.pages * page_bytes + entries * W::ENTRY_BYTES);
        if entries > most_entries || moment.pages > most_pages {
            return None;
        }
        if !is_divided {
            moment.remove(goes);
        }
    }
    let pages = most.div_ceil(page_bytes);
    let fixed = fixed_bytes::<W>(config.geometry().class_count(), pages);
    (pages <= most_pages).then_some((most + fixed) as u64)
}
