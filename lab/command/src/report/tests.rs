//! Pages of results that are made by hand.

use surefit_measure::html::escaped;
use surefit_measure::passes::heap_map::{Column, HeapMap};
use surefit_measure::profile::{Histogram, Profile, Share};
use surefit_measure::results::{
    AllocatorResult, AtPeak, Ratio, ResidentSample, Tail, TraceResults,
};
use surefit_measure::subject::{ClassUse, Classes};

use super::{Details, Holes, Keeper, Page, Section};
use crate::call_sites::CallSite;
use crate::screen::Notes;

fn sample(event: u64, resident_bytes: u64) -> ResidentSample {
    let parts = AtPeak {
        requested_bytes: 50,
        page_block_internal_bytes: 5,
        page_internal_bytes: 0,
        size_class_bytes: 7,
        transient_bytes: 0,
        large_tail_bytes: 0,
        administrative_bytes: 8,
        free_chunk_bytes: 0,
        free_page_bytes: 30,
    };
    ResidentSample {
        event,
        live_bytes: 50,
        resident_bytes,
        parts: Some(parts),
    }
}

fn row(allocator: &str) -> AllocatorResult {
    AllocatorResult {
        allocator: allocator.to_owned(),
        completed: true,
        heap_bytes: Some(4000),
        mallocs: 5,
        frees: 5,
        ratio_to_baseline: Some(Ratio {
            median: 1.0,
            min: 0.9,
            max: 1.1,
        }),
        pair_ns_rounds: Some(vec![9.0, 10.0, 11.0]),
        min_heap_bytes: Some(1100),
        certified_bytes: allocator.starts_with("cf").then_some(90),
        resident_over_time: Some(vec![sample(0, 60), sample(10, 100)]),
        free_ns_tail: Some(vec![
            Tail { ns: 20, longer: 4 },
            Tail { ns: 900, longer: 0 },
        ]),
        ..AllocatorResult::default()
    }
}

fn trace(name: &str, results: Vec<AllocatorResult>) -> TraceResults {
    TraceResults {
        name: name.to_owned(),
        events: 20,
        objects: 5,
        threads: 1,
        threads_at_once: None,
        recorded_cpu_ns: None,
        timed_events: None,
        peak_live_bytes: 50,
        left_out: None,
        beside_malloc: None,
        rounds: 3,
        ablation: None,
        hinted: None,
        results,
    }
}

fn details() -> Details {
    let powers = vec![Share { count: 3, bytes: 3 }, Share { count: 2, bytes: 4 }];
    let class = ClassUse {
        block_bytes: 16,
        blocks: 250,
        pages: 2,
        not_full_pages: 1,
        live_blocks: 300,
    };
    let column = |event, live| Column {
        event,
        live: vec![live, 0],
        left: vec![0, 100],
    };
    Details {
        profile: Profile {
            sizes: Histogram {
                powers: powers.clone(),
            },
            lives: Histogram { powers },
            never_freed: Share { count: 1, bytes: 9 },
        },
        maps: vec![(
            "cf".to_owned(),
            HeapMap {
                page_bytes: 4096,
                pages_per_row: 1,
                columns: vec![column(0, 4000), column(10, 100)],
                classes_at_peak: Some(Classes {
                    page_bytes: 4096,
                    classes: vec![class],
                }),
            },
        )],
        holes: Some(Holes {
            allocator: "cf".to_owned(),
            event: 10,
            is_valley: true,
            live_bytes: 40,
            keepers: vec![keeper("f", 30.0), keeper("g", 10.0), keeper("h", 0.0)],
        }),
    }
}

fn keeper(short: &str, hole_bytes: f64) -> Keeper {
    Keeper {
        site: CallSite {
            full: format!("void {short}<{}>(int)", "argument, ".repeat(9)),
            short: format!("{short}<…>"),
        },
        objects: 3,
        live_bytes: 100,
        hole_bytes,
    }
}

fn section<'a>(trace: &'a TraceResults, details: Option<&'a Details>) -> Section<'a> {
    Section {
        origin: "a file".to_owned(),
        trace,
        clock_ns: 20,
        notes: Notes::of_results(&trace.results, "cf"),
        details,
    }
}

