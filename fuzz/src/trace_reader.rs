//! Readers of trace files on bytes that are no trace, or almost one.

use surefit_trace::{CheckedReader, Reader, Stats, Trace, check_bytes};

/// The most events that are read of one input: a few compressed bytes may unpack to very many.
const MOST_EVENTS: usize = 1 << 18;

/// Reads an input in every way there is; none panics, and the strict ones agree.
pub fn run(data: &[u8]) {
    let Ok(lenient) = Reader::new(data) else {
        assert!(
            check_bytes(data).is_err(),
            "all readers read the same header"
        );
        return;
    };
    let readable = lenient.take(MOST_EVENTS).take_while(Result::is_ok).count();
    let mut strict = CheckedReader::new(data).expect("all readers read the same header");
    let sound = strict
        .by_ref()
        .take(MOST_EVENTS)
        .take_while(Result::is_ok)
        .count();
    assert!(sound <= readable, "rules only take away");
    if readable == MOST_EVENTS {
        return;
    }
    let trace = Trace::from_bytes(data);
    assert_eq!(
        check_bytes(data).is_ok(),
        trace.is_ok(),
        "both readers agree"
    );
    let stats = CheckedReader::new(data).and_then(|mut reader| Stats::read(&mut reader));
    assert_eq!(stats.is_ok(), trace.is_ok(), "both readers agree");
    if let Ok(trace) = trace {
        assert_eq!(trace.events().len(), sound);
        let again = Trace::from_bytes(&trace.to_bytes()).expect("what is written can be read");
        assert_eq!(again.events(), trace.events());
    }
}
