//! What the picture says, as claims with verdicts computed from its points.
#![deny(unsafe_code)]

use anyhow::{Context, Result};

use super::others;
use super::points::{Objects, Point, Points};
use super::search::FULL;
use super::served::Served;
use crate::kit::Claim;

/// The break-even is looked for from here down, in steps of 256 bytes.
const MOST_QUARTERS: u64 = 64;

/// All claims.
///
/// # Errors
/// Never: the demands can be certified.
pub(super) fn claims(points: &Points, served: &[Served]) -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for (objects, points) in Objects::ALL.into_iter().zip(points) {
        claims.push(below_o1heap(objects, points));
        claims.push(below_the_floor(objects, points)?);
    }
    let large_pieces: Vec<_> = points[1].iter().collect();
    claims.push(large_pieces_below_the_floor(&large_pieces));
    claims.push(full_is_least(points));
    claims.push(tlsf_above_half_fit(points));
    claims.push(all_served(served));
    Ok(claims)
}

fn below_o1heap(objects: Objects, points: &[Point]) -> Claim {
    let times = |point: &Point| point.o1heap as f64 / point.cf.bytes() as f64;
    Claim::that(format!(
        "{}: cf needs less than o1heap, at every M",
        objects.name()
    ))
    .of("worst cases")
    .papers("o1heap's own figure for sizing a heap")
    .ours(range(
        points.iter().map(times),
        "o1heap needs",
        "times as much",
    ))
    .decide(
        every(points.iter(), |point| times(point) > 1.0),
        "the certificate is smaller at every M of the table",
    )
}

fn below_the_floor(objects: Objects, points: &[Point]) -> Result<Claim> {
    let from = break_even(objects, points)?;
    let first = points.first().context("there are points")?;
    let (cf, floor) = (first.cf_ratio(), first.floor_ratio());
    Ok(Claim::that(format!(
        "{}: cf needs less than any heap that never moves, at every M",
        objects.name()
    ))
    .of("Robson")
    .papers("Robson's floor")
    .ours(format!(
        "{cf:.2} beside {floor:.2} at {} KiB; below the floor from M = {}",
        first.live >> 10,
        from.map_or_else(|| "-".to_owned(), |live| format!("{live} B"))
    ))
    .decide(
        every(points.iter(), is_below),
        "the certificate is below the floor at every M of the table",
    ))
}

/// The least multiple of 256 bytes from which on the certificate stays below the floor, in the
/// configuration that is best at 8 KiB; all larger M of the table count too.
fn break_even(objects: Objects, points: &[Point]) -> Result<Option<u64>> {
    let most = MOST_QUARTERS << 8;
    let above = points.iter().filter(|point| point.live > most);
    if !above.clone().all(is_below) {
        return Ok(None);
    }
    let choice = points[1].cf.choice;
    let mut least = None;
    for live in (1..=MOST_QUARTERS).rev().map(|quarter| quarter << 8) {
        let requests = objects.requests(live);
        let floor = others::robson(live, requests.largest);
        let found = choice.certified(FULL, requests)?;
        let is_below = found.is_some_and(|found| (found.aligned_bytes as u64) < floor);
        if !is_below || live < requests.largest {
            break;
        }
        least = Some(live);
    }
    Ok(least)
}

fn is_below(point: &Point) -> bool {
    point.cf.bytes() < point.floor
}

fn large_pieces_below_the_floor(points: &[&Point]) -> Claim {
    let bytes = |point: &Point| point.large_pieces.map(|best| best.bytes());
    let is_below = |point: &Point| bytes(point).is_some_and(|bytes| bytes < point.floor);
    let first = points.iter().find(|point| is_below(point));
    let ours = points.first().zip(first).map(|(least, first)| {
        let ratio = bytes(least).map_or(f64::NAN, |bytes| least.ratio(bytes));
        format!(
            "{ratio:.2} beside {:.2} at {} KiB; below the floor at {} KiB",
            least.floor_ratio(),
            least.live >> 10,
            first.live >> 10
        )
    });
    Claim::that(
        "objects of any size, in pieces of 1 KiB or more: cf needs less than any heap that never \
         moves, at every M",
    )
    .of("Robson")
    .papers("Robson's floor")
    .ours(ours.unwrap_or_else(|| "never".to_owned()))
    .decide(
        every(points.iter().copied(), is_below),
        "the certificate is below the floor at every M of the table",
    )
}

fn full_is_least(points: &Points) -> Claim {
    let all = || points.iter().flatten();
    let times = |point: &Point| {
        let default = point.default_bytes?;
        Some(default as f64 / point.cf.bytes() as f64)
    };
    Claim::that("full compaction certifies fewer bytes than the default bound")
        .ours_alone()
        .ours(range(
            all().filter_map(times),
            "the default bound needs",
            "times as much",
        ))
        .decide(
            every(all(), |point| times(point).is_some_and(|times| times > 1.0)),
            "in the same configuration, at every M",
        )
}