fn page(sections: Vec<Section<'_>>, pairs: Vec<(usize, usize)>) -> String {
    let title = "surefit report";
    Page {
        title,
        sections,
        pairs,
    }
    .html()
}

/// What every page keeps to.
fn assert_sound(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for word in ["http:", "https:", "src=", "<script", "NaN", "inf\"", "url("] {
        assert!(!page.contains(word), "{word}");
    }
    assert_eq!(
        page.matches("href=\"").count(),
        page.matches("href=\"#").count()
    );
    for tag in [
        "table",
        "div",
        "figure",
        "svg",
        "ul",
        "dl",
        "h2",
        "body",
        "details",
        "summary",
        "main",
        "nav",
        "g",
        "span",
        "figcaption",
        "p",
    ] {
        let opened = page.matches(&format!("<{tag}>")).count();
        let opened = opened + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    // every picture has a name, and every scrolling table can be reached
    let pictures = page.matches("role=\"img\"").count();
    assert_eq!(page.matches("role=\"img\" aria-label=\"").count(), pictures);
    assert!(pictures > 0 && !page.contains("aria-label=\"\""));
    assert_eq!(
        page.matches("<table>").count(),
        page.matches("tabindex=\"0\"").count()
    );
}

#[test]
fn a_page_has_every_figure_with_its_table_and_loads_nothing() {
    let trace = trace("redis", vec![row("cf"), row("tlsf")]);
    let details = details();
    let page = page(vec![section(&trace, Some(&details))], Vec::new());
    assert_sound(&page);
    for title in [
        "Memory over time",
        "Where the bytes are",
        "Heap map of cf",
        "Pages of each size-class of cf",
        "Call sites by fragmentation in cf without moves",
        "How long single calls take",
        "What the program asks for",
    ] {
        assert!(page.contains(&format!("<b>{title}.</b>")), "{title}");
        assert!(
            page.contains(&format!("<summary>Table: {title}</summary>")),
            "{title}"
        );
    }
    assert!(
        page.contains("1.00 [0.90–1.10]") && !page.contains("<nav"),
        "{page}"
    );
}

#[test]
fn an_allocator_has_one_colour_in_all_figures() {
    let trace = trace("t", vec![row("tlsf"), row("cf")]);
    let page = page(vec![section(&trace, None)], Vec::new());
    let bar = page.split("class=\"n\">tlsf</span>").nth(1).expect("a bar");
    assert!(
        bar.split("</svg>")
            .next()
            .is_some_and(|bar| bar.contains("#009e73"))
    );
    let key = page.split("tlsf, 100 B at most").next().expect("a legend");
    let key = key.rsplit("<li>").next().expect("a key");
    assert!(key.contains("#009e73"), "{key}");
}

#[test]
fn saved_results_have_what_they_tell_and_say_what_is_missing() {
    let trace = trace("t", vec![row("cf")]);
    let page = page(vec![section(&trace, None)], Vec::new());
    assert_sound(&page);
    assert!(page.contains("Memory over time") && page.contains("These are saved results"));
    assert!(!page.contains("Heap map of"));
    let bare = AllocatorResult {
        allocator: "cf".to_owned(),
        completed: true,
        ..AllocatorResult::default()
    };
    let bare = super::tests::trace("t", vec![bare]);
    let page = super::tests::page(vec![section(&bare, None)], Vec::new());
    assert!(
        !page.contains("Memory over time") && !page.contains("NaN"),
        "{page}"
    );
}

#[test]
fn two_programs_are_side_by_side_on_the_same_axes() {
    let before = trace("t", vec![row("cf"), row("tlsf")]);
    let mut larger = row("cf");
    larger.resident_over_time = Some(vec![sample(0, 60), sample(10, 200)]);
    larger.min_heap_bytes = Some(2200);
    let after = trace("t", vec![larger, row("system")]);
    let details = details();
    let sections = vec![section(&before, Some(&details)), section(&after, None)];
    let page = page(sections, vec![(0, 1)]);
    assert_sound(&page);
    assert!(page.contains("cf: smallest heap more (2.00 ×)"), "{page}");
    assert!(page.contains("Only A has tlsf.") && page.contains("Only B has system."));
    assert_eq!(page.matches("<b>A: Memory over time.</b>").count(), 1);
    assert_eq!(page.matches("<b>B: Memory over time.</b>").count(), 1);
    assert_eq!(
        page.matches("Memory over time.</b>").count(),
        2,
        "they are drawn once"
    );
    // 100 of 200 bytes, and 200 of 200
    assert!(
        page.contains("M0 700L1000 500\"") && page.contains("M0 700L1000 0\""),
        "{page}"
    );
    assert!(page.contains("href=\"#pair0\"") && page.contains("id=\"program1\""));
}

#[test]
fn call_sites_have_short_names_beside_whole_ones_and_one_scale() {
    let trace = trace("t", vec![row("cf")]);
    let (some, mut more) = (details(), details());
    let most = more.holes.as_mut().map(|holes| &mut holes.keepers[0]);
    most.expect("a keeper").hole_bytes = 60.0;
    let page = page(
        vec![section(&trace, Some(&some)), section(&trace, Some(&more))],
        vec![(0, 1)],
    );
    assert_sound(&page);
    let bars: Vec<_> = page.split("<div class=\"bars above\"").skip(1).collect();
    assert_eq!(bars.len(), 2, "who has no holes is not drawn");
    for (bars, end, text) in [
        (bars[0], 500, "30 B, 75.0 %"),
        (bars[1], 1000, "60 B, 85.7 %"),
    ] {
        let bars = bars.split("</div>").next().expect("bars");
        assert!(
            bars.contains("title=\"void f&lt;argument, argument"),
            "{bars}"
        );
        assert!(bars.contains(">f&lt;…\u{2060}&gt;</span>") && !bars.contains(">h&lt;"));
        assert!(
            bars.contains(&format!("H{end}L{end} ")) && bars.contains(text),
            "{bars}"
        );
    }
    assert_eq!(
        page.matches("<details class=\"long\">").count(),
        2,
        "{page}"
    );
    let mut none = details();
    none.holes.as_mut().expect("some").keepers.drain(..2);
    let page = super::tests::page(vec![section(&trace, Some(&none))], Vec::new());
    assert!(!page.contains("Call sites by"));
}

#[test]
fn a_name_cannot_break_out() {
    let name = "<script>alert('x')</script>\u{7}";
    let trace = trace(name, vec![row(&format!("preload:/x/{name}"))]);
    let mut details = details();
    for keeper in &mut details.holes.as_mut().expect("some").keepers {
        keeper.site.full = format!("\"><img>{name}");
        keeper.site.short = name.to_owned();
    }
    let page = page(vec![section(&trace, Some(&details))], Vec::new());
    assert_sound(&page);
    assert!(page.contains("&lt;script&gt;") && !page.contains("<img"));
    assert_eq!(escaped("a\"b'&"), "a&quot;b&#39;&amp;");
}

#[test]
fn the_largest_figures_do_not_overflow() {
    let sample = ResidentSample {
        event: u64::MAX,
        live_bytes: u64::MAX,
        resident_bytes: u64::MAX,
        parts: Some(AtPeak {
            page_block_internal_bytes: u64::MAX,
            administrative_bytes: u64::MAX,
            ..sample(0, 0).parts.expect("parts")
        }),
    };
    let most = AllocatorResult {
        mallocs: u64::MAX,
        reallocs: u64::MAX,
        frees: 0,
        resident_over_time: Some(vec![sample, sample]),
        malloc_ns_tail: Some(vec![Tail {
            ns: u64::MAX,
            longer: u64::MAX,
        }]),
        realloc_ns_tail: Some(Vec::new()),
        min_heap_bytes: Some(u64::MAX),
        certified_bytes: Some(u64::MAX),
        pair_ns_rounds: Some(vec![f64::MAX, 0.0, 1e300]),
        ..row("cf")
    };
    let mut huge = trace("t", vec![most.clone(), row("x"), most]);
    huge.events = u64::MAX;
    let zero = TraceResults {
        events: 0,
        peak_live_bytes: 0,
        ..trace("t", vec![AllocatorResult::default(), row("cf")])
    };
    let page = page(
        vec![section(&huge, None), section(&zero, None)],
        vec![(0, 1)],
    );
    assert_sound(&page);
}
