//! A server that is compared: a process of its own, its memory and its processor time.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};

const REDIS: &str = "/usr/bin/redis-server";

/// Folders of the system's libraries. A whole path is one in each.
const LIBRARIES: [&str; 3] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];

/// What runs.
#[derive(Clone, Debug)]
enum Kind {
    /// This example, on one of its stores, and the program if it is not the one beside this.
    Ours {
        store: &'static str,
        program: Option<PathBuf>,
    },
    /// Redis: the program and its further arguments.
    Redis {
        program: PathBuf,
        arguments: Vec<String>,
    },
}

/// A server, and a library that is preloaded into it.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) name: String,
    kind: Kind,
    preload: Option<String>,
}

impl Subject {
    fn new(name: &str, kind: Kind, preload: Option<&str>) -> Self {
        Self {
            name: name.into(),
            kind,
            preload: preload.map(String::from),
        }
    }

    /// Every server that can be compared without being named.
    pub(crate) fn all(program: Option<&Path>) -> Vec<Self> {
        let ours = |store, program: Option<&Path>| Kind::Ours {
            store,
            program: program.map(PathBuf::from),
        };
        let redis = || Kind::Redis {
            program: REDIS.into(),
            arguments: Vec::new(),
        };
        vec![
            Self::new("surefit", ours("packed", program), None),
            Self::new("std", ours("std", program), None),
            Self::new("std-mimalloc", ours("std", None), Some("libmimalloc.so.2")),
            // Debian's redis-server is linked with libjemalloc; a library before it takes its
            // place.
            Self::new("redis-jemalloc", redis(), None),
            Self::new("redis-glibc", redis(), Some("libc.so.6")),
            Self::new("redis-mimalloc", redis(), Some("libmimalloc.so.2")),
        ]
    }

    /// A Redis that was built elsewhere, of `NAME=PROGRAM ARGUMENT…`: the words are separated by
    /// spaces.
    pub(crate) fn redis(text: &str) -> anyhow::Result<Self> {
        let (name, command) = text.split_once('=').unwrap_or_default();
        let mut words = command.split_whitespace().map(String::from);
        let Some(program) = words.next().filter(|_| !name.is_empty()) else {
            bail!("`{text}` is not NAME=PROGRAM, as in mine=/usr/bin/redis-server");
        };
        let (program, arguments) = (program.into(), words.collect());
        Ok(Self::new(name, Kind::Redis { program, arguments }, None))
    }

    /// This example on std's containers, with the library of `NAME=FILE`.
    pub(crate) fn preloaded(text: &str) -> anyhow::Result<Self> {
        let (name, file) = text.split_once('=').unwrap_or_default();
        let path =
            std::fs::canonicalize(file).with_context(|| format!("`{text}` is not NAME=FILE"))?;
        let path = path.to_str().context("a path of UTF-8")?;
        let kind = Kind::Ours {
            store: "std",
            program: None,
        };
        Ok(Self::new(name, kind, Some(path)))
    }

    /// What is not installed, if something is missing.
    pub(crate) fn missing(&self) -> Option<String> {
        match &self.kind {
            Kind::Redis { program, .. } if !program.exists() => {
                return Some(format!("no {}", program.display()));
            }
            _ => {}
        }
        let library = self.preload.as_deref()?;
        library_path(library)
            .is_none()
            .then(|| format!("no {library}"))
    }

    /// Starts the server on a free port, for so many bytes of payload.
    pub(crate) fn start(&self, budget: usize) -> anyhow::Result<Server> {
        let mut command = match &self.kind {
            Kind::Ours { store, program } => ours(store, program.as_deref(), budget)?,
            Kind::Redis { program, arguments } => redis(program, arguments),
        };
        if let Some(library) = &self.preload {
            let path = library_path(library).with_context(|| format!("no {library}"))?;
            command.env("LD_PRELOAD", path);
        }
        let port = free_port()?;
        command.args(["--port", &port.to_string()]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().context("cannot start the server")?;
        let server = Server {
            child,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        };
        server.wait()
    }
}

/// A port that nobody uses at this moment.
fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

/// This example's server, which is built beside this program, unless it is another one. Its limit
/// is twice the payload; std's containers have none, but the same number of shards.
fn ours(store: &str, program: Option<&Path>, budget: usize) -> anyhow::Result<Command> {
    let path = match program {
        Some(path) => path.into(),
        None => std::env::current_exe()?.with_file_name("surefit-cache"),
    };
    if !path.exists() {
        bail!("{} is missing: build both programs", path.display());
    }
    let mut command = Command::new(path);
    let limit = (2 * budget).max(8 << 20);
    command.args(["--store", store, "--maxmemory", &limit.to_string()]);
    Ok(command)
}

/// Redis as a cache: nothing is written to disk.
fn redis(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    command.args(arguments);
    command.current_dir(std::env::temp_dir());
    command
}

fn library_path(name: &str) -> Option<PathBuf> {
    let places = LIBRARIES.iter().map(|folder| Path::new(folder).join(name));
    places.into_iter().find(|path| path.exists())
}

/// A server that runs; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Waits until the server accepts connections, and reads its output from then on, so that it
    /// never waits for a reader.
    fn wait(mut self) -> anyhow::Result<Self> {
        if let Some(output) = self.child.stdout.take() {
            thread::spawn(move || BufReader::new(output).lines().for_each(drop));
        }
        let start = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            if self.child.try_wait()?.is_some() || start.elapsed() > Duration::from_secs(10) {
                bail!("the server does not answer");
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(self)
    }

    fn file(&self, name: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{name}", self.child.id());
        fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
    }

    /// The resident bytes of the process, libraries included.
    pub(crate) fn resident(&self) -> anyhow::Result<usize> {
        let rollup = self.file("smaps_rollup")?;
        let line = rollup.lines().find(|line| line.starts_with("Rss:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
        Ok(kib.ok_or_else(|| anyhow!("no Rss in smaps_rollup"))? << 10)
    }

    /// The processor time of all threads that live, in nanoseconds, user and system together.
    pub(crate) fn cpu_ns(&self) -> anyhow::Result<u64> {
        let mut sum = 0;
        for entry in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            // A thread that has ended meanwhile, as that of the client that waited for the server.
            let Ok(text) = fs::read_to_string(entry?.path().join("schedstat")) else {
                continue;
            };
            let first = text.split_whitespace().next().unwrap_or_default();
            sum += first.parse::<u64>().context("schedstat has no time")?;
        }
        Ok(sum)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
