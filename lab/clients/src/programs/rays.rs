//! A ray tracer: spheres on a floor, two of them mirrors, and a light. The size is the width and
//! height of the picture.
//!
//! Every vector is an object, so the tracer allocates like one in an object-oriented language. A
//! step is a pixel. The colours of the picture are vectors too and are kept to the end.

use std::cell::Cell;
use std::mem::MaybeUninit;

use surefit_freelist::Index;
use surefit_gc::{Arena, Full, Gc, GcArray, Mutation, Rootable, Trace};

use super::between::{Between, Stopped};
use super::numbers::Checksum;

#[derive(Trace)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

type V<'gc> = Gc<'gc, Vector>;

#[derive(Trace)]
struct Ray<'gc> {
    from: V<'gc>,
    along: V<'gc>,
}

#[derive(Trace)]
struct Sphere<'gc> {
    centre: V<'gc>,
    radius: f64,
    colour: V<'gc>,
    /// The fraction of the light that is reflected.
    mirrors: f64,
}

#[derive(Trace)]
struct Scene<'gc> {
    spheres: GcArray<'gc, Gc<'gc, Sphere<'gc>>>,
    light: V<'gc>,
    eye: V<'gc>,
}

/// A line of the picture: its colours so far.
type Line<'gc> = GcArray<'gc, Cell<Option<V<'gc>>>>;

/// The scene, and its picture.
#[derive(Trace)]
struct Painting<'gc> {
    scene: Scene<'gc>,
    lines: GcArray<'gc, Line<'gc>>,
}

/// Where a ray meets a sphere.
#[derive(Trace)]
struct Hit<'gc> {
    distance: f64,
    sphere: Gc<'gc, Sphere<'gc>>,
}

/// How often a ray is reflected at most.
const MIRRORED: u32 = 3;
/// More bytes than a pixel allocates.
const ROOM: usize = 16 << 10;

/// Traces a picture.
pub(super) fn run<I: Index>(
    region: &mut [MaybeUninit<u8>],
    size: u32,
    between: &mut impl Between,
) -> Result<u64, Stopped> {
    let mut checksum = Checksum::default();
    let mut painting = Arena::<Rootable!['gc => Painting<'gc>], I>::new(region, |mc| {
        Ok(Painting {
            scene: Tracing { mc }.scene()?,
            lines: lines(mc, size as usize)?,
        })
    })?;
    for pixel in 0..u64::from(size) * u64::from(size) {
        between.step(&mut painting, ROOM)?;
        let (x, y) = (
            (pixel % u64::from(size)) as u32,
            (pixel / u64::from(size)) as u32,
        );
        let at = |place: u32| 2.0 * f64::from(place) / f64::from(size) - 1.0;
        painting.mutate(|mc, painting| {
            let colour = Tracing { mc }.pixel(&painting.scene, at(x), -at(y))?;
            painting.lines[y as usize][x as usize].set(Some(colour));
            Ok::<_, Full>(())
        })?;
    }
    painting.mutate(|_, painting| {
        let colours = painting.lines.iter().flat_map(|line| line.iter());
        colours
            .filter_map(Cell::get)
            .for_each(|colour| checksum.add(rgb(colour)));
    });
    Ok(checksum.0)
}

/// The lines of a square picture, without colours.
fn lines<'gc>(mc: &Mutation<'gc>, size: usize) -> Result<GcArray<'gc, Line<'gc>>, Full> {
    let line = |_| mc.alloc_array(size, |_| Cell::new(None));
    let lines = (0..size).map(line).collect::<Result<Vec<_>, _>>()?;
    mc.alloc_array(size, |number| lines[number])
}

/// A colour in three bytes.
fn rgb(colour: V<'_>) -> u64 {
    let [red, green, blue] =
        [colour.x, colour.y, colour.z].map(|part| (part.clamp(0.0, 1.0) * 255.0) as u64);
    red << 16 | green << 8 | blue
}

/// Geometry whose results are objects.
struct Tracing<'a, 'gc> {
    mc: &'a Mutation<'gc>,
}

