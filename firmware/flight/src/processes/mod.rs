//! The processes. Each keeps its objects by their names, and asks the heap through its port.

pub mod controller;
pub mod guest;
pub mod log;
pub mod mission;
pub mod telemetry;

use crate::fixed::Fixed;
use crate::vehicle::{Frame, STEPS};

/// What processes and vehicle tell each other: values, no objects.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// From the sensors to the controller.
    pub frames: [Frame; STEPS],
    /// From the mission to the controller.
    pub target: [Fixed; 3],
    /// From the controller to the motors.
    pub pulls: [Fixed; 4],
    /// Where the vehicle is and how it is tilted, as the controller knows it.
    pub known: [Fixed; 6],
}
