//! The tests of traces and object graphs, as one program.

mod attacks;
mod bundled;
mod common;
mod corrupt;
mod facts;
mod frames;
mod graph_corrupt;
mod graph_properties;
mod graph_recordings;
mod graph_writer;
mod programs;
mod properties;
mod sites;
mod versions;
