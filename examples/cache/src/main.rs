//! The server: a cache on loopback.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use clap::{Parser, ValueEnum};
use surefit_cache::cache::Cache;
use surefit_cache::command;
use surefit_cache::server::Server;
use surefit_cache::store::Store;
use surefit_cache::store::malloc::Malloc;
use surefit_cache::store::surefit::Surefit;
use surefit_cache::store::tlsf::TlsfStore;

/// The heap that holds keys, values and index.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum StoreKey {
    /// Surefit's handle heap: it moves objects, and gives memory back.
    Surefit,
    /// Surefit's TLSF: a free-list heap without moves.
    Tlsf,
    /// The C library's malloc, or a preloaded one.
    Malloc,
}

/// A cache that speaks the Redis protocol, on loopback only.
#[derive(Debug, Parser)]
#[command(name = "surefit-cache", version)]
struct Options {
    /// The port; 0 lets the system choose. The first line of output names it.
    #[arg(long, default_value_t = 6380)]
    port: u16,
    /// The heap that holds keys, values and index.
    #[arg(long, value_enum, default_value_t = StoreKey::Surefit)]
    store: StoreKey,
    /// The most bytes of records and index, as in 100mb; 0 means no limit but the region. Beyond
    /// it, the keys used longest ago go.
    #[arg(long, default_value = "0", value_parser = bytes)]
    maxmemory: usize,
    /// The address space of the heap, as in 1gb: no limit is above it. The memory is used only as
    /// far as it is needed.
    #[arg(long, default_value = "1gb", value_parser = bytes)]
    region: usize,
}

fn bytes(word: &str) -> Result<usize, String> {
    command::size(word.as_bytes()).ok_or_else(|| "not a number of bytes, as in 100mb".into())
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    match options.store {
        StoreKey::Surefit => serve(Surefit::new(options.region)?, &options),
        StoreKey::Tlsf => serve(TlsfStore::new(options.region)?, &options),
        StoreKey::Malloc => serve(Malloc::default(), &options),
    }
}

fn serve<S: Store>(store: S, options: &Options) -> anyhow::Result<()> {
    let seed = RandomState::new().hash_one(0);
    let cache = Cache::new(store, options.maxmemory, seed);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let mut server =
        Server::new(cache, address).with_context(|| format!("cannot listen on {address}"))?;
    println!("listening on {}", server.address()?);
    Ok(server.run()?)
}
