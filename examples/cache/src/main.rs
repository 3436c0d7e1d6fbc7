//! The server: a cache on loopback.

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr};

use surefit_cache::command::{Cache, size};
use surefit_cache::server::{Most, Server};
use surefit_cache::shards::Shards;
use surefit_cache::store::Store;
use surefit_cache::store::packed::Packed;
use surefit_cache::store::plain::Plain;

const HELP: &str = "A cache that speaks the Redis protocol, on loopback only.

  --port N           the port; 0 lets the system choose [6380]
  --shards N         heaps, each with a lock of its own [one for each 256 MiB of the limit, at most 2]
  --maxmemory BYTES  the most bytes of all heaps, as in 100mb; beyond it, keys that were not used
                     for long go [1gb]
  --requirepass WORD what clients must say first
  --maxclients N     clients at a time [1000]
  --store NAME       packed: surefit's heap; std: std's containers, without a limit [packed]";

struct Options {
    port: u16,
    shards: Option<usize>,
    limit: usize,
    password: Option<String>,
    most: Most,
    store: String,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut options = Self {
            port: 6380,
            shards: None,
            limit: 1 << 30,
            password: None,
            most: Most::DEFAULT,
            store: Packed::NAME.into(),
        };
        while let Some(name) = words.next() {
            if name == "--help" {
                println!("{HELP}");
                std::process::exit(0);
            }
            let value = words.next().ok_or_else(|| format!("{name} has no value"))?;
            match name.as_str() {
                "--port" => options.port = value.parse()?,
                "--shards" => options.shards = Some(value.parse()?),
                "--maxmemory" => {
                    options.limit = size(value.as_bytes()).ok_or("not bytes, as in 100mb")?;
                }
                "--requirepass" => options.password = Some(value),
                "--maxclients" => options.most.clients = value.parse()?,
                "--store" => options.store = value,
                _ => return Err(format!("{name} is unknown: see --help").into()),
            }
        }
        match options.shards() {
            1..=1024 => Ok(options),
            _ => Err("there are 1 to 1024 shards".into()),
        }
    }

    /// The number of shards. Each has pages of its own that are not full: a small cache has one.
    fn shards(&self) -> usize {
        let by_limit = (self.limit / (256 << 20)).clamp(1, 2);
        self.shards.unwrap_or(by_limit)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    let seeds = RandomState::new();
    match options.store.as_str() {
        Packed::NAME => {
            let limit = options.limit / options.shards();
            // `CONFIG SET maxmemory` may raise the limit up to the address space.
            let region = limit.saturating_mul(4);
            let new = |number| Packed::new(limit, region, seeds.hash_one(number));
            let shards = (0..options.shards())
                .map(new)
                .collect::<Result<Vec<_>, _>>()?;
            serve(shards, options)
        }
        Plain::NAME => serve(
            (0..options.shards()).map(|_| Plain::default()).collect(),
            options,
        ),
        other => Err(format!("{other} is no store: see --help").into()),
    }
}

fn serve<S: Store>(shards: Vec<S>, options: Options) -> Result<(), Box<dyn Error>> {
    let cache = Cache {
        shards: Shards::new(shards),
        password: options.password,
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let server = Server::new(cache, address, options.most)
        .map_err(|error| format!("cannot listen on {address}: {error}"))?;
    println!("listening on {}", server.address()?);
    Ok(server.run()?)
}
