//! Where the vehicle is, and what the motors shall pull: an estimate from the sensors' frames, and
//! a cascade of controllers: position, velocity, attitude, rate.

use crate::fixed::Fixed;
use crate::vehicle::{Frame, GRAVITY, PULL_MAX, STEP};

/// What is known of the vehicle.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// Position.
    pub position: [Fixed; 3],
    /// Velocity.
    pub velocity: [Fixed; 3],
    /// Roll, pitch, yaw.
    pub angles: [Fixed; 3],
    /// Their rates.
    pub rates: [Fixed; 3],
}

impl Estimate {
    /// Takes one frame in. The last one said before how the vehicle rotates; the angles follow
    /// their rates, and slowly what is measured. Position and velocity follow what is measured.
    pub fn take(&mut self, frame: &Frame) {
        for axis in 0..3 {
            self.angles[axis] += frame.rates[axis] * STEP;
            let error = frame.angles[axis] - self.angles[axis];
            self.angles[axis] += error * Fixed::milli(20);
            self.rates[axis] += (frame.rates[axis] - self.rates[axis]) * Fixed::milli(700);
        }
        // The body tilts into its acceleration.
        let [roll, pitch, _] = self.angles;
        let accelerations = [GRAVITY * pitch, -(GRAVITY * roll), Fixed::ZERO];
        for (axis, acceleration) in accelerations.into_iter().enumerate() {
            self.velocity[axis] += acceleration * STEP;
            self.position[axis] += self.velocity[axis] * STEP;
            let error = frame.position[axis] - self.position[axis];
            self.position[axis] += error * Fixed::milli(50);
            self.velocity[axis] += error * Fixed::milli(480);
        }
    }
}

/// The controllers' state: what the wind pushes.
#[derive(Clone, Debug, Default)]
pub struct Cascade {
    push: [Fixed; 3],
}

impl Cascade {
    /// What the motors shall pull so that the vehicle goes to `target`: front, right, back, left.
    pub fn pulls(&mut self, known: &Estimate, target: [Fixed; 3]) -> [Fixed; 4] {
        let [forward, left, up] = self.accelerations(known, target);
        let most = Fixed::milli(350);
        let per_gravity = Fixed::milli(102);
        let angles = [
            (-(left * per_gravity)).within(most),
            (forward * per_gravity).within(most),
            Fixed::ZERO,
        ];
        let mut turns = [Fixed::ZERO; 3];
        for axis in 0..3 {
            let rate = (angles[axis] - known.angles[axis]) * Fixed::milli(4000);
            turns[axis] = (rate - known.rates[axis]) * Fixed::milli(12_000);
        }
        mixed(up, turns)
    }

    /// Position, then velocity with what the wind pushes.
    fn accelerations(&mut self, known: &Estimate, target: [Fixed; 3]) -> [Fixed; 3] {
        let mut accelerations = [Fixed::ZERO; 3];
        for axis in 0..3 {
            let way = (target[axis] - known.position[axis]).within(Fixed::milli(20_000));
            let wanted = (way * Fixed::milli(900)).within(Fixed::milli(2500));
            let error = wanted - known.velocity[axis];
            // 5 ms, and a quarter for each second.
            self.push[axis] =
                (self.push[axis] + error * Fixed(STEP.0 / 2)).within(Fixed::milli(2500));
            accelerations[axis] = error * Fixed::milli(1800) + self.push[axis];
        }
        accelerations
    }
}

/// The pull of each motor, for an acceleration upwards and accelerations of rotation.
fn mixed(up: Fixed, [roll, pitch, yaw]: [Fixed; 3]) -> [Fixed; 4] {
    // Two kilograms, four motors; the inverse of twice `PER_ARM` and of four times `PER_DRAG`.
    let each = (GRAVITY + up).clamp(Fixed::milli(3000), Fixed::milli(16_000)) * Fixed::milli(500);
    let (roll, pitch) = (roll * Fixed::milli(57), pitch * Fixed::milli(57));
    let yaw = (yaw * Fixed::milli(400)).within(Fixed::milli(1000));
    [
        each - pitch + yaw,
        each - roll - yaw,
        each + pitch + yaw,
        each + roll - yaw,
    ]
    .map(|pull| pull.clamp(Fixed::ZERO, PULL_MAX))
}
