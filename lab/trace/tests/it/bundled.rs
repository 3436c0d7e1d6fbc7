//! The bundled traces, and the others where they lie beside the checkout: read, counted, written
//! again.

use crate::common::{bundled, fixture_paths, unpacked};
use surefit_trace::{CheckedReader, Peak, Reader, Stats, Trace};

#[test]
fn every_trace_keeps_every_rule_and_is_written_as_it_was_read() {
    for path in fixture_paths() {
        let trace = Trace::load(&path).expect("a sound trace");
        assert_eq!(trace.events().len() as u64, trace.header().counts.events);
        let bytes = unpacked(&path);
        assert!(trace.to_bytes() == bytes, "{} differs", path.display());
        let mut streamed = Vec::new();
        trace.write(&mut streamed).expect("memory does not fail");
        assert!(
            streamed == bytes,
            "{} differs when streamed",
            path.display()
        );
    }
}

#[test]
fn a_compressed_copy_reads_back_alike() {
    let trace = Trace::load(bundled("emacs")).expect("a sound trace");
    let mut packed = Vec::new();
    let mut told = Vec::new();
    trace
        .write_compressed(&mut packed, 3, |events| told.push(events))
        .expect("memory does not fail");
    assert_eq!(told.last(), Some(&trace.header().counts.events));
    assert!(packed.len() < 400_000, "{} bytes", packed.len());
    assert_eq!(Trace::from_bytes(&packed).expect("a sound trace"), trace);
}

#[test]
fn the_streaming_readers_give_the_events_in_memory() {
    let path = bundled("emacs");
    let trace = Trace::load(&path).expect("a sound trace");
    let plain = Reader::open(&path)
        .expect("opens")
        .map(|event| event.expect("sound"));
    assert!(plain.eq(trace.events().iter().copied()));
    let checked = CheckedReader::open(&path).expect("opens");
    assert!(
        checked
            .map(|event| event.expect("sound"))
            .eq(trace.events().iter().copied())
    );
}

/// The figures of the published table: `(mean life, foreign frees %, thread switches, distinct
/// sizes, most frequent, max)`.
fn table(name: &str) -> Option<(f64, f64, u64, usize, u64, u64)> {
    Some(match name {
        "cc1" => (2210.0, 0.0, 0, 3262, 16, 3_435_056),
        "emacs" => (15252.0, 0.0, 0, 2118, 1000, 874_322),
        "python" => (191_218.0, 0.0, 0, 1432, 48, 277_280),
        "redis" => (81055.0, 1.78, 27, 7968, 24, 1_489_680),
        "rustc" => (50163.0, 1.82, 38051, 2092, 16, 2_097_152),
        "varnish" => (16088.0, 43.93, 298_498, 9566, 72, 1_821_773),
        "redis-drift" => (294_731.0, 0.0, 0, 2464, 23, 1_048_576),
        _ => return None,
    })
}

#[test]
fn the_statistics_are_those_of_the_published_table() {
    for path in fixture_paths() {
        let mut reader = CheckedReader::open(&path).expect("opens");
        let stats = Stats::read(&mut reader).expect("a sound trace");
        let Some((life, foreign, switches, distinct, top, max)) = table(&stats.name) else {
            continue;
        };
        let foreign_frees = 100.0 * stats.foreign_frees as f64 / stats.calls.free as f64;
        assert_eq!(stats.mean_life_events().map(f64::round), Some(life));
        assert!((foreign_frees - foreign).abs() < 0.005, "{foreign_frees}");
        assert_eq!(stats.thread_switches, switches);
        assert_eq!(stats.sizes.len(), distinct);
        assert_eq!(stats.top_sizes(1)[0].size, top);
        assert_eq!(stats.max_size(), Some(max));
    }
}

#[test]
fn the_peak_is_the_first_event_with_the_greatest_live_sum() {
    let trace = Trace::load(bundled("emacs")).expect("a sound trace");
    assert_eq!(
        trace.peak(),
        Peak {
            event: 803_406,
            live_bytes: 31_281_530,
            live_objects: 88_620
        }
    );
    let stats = Stats::of(&trace);
    let objects: u64 = stats.sizes.iter().map(|count| count.live_at_peak).sum();
    let bytes: u64 = stats
        .sizes
        .iter()
        .map(|count| count.live_at_peak * count.size)
        .sum();
    assert_eq!((objects, bytes), (88_620, 31_281_530));
}
