//! A quad-rotor: a rigid body with four motors that follow their commands late, in wind, and its
//! noisy sensors. Metres, seconds, kilograms, newtons; x forward, y left, z up.

use crate::fixed::{Fixed, Random};

/// Steps in one period of the controller: 400 Hz.
pub const STEPS: usize = 2;

/// Seconds of a step: 2.5 ms.
pub const STEP: Fixed = Fixed(Fixed::ONE.0 / 400);

/// What a motor pulls at most.
pub const PULL_MAX: Fixed = Fixed::milli(10_000);

/// The acceleration that one newton gives to the two kilograms.
const PER_MASS: Fixed = Fixed::milli(500);

/// The acceleration of rotation that one newton gives at the end of an arm (roll, pitch), and by
/// its drag (yaw).
pub const PER_ARM: Fixed = Fixed::milli(8750);
/// As above.
pub const PER_DRAG: Fixed = Fixed::milli(625);

/// Of the earth.
pub const GRAVITY: Fixed = Fixed::milli(9810);

/// What the sensors say at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Rates of rotation: roll, pitch, yaw.
    pub rates: [Fixed; 3],
    /// Angles, which are small: roll, pitch, yaw.
    pub angles: [Fixed; 3],
    /// Position.
    pub position: [Fixed; 3],
}

/// The vehicle and the air around it.
#[derive(Clone, Debug)]
pub struct Vehicle {
    position: [Fixed; 3],
    velocity: [Fixed; 3],
    /// A unit quaternion, from the body to the earth.
    attitude: [Fixed; 4],
    rates: [Fixed; 3],
    /// What the motors pull: front, right, back, left.
    pulls: [Fixed; 4],
    wind: [Fixed; 3],
    /// Where the wind goes to, and for how many steps more.
    gust: [Fixed; 3],
    gust_steps: u32,
    random: Random,
}

impl Vehicle {
    /// A vehicle on the ground.
    pub const fn new(seed: u32) -> Self {
        const NONE: [Fixed; 3] = [Fixed::ZERO; 3];
        Self {
            position: NONE,
            velocity: NONE,
            attitude: [Fixed::ONE, Fixed::ZERO, Fixed::ZERO, Fixed::ZERO],
            rates: NONE,
            pulls: [Fixed::ZERO; 4],
            wind: NONE,
            gust: NONE,
            gust_steps: 0,
            random: Random::new(seed, 1),
        }
    }

    /// Where it is.
    pub const fn position(&self) -> [Fixed; 3] {
        self.position
    }

    /// One step with these commands to the motors.
    pub fn step(&mut self, commands: [Fixed; 4]) {
        self.blow();
        for (pull, command) in self.pulls.iter_mut().zip(commands) {
            // A time constant of 40 ms: 2.5 / 40.
            let command = command.clamp(Fixed::ZERO, PULL_MAX);
            *pull += (command - *pull) * Fixed::milli(62);
        }
        self.rotate();
        self.accelerate();
    }

    fn rotate(&mut self) {
        let [front, right, back, left] = self.pulls;
        let [p, q, r] = self.rates;
        let accelerations = [
            PER_ARM * (left - right) - q * r,
            PER_ARM * (back - front) + p * r,
            PER_DRAG * (front - right + back - left),
        ];
        for (rate, acceleration) in self.rates.iter_mut().zip(accelerations) {
            *rate += acceleration * STEP;
        }
        let half = Fixed(STEP.0 / 2);
        let [x, y, z] = self.rates.map(|rate| rate * half);
        let [a, b, c, d] = self.attitude;
        let turned = [
            a - b * x - c * y - d * z,
            b + a * x + c * z - d * y,
            c + a * y + d * x - b * z,
            d + a * z + b * y - c * x,
        ];
        // One step of Newton's method towards length 1.
        let square = turned
            .iter()
            .fold(Fixed::ZERO, |sum, &part| sum + part * part);
        let scale = Fixed::milli(1500) - Fixed(square.0 / 2);
        self.attitude = turned.map(|part| part * scale);
    }

    /// Where the body's upper side points to.
    fn up(&self) -> [Fixed; 3] {
        let [w, x, y, z] = self.attitude;
        let twice = |value: Fixed| value + value;
        [
            twice(x * z + w * y),
            twice(y * z - w * x),
            Fixed::ONE - twice(x * x + y * y),
        ]
    }

    fn accelerate(&mut self) {
        let [front, right, back, left] = self.pulls;
        let pull = (front + right + back + left) * PER_MASS;
        let up = self.up();
        for (axis, up) in up.into_iter().enumerate() {
            let drag = (self.wind[axis] - self.velocity[axis]) * Fixed::milli(250);
            let mut acceleration = up * pull + drag;
            if axis == 2 {
                acceleration = acceleration - GRAVITY;
            }
            self.velocity[axis] += acceleration * STEP;
            self.position[axis] += self.velocity[axis] * STEP;
        }
        // The ground.
        if self.position[2] < Fixed::ZERO {
            self.position[2] = Fixed::ZERO;
            self.velocity = [Fixed::ZERO; 3];
        }
    }

    /// The wind goes slowly to where the gust is.
    fn blow(&mut self) {
        if self.gust_steps == 0 {
            self.gust_steps = 200 + self.random.below(1400);
            let [x, y, z] = [4000, 4000, 1000].map(Fixed::milli);
            self.gust = [x, y, z].map(|most| self.random.around_zero(most));
        }
        self.gust_steps -= 1;
        for (wind, gust) in self.wind.iter_mut().zip(self.gust) {
            *wind += (gust - *wind) * Fixed::milli(2);
        }
    }

    /// What the sensors say.
    pub fn frame(&mut self) -> Frame {
        let [w, x, y, z] = self.attitude;
        let [forward, left, _] = self.up();
        let yaw = w * z + x * y;
        let mut noisy = |value: Fixed, most| value + self.random.around_zero(Fixed::milli(most));
        Frame {
            rates: self.rates.map(|rate| noisy(rate, 20)),
            angles: [-left, forward, yaw + yaw].map(|angle| noisy(angle, 20)),
            position: self.position.map(|place| noisy(place, 50)),
        }
    }
}