fn tlsf_above_half_fit(points: &Points) -> Claim {
    let all = || points.iter().flatten();
    let times = |point: &Point| point.tlsf as f64 / point.o1heap as f64;
    Claim::that("TLSF's bound is higher than that of Half-fit")
        .of("worst cases")
        .papers("often, for practically useful heaps (o1heap's README)")
        .ours(range(all().map(times), "", "times as high"))
        .decide(
            every(all(), |point| times(point) > 1.0),
            "M(n - 2) is above o1heap's figure at every M, for both kinds of objects",
        )
}

fn all_served(served: &[Served]) -> Claim {
    let whole = served.iter().filter(|one| one.refused == 0).count();
    let requests: u64 = served.iter().map(|one| one.requests).sum();
    Claim::that("a heap of exactly the certified bytes refuses nothing")
        .ours_alone()
        .ours(format!(
            "{whole} of {} heaps, {requests} requests",
            served.len()
        ))
        .decide(
            (!served.is_empty()).then_some(whole == served.len()),
            "programs that leave one object in each page, class after class, and random ones",
        )
}

/// Whether a test holds at every point; `None` if there is none.
fn every<P>(mut points: impl Iterator<Item = P> + Clone, test: impl Fn(P) -> bool) -> Option<bool> {
    let first = points.clone().next();
    first.map(|_| points.all(test))
}

/// The least and the greatest of some ratios, in words.
fn range(values: impl Iterator<Item = f64>, before: &str, after: &str) -> String {
    let ends = values.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), value| (least.min(value), most.max(value)),
    );
    format!("{before} {:.2} to {:.2} {after}", ends.0, ends.1)
        .trim_start()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::Verdict;

    /// The points of 4 and 8 KiB, changed.
    fn points(objects: Objects, change: impl Fn(&mut Point)) -> Vec<Point> {
        let point = |live| {
            let mut point = Point::of(objects, live).expect("certified");
            change(&mut point);
            point
        };
        [4 << 10, 8 << 10].map(point).to_vec()
    }

    fn verdict(claim: impl Fn(&[Point]) -> Claim, change: impl Fn(&mut Point)) -> Verdict {
        claim(&points(Objects::AnySize, change)).verdict
    }

    #[test]
    fn one_point_above_the_floor_refutes_it() {
        let floor = |points: &[Point]| below_the_floor(Objects::AnySize, points).expect("points");
        let high = |point: &mut Point| point.floor = 1 << 40;
        let low = |point: &mut Point| point.floor = if point.live > 4096 { 1 << 40 } else { 0 };
        assert_eq!(verdict(floor, high), Verdict::Holds);
        assert_eq!(verdict(floor, low), Verdict::DoesNot);
        let pieces = |points: &[Point]| {
            let points: Vec<_> = points.iter().collect();
            large_pieces_below_the_floor(&points)
        };
        assert_eq!(verdict(pieces, high), Verdict::Holds);
        assert_eq!(verdict(pieces, low), Verdict::DoesNot);
        assert_eq!(
            large_pieces_below_the_floor(&[]).verdict,
            Verdict::NotComparable
        );
    }

    #[test]
    fn one_point_above_o1heap_refutes_it() {
        let o1heap = |points: &[Point]| below_o1heap(Objects::AnySize, points);
        assert_eq!(verdict(o1heap, |_| ()), Verdict::Holds);
        assert_eq!(
            verdict(o1heap, |point| point.o1heap = point.cf.bytes()),
            Verdict::DoesNot
        );
        assert_eq!(o1heap(&[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn both_kinds_of_objects_decide_the_bounds() {
        let both = |claim: fn(&Points) -> Claim, change: fn(&mut Point)| {
            let small = points(Objects::Small, |_| ());
            claim(&[small, points(Objects::AnySize, change)]).verdict
        };
        assert_eq!(both(full_is_least, |_| ()), Verdict::Holds);
        assert_eq!(
            both(full_is_least, |point| point.default_bytes = None),
            Verdict::DoesNot
        );
        assert_eq!(both(tlsf_above_half_fit, |_| ()), Verdict::Holds);
        assert_eq!(
            both(tlsf_above_half_fit, |point| point.tlsf = point.o1heap),
            Verdict::DoesNot
        );
    }

    #[test]
    fn one_refused_request_refutes_a_certificate() {
        let served = |refused| Served {
            requests: 100,
            refused,
        };
        assert_eq!(all_served(&[served(0), served(0)]).verdict, Verdict::Holds);
        assert_eq!(
            all_served(&[served(0), served(1)]).verdict,
            Verdict::DoesNot
        );
        assert_eq!(all_served(&[]).verdict, Verdict::NotComparable);
    }
}