impl<'gc> Tracing<'_, 'gc> {
    fn vector(&self, x: f64, y: f64, z: f64) -> Result<V<'gc>, Full> {
        self.mc.alloc(Vector { x, y, z })
    }

    /// `a + b * factor`
    fn add(&self, a: V<'gc>, b: V<'gc>, factor: f64) -> Result<V<'gc>, Full> {
        self.vector(a.x + b.x * factor, a.y + b.y * factor, a.z + b.z * factor)
    }

    fn normal(&self, v: V<'gc>) -> Result<V<'gc>, Full> {
        let scale = 1.0 / dot(v, v).sqrt();
        self.vector(v.x * scale, v.y * scale, v.z * scale)
    }

    fn scene(&self) -> Result<Scene<'gc>, Full> {
        let mut spheres = vec![
            self.sphere([0.0, -1001.0, 0.0], 1000.0, [0.8, 0.8, 0.7], 0.0)?,
            self.sphere([-1.1, 0.0, 4.0], 1.0, [0.9, 0.3, 0.3], 0.4)?,
            self.sphere([1.1, 0.0, 4.5], 1.0, [0.3, 0.3, 0.9], 0.6)?,
        ];
        for number in 0..12 {
            let place = f64::from(number);
            let centre = [place * 0.5 - 3.0, -0.8, 2.5 + place % 3.0 * 0.6];
            spheres.push(self.sphere(centre, 0.2, [0.2, 0.2 + place / 15.0, 0.4], 0.0)?);
        }
        Ok(Scene {
            spheres: self
                .mc
                .alloc_array(spheres.len(), |number| spheres[number])?,
            light: self.vector(-4.0, 6.0, -2.0)?,
            eye: self.vector(0.0, 0.4, -3.0)?,
        })
    }

    fn sphere(
        &self,
        centre: [f64; 3],
        radius: f64,
        colour: [f64; 3],
        mirrors: f64,
    ) -> Result<Gc<'gc, Sphere<'gc>>, Full> {
        let [x, y, z] = centre;
        let [red, green, blue] = colour;
        let (centre, colour) = (self.vector(x, y, z)?, self.vector(red, green, blue)?);
        self.mc.alloc(Sphere {
            centre,
            radius,
            colour,
            mirrors,
        })
    }

    fn pixel(&self, scene: &Scene<'gc>, x: f64, y: f64) -> Result<V<'gc>, Full> {
        let along = self.normal(self.vector(x, y, 2.0)?)?;
        let ray = self.mc.alloc(Ray {
            from: scene.eye,
            along,
        })?;
        self.trace(scene, ray, MIRRORED)
    }

    fn trace(
        &self,
        scene: &Scene<'gc>,
        ray: Gc<'gc, Ray<'gc>>,
        mirrored: u32,
    ) -> Result<V<'gc>, Full> {
        let Some(hit) = self.nearest(scene, ray)? else {
            let height = 0.5 + 0.5 * ray.along.y;
            return self.vector(0.5 * height, 0.6 * height, height);
        };
        let sphere = hit.sphere;
        let place = self.add(ray.from, ray.along, hit.distance)?;
        let normal = self.normal(self.add(place, sphere.centre, -1.0)?)?;
        let lit = 0.2 + 0.8 * self.light(scene, place, normal)?;
        let zero = self.vector(0.0, 0.0, 0.0)?;
        let own = self.add(zero, sphere.colour, lit * (1.0 - sphere.mirrors))?;
        if mirrored == 0 || sphere.mirrors == 0.0 {
            return Ok(own);
        }
        let along = self.add(ray.along, normal, -2.0 * dot(ray.along, normal))?;
        let from = self.add(place, normal, 1e-6)?;
        let seen = self.trace(scene, self.mc.alloc(Ray { from, along })?, mirrored - 1)?;
        self.add(own, seen, sphere.mirrors)
    }

    /// How much light falls on a point: none in the shadow.
    fn light(&self, scene: &Scene<'gc>, place: V<'gc>, normal: V<'gc>) -> Result<f64, Full> {
        let along = self.normal(self.add(scene.light, place, -1.0)?)?;
        let from = self.add(place, normal, 1e-6)?;
        let shadow = self.nearest(scene, self.mc.alloc(Ray { from, along })?)?;
        Ok(if shadow.is_some() {
            0.0
        } else {
            dot(along, normal).max(0.0)
        })
    }

    fn nearest(
        &self,
        scene: &Scene<'gc>,
        ray: Gc<'gc, Ray<'gc>>,
    ) -> Result<Option<Gc<'gc, Hit<'gc>>>, Full> {
        let mut nearest: Option<Gc<'gc, Hit<'gc>>> = None;
        for &sphere in &*scene.spheres {
            let towards = self.add(sphere.centre, ray.from, -1.0)?;
            let middle = dot(towards, ray.along);
            let inside = middle * middle - dot(towards, towards) + sphere.radius * sphere.radius;
            let distance = middle - inside.max(0.0).sqrt();
            let is_nearer = nearest.is_none_or(|hit| distance < hit.distance);
            if inside > 0.0 && distance > 0.0 && is_nearer {
                nearest = Some(self.mc.alloc(Hit { distance, sphere })?);
            }
        }
        Ok(nearest)
    }
}

fn dot(a: V<'_>, b: V<'_>) -> f64 {
    a.x * b.x + a.y * b.y + a.z * b.z
}
