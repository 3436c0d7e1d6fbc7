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
    .papers("o1heap's own figure for sizing a heap")
    .ours(range(points.iter().map(times), "o1heap needs", "× as much"))
    .decide(
        points.iter().all(|point| times(point) > 1.0),
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
    .papers("Robson's floor")
    .ours(format!(
        "{cf:.2} beside {floor:.2} at {} KiB; below the floor from M = {}",
        first.live >> 10,
        from.map_or_else(|| "-".to_owned(), |live| format!("{live} B"))
    ))
    .decide(
        points.iter().all(is_below),
        "the certificate is below the floor at every M of the table",
    ))
}

/// The least multiple of 256 bytes from which on the certificate stays below the floor, in the configuration that is best
/// at 8 KiB; all larger M of the table count too.
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
    Claim::that("objects of any size, in pieces of 1 KiB or more: the same")
        .papers("Robson's floor")
        .ours(ours.unwrap_or_else(|| "never".to_owned()))
        .decide(
            points.iter().all(|point| is_below(point)),
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
        .ours(range(
            all().filter_map(times),
            "the default bound needs",
            "× as much",
        ))
        .decide(
            all().all(|point| times(point).is_some_and(|times| times > 1.0)),
            "in the same configuration, at every M",
        )
}

fn tlsf_above_half_fit(points: &Points) -> Claim {
    let all = || points.iter().flatten();
    let times = |point: &Point| point.tlsf as f64 / point.o1heap as f64;
    Claim::that("TLSF's bound is higher than that of Half-fit")
        .papers("often, for practically useful heaps (o1heap's README)")
        .ours(range(all().map(times), "", "× as high"))
        .decide(
            all().all(|point| times(point) > 1.0),
            "M(n - 2) is above o1heap's figure at every M, for both kinds of objects",
        )
}

fn all_served(served: &[Served]) -> Claim {
    let whole = served.iter().filter(|one| one.refused == 0).count();
    let requests: u64 = served.iter().map(|one| one.requests).sum();
    Claim::that("a heap of exactly the certified bytes refuses nothing")
        .ours(format!(
            "{whole} of {} heaps, {requests} requests",
            served.len()
        ))
        .decide(
            (!served.is_empty()).then_some(whole == served.len()),
            "programs that leave one object in each page, class after class, and random ones",
        )
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
