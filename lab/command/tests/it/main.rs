//! The tests of the command from outside, in one program: each links all of the command.

mod common;

mod block_table;
mod bounds;
mod browser;
mod certify;
mod compare;
mod demands;
mod emitted;
mod experiment;
mod formats;
#[cfg(feature = "java")]
mod gc_java;
#[cfg(feature = "lua")]
mod gc_lua;
mod gc_replay;
#[cfg(target_os = "linux")]
mod guide;
#[cfg(target_os = "linux")]
mod long_traces;
#[cfg(target_os = "linux")]
mod odd_names;
mod random_demands;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod record_away;
#[cfg(target_os = "linux")]
mod record_facts;
#[cfg(target_os = "linux")]
mod record_limits;
#[cfg(target_os = "linux")]
mod record_own;
#[cfg(target_os = "linux")]
mod record_serving;
#[cfg(target_os = "linux")]
mod record_sites;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod record_stacks;
#[cfg(target_os = "linux")]
mod record_wrapped;
mod refusals;
mod replay;
mod report;
#[cfg(target_os = "linux")]
mod resident;
mod schemas;
mod second_run;
mod shared_heaps;
mod shell_files;
#[cfg(target_os = "linux")]
mod strangers;
mod trace_and_gen;
#[cfg(target_os = "linux")]
mod try_program;
mod tune;
