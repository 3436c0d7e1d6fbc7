//! Numbers at their ends: a meter and the counts of objects report that no heap serves them; they
//! never panic or wrap.

use surefit_compact::certify::{BlockCount, CallWork, DemandMeter, Uncertifiable, certify};
use surefit_compact::{Config, Narrow, Wide};

/// Entries that a word of four bytes can number.
const WIDE: u64 = (1 << 32) - 1;

fn pieces_of(bytes: usize) -> Config {
    let config = Config::DEFAULT.with_pieces(Some(bytes));
    config.expect("a power of two")
}

#[test]
fn an_object_of_more_page_blocks_than_a_word_numbers_is_refused_and_not_counted() {
    for (piece, log2) in [(4096, 45_u32), (4096, 63), (64, 40), (64, 38)] {
        // The least lengths are of 32-bit words too.
        let Some(len) = 1_usize.checked_shl(log2) else {
            continue;
        };
        let config = pieces_of(piece);
        let mut meter = DemandMeter::new::<Wide>(&config);
        meter.allocate(100, 8).expect("fits a page");
        let before = (meter.live(), meter.budget(), meter.call());
        let many = Err(Uncertifiable::TooManyEntries { limit: WIDE });
        assert_eq!(meter.allocate(len, 8), many, "2^{log2} in {piece}");
        assert_eq!(meter.resize((100, 8), (len, 8)), many);
        assert_eq!(meter.resize_by_copy((100, 8), (len, 8)), many);
        let after = (meter.live(), meter.budget(), meter.call());
        assert_eq!(after, before, "2^{log2} in {piece}");
    }
}

#[test]
fn a_meter_counts_as_many_page_blocks_as_words_number_and_no_more() {
    let config = pieces_of(64);
    let mut meter = DemandMeter::new::<Narrow>(&config);
    for _ in 0..u16::MAX {
        meter.allocate(8, 8).expect("as many as words number");
    }
    let before = (meter.live(), meter.budget(), meter.call());
    let many = Err(Uncertifiable::TooManyEntries { limit: 65_535 });
    assert_eq!(meter.allocate(8, 8), many);
    assert_eq!(meter.resize((8, 8), (40, 8)), many, "both live at once");
    assert_eq!(meter.resize((8, 8), (7, 8)), Ok(()), "the block stays");
    assert_eq!((meter.live(), meter.budget(), meter.call()), before);
    meter.free(8, 8).expect("counted");
    meter.resize((8, 8), (40, 8)).expect("one is free");
}

#[test]
fn a_meter_does_not_wrap_over_the_page_blocks_of_a_class() {
    // 2^32 whole pieces in one class. When counts wrapped, the class had no live page-blocks, and
    // 17.6 TB were certified as 17 GB.
    let config = Config::DEFAULT.with_pieces(Some(4096)).expect("valid");
    let mut meter = DemandMeter::new::<Wide>(&config);
    let Some(all) = 1_usize.checked_shl(44) else {
        return;
    };
    let part = all >> 10;
    meter.allocate(part, 8).expect("few enough");
    let before = meter.live();
    let many = Err(Uncertifiable::TooManyEntries { limit: WIDE });
    assert_eq!(meter.allocate(all - part, 8), many);
    assert_eq!(meter.live(), before);
    assert!(meter.settled_bytes() > part as u64);
    for demand in [meter.per_class(), meter.joint(), meter.both()] {
        let certificate = certify::<Wide>(&config, &demand).expect("16 GiB");
        assert!(certificate.heap_bytes > part);
    }
}

#[test]
fn what_was_not_counted_is_neither_freed_nor_resized() {
    let config = Config::DEFAULT;
    let mut meter = DemandMeter::new::<Wide>(&config);
    meter.allocate(10_000, 8).expect("in pieces");
    let before = (meter.live(), meter.budget(), meter.call());
    let settled = meter.settled_bytes();
    let unknown = Err(Uncertifiable::NotCounted);
    assert_eq!(meter.free(14_096, 8), unknown, "a piece more");
    assert_eq!(meter.free(100, 8), unknown);
    assert_eq!(meter.resize((100, 8), (40, 8)), unknown);
    assert_eq!(meter.resize((100, 8), (99, 8)), unknown, "in place");
    assert_eq!(meter.resize((14_096, 8), (20_000, 8)), unknown);
    assert_eq!(meter.resize_by_copy((100, 8), (50_000, 8)), unknown);
    assert_eq!((meter.live(), meter.budget(), meter.call()), before);
    meter.free(10_000, 8).expect("counted");
    assert_eq!(meter.live(), (0, 0));
    assert_eq!(meter.settled_bytes(), settled, "the most stays");
}

#[test]
fn the_counts_of_objects_of_any_length_and_alignment_are_exact_or_none() {
    let ends = [
        0,
        1,
        7,
        8,
        63,
        64,
        65,
        4096,
        4097,
        1 << 14,
        (1 << 14) + 1,
        1 << 31,
    ];
    let lens = ends
        .into_iter()
        .chain([0, 1, 2, 63, 4096].map(|less| usize::MAX - less));
    let lens = lens.chain([isize::MAX as usize, isize::MAX as usize + 1]);
    let aligns = [0, 1, 3, 8, 16, 4096, 1 << 14, 1 << 15, 1 << 31, usize::MAX];
    for len in lens {
        for align in aligns {
            for piece in [None, Some(64), Some(4096), Some(1 << 14)] {
                let config = Config::DEFAULT.with_pieces(piece).expect("valid");
                let model = model(&config, len as u128, align);
                let count = BlockCount::of::<Wide>(&config, len, align);
                let fits = model.filter(|model| model.1 <= u128::from(u64::MAX));
                assert_eq!(
                    count.map(|count| (count.blocks.into(), count.bytes.into())),
                    fits,
                    "{len} by {align} in {piece:?}"
                );
                let work = CallWork::of_free(&config, 4, len, align);
                if let (Some(work), Some((blocks, bytes))) = (work, model) {
                    assert_eq!(u128::from(work.blocks), blocks);
                    assert!(u128::from(work.moves) <= 2 * blocks);
                    assert!(u128::from(work.moved_bytes) <= 2 * bytes);
                }
                if model.is_some_and(|model| 2 * model.1 <= u128::from(u64::MAX)) {
                    assert!(work.is_some(), "{len} by {align} in {piece:?}");
                }
                let _ = BlockCount::in_resize::<Wide>(&config, len, align);
            }
        }
    }
}

/// Page-blocks and bytes of an object; `None` if one of its page-blocks is larger than a page.
fn model(config: &Config, len: u128, align: usize) -> Option<(u128, u128)> {
    let piece = config
        .piece_bytes()
        .map_or(u128::MAX, |bytes| bytes as u128);
    let block = |bytes: u128| {
        let class = config
            .geometry()
            .class_for(usize::try_from(bytes).ok()?, align)?;
        Some(u128::from(config.geometry().layout(class).block_bytes))
    };
    if len <= piece {
        return Some((1, block(len)?));
    }
    let whole = (len - 1) / piece;
    let (blocks, bytes) = model(config, (whole + 1) * 4, 4)?;
    let pieces = whole * block(piece)? + block(len - whole * piece)?;
    Some((whole + 1 + blocks, pieces + bytes))
}
