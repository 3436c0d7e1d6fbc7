//! Recordings in, profiles out: real ones, hand-made ones, and damaged ones.

mod board;
mod damage;
mod export;
mod heaptrack;
mod model;
mod profile;
mod sender;

use surefit_formats::import::{ImportError, Importer, Kind, Notes};
use surefit_trace::{Event, Trace};

/// What an import gives, with the trace that was made of it: it is sound.
struct Imported {
    trace: Trace,
    name: Option<String>,
    kind: Kind,
    notes: Notes,
}

/// Imports a recording.
fn import(bytes: &[u8]) -> Result<Imported, ImportError> {
    let mut importer = Importer::new(Box::new(std::io::Cursor::new(bytes.to_vec())))?;
    // A function for each address of the file `named`.
    importer.name_functions(|file, returns_to| {
        (file == "/bin/named").then(|| format!("function_{returns_to:x}"))
    });
    let (mut events, mut stacks) = (Vec::new(), Vec::new());
    while let Some(event) = importer.next_event()? {
        events.push(event);
        stacks.push(importer.stack());
    }
    let trace = Trace::new("imported", events).expect("what remains is sound");
    let trace = match importer.has_call_sites() {
        true => trace.with_sites(importer.take_sites(), stacks),
        false => Ok(trace),
    };
    Ok(Imported {
        trace: trace.expect("stacks of the table"),
        name: importer.name().map(str::to_owned),
        kind: importer.kind(),
        notes: importer.notes(),
    })
}

/// The frames of the stack of an event: `function module address`, the innermost first.
fn called_from(trace: &Trace, event: usize) -> Vec<String> {
    let sites = trace.sites().expect("call sites");
    let frame = |frame: surefit_trace::Frame<'_>| {
        let function = frame.function.unwrap_or("?");
        format!("{function} {} {:x}", frame.module, frame.offset)
    };
    sites.frames(trace.stack(event)).map(frame).collect()
}

/// The line that refuses a recording.
fn refused(bytes: &[u8]) -> String {
    let error = import(bytes).err().expect("it is refused").to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

/// Which size each event begins or ends, in order: what must agree where objects cannot be told
/// apart.
fn sizes(events: &[Event]) -> Vec<(bool, u64)> {
    use surefit_trace::Op;
    let mut live = std::collections::HashMap::new();
    let size = |event: &Event| match event.op() {
        Op::Alloc { id, size, .. } | Op::Realloc { id, size } => {
            live.insert(id, size);
            (true, size)
        }
        Op::Free { id } => (false, live.remove(&id).expect("it lives")),
    };
    events.iter().map(size).collect()
}
