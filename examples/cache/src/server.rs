//! The server: a thread for each client, and one that keeps house.
//!
//! A client's thread reads at most 16 KiB, executes what is complete, and sends the replies before
//! it reads on. So a client that sends many requests at once, or does not read its replies, waits
//! alone, and holds no more memory than one request and its replies.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{Cache, Client};
use crate::resp::{Limits, Malformed, Request};
use crate::store::Store;

/// Between two ticks of the shards.
const TICK: Duration = Duration::from_millis(100);

/// The same while one of them says that more waits.
const PAUSE: Duration = Duration::from_millis(1);

/// How long a client may take to read replies.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes that are read at once.
const READ: usize = 16 << 10;

/// Replies that are sent before more requests are executed.
const SEND: usize = 256 << 10;

/// Requests that are read before the first of them is executed, at most.
const AHEAD: usize = 16;

/// The longest key that is looked for ahead, in bytes: its hash is computed twice.
const SHORT: usize = 256;

/// The stack of a client's thread.
const STACK: usize = 256 << 10;

/// What a server does not exceed.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Clients at a time.
    pub clients: usize,
    /// Of one request.
    pub request: Limits,
}

impl Most {
    /// 1,000 clients.
    pub const DEFAULT: Self = Self {
        clients: 1000,
        request: Limits::DEFAULT,
    };
}

/// A server for one cache.
#[derive(Debug)]
pub struct Server<S> {
    cache: Cache<S>,
    listener: TcpListener,
    most: Most,
    clients: AtomicUsize,
    started: Instant,
}

impl<S: Store> Server<S> {
    /// Listens on an address.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn new(cache: Cache<S>, address: SocketAddr, most: Most) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let (clients, started) = (AtomicUsize::new(0), Instant::now());
        Ok(Self {
            cache,
            listener,
            most,
            clients,
            started,
        })
    }

    /// The address, with the port that the system chose if that was 0.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Milliseconds since the server was made.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Serves for ever.
    ///
    /// # Errors
    /// What the system refuses before the first client.
    pub fn run(self) -> io::Result<()> {
        let server = Arc::new(self);
        let house = Arc::clone(&server);
        thread::Builder::new()
            .name("house".into())
            .stack_size(STACK)
            .spawn(move || {
                let mut is_more = false;
                loop {
                    thread::sleep(if is_more { PAUSE } else { TICK });
                    let shards = house.cache.shards.each();
                    let ticks = shards.map(|mut shard| shard.tick(house.now()));
                    is_more = ticks.fold(false, |one, other| one | other);
                }
            })?;
        loop {
            match server.listener.accept() {
                Ok((stream, _)) => Self::welcome(&server, stream),
                // A client that went away, or no more file descriptors: the next may do better.
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn welcome(server: &Arc<Self>, mut stream: TcpStream) {
        let seat = Seat::of(server);
        if server.clients.load(Ordering::Relaxed) > server.most.clients {
            // A client that is not served is not waited for.
            let _ = stream.set_nonblocking(true);
            let _ = stream.write_all(b"-ERR max number of clients reached\r\n");
            return;
        }
        let builder = thread::Builder::new()
            .name("client".into())
            .stack_size(STACK);
        // Without a thread the stream is dropped, and the client sees its end.
        let _ = builder.spawn(move || {
            // An error is the client's, whose connection is over.
            let _ = serve(&seat.0, &mut stream);
            let _ = stream.shutdown(Shutdown::Both);
        });
    }
}

/// A client that is counted.
struct Seat<S>(Arc<Server<S>>);

impl<S> Seat<S> {
    fn of(server: &Arc<Server<S>>) -> Self {
        server.clients.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(server))
    }
}

impl<S> Drop for Seat<S> {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Serves one client until its connection is over.
fn serve<S: Store>(server: &Server<S>, stream: &mut TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut connection = Connection::default();
    let mut buffer = vec![0; READ];
    loop {
        let len = match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) => len,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        connection.receive(
            &server.cache,
            &|| server.now(),
            &server.most.request,
            &buffer[..len],
            stream,
        )?;
        if connection.is_closing() {
            return Ok(());
        }
    }
}

/// One client without its socket: the bytes of an incomplete request, and replies.
#[derive(Debug, Default)]
pub struct Connection {
    client: Client,
    /// Requests that are read ahead. Between two calls the first one alone may have begun.
    requests: [Request; AHEAD],
    /// The bytes of an incomplete request.
    rest: Vec<u8>,
}

impl Connection {
    /// Whether the connection is over.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.client.is_closing
    }

    /// Takes bytes from the client, executes the requests that they complete, and writes all
    /// replies. What is no request is answered with an error, and the connection is over. The clock
    /// is asked for the time, in milliseconds, before each command: those before it, and a client
    /// that reads its replies slowly, may take long.
    ///
    /// # Errors
    /// What `writer` returns.
    pub fn receive<S: Store>(
        &mut self,
        cache: &Cache<S>,
        clock: &dyn Fn() -> u64,
        limits: &Limits,
        bytes: &[u8],
        writer: &mut impl Write,
    ) -> io::Result<()> {
        if self.rest.is_empty() {
            let used = self.execute(cache, clock, limits, bytes, writer)?;
            self.rest.extend_from_slice(&bytes[used..]);
            return Ok(());
        }
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let used = self.execute(cache, clock, limits, &all, writer)?;
        if used > 0 {
            all.drain(..used);
            // Not while a request grows, which would be copied each time.
            all.shrink_to(READ);
        }
        self.rest = all;
        Ok(())
    }

    /// Executes complete requests; returns how many bytes they had.
    fn execute<S: Store>(
        &mut self,
        cache: &Cache<S>,
        clock: &dyn Fn() -> u64,
        limits: &Limits,
        bytes: &[u8],
        writer: &mut impl Write,
    ) -> io::Result<usize> {
        let mut start = 0;
        self.client.reply.most = limits.reply;
        let stranger = limits.of_a_stranger();
        while !self.client.is_closing {
            // A stranger may be known after the next request.
            let (limits, ahead) = match cache.knows(&self.client) {
                true => (limits, AHEAD),
                false => (&stranger, 1),
            };
            let (complete, malformed) = self.read_ahead(&bytes[start..], limits, ahead);
            look_ahead(cache, &self.requests[..complete], &bytes[start..]);
            for request in &self.requests[..complete] {
                let own = &bytes[start..start + request.end()];
                with_words(request, own, |words| {
                    cache.execute(&mut self.client, clock(), words);
                });
                start += own.len();
                if self.client.reply.bytes().len() >= SEND {
                    send(&mut self.client, writer)?;
                }
                if self.client.is_closing {
                    break;
                }
            }
            self.requests[..complete]
                .iter_mut()
                .for_each(Request::reset);
            self.requests.rotate_left(complete);
            if let Some(malformed) = malformed.filter(|_| !self.client.is_closing) {
                let text = format!("ERR {}", malformed.0);
                self.client.reply.error(&text);
                self.client.is_closing = true;
            }
            if complete < ahead {
                break;
            }
        }
        send(&mut self.client, writer)?;
        Ok(start)
    }

    /// Reads at most so many requests as long as they are complete: how many there are, and why the
    /// bytes behind them are none.
    fn read_ahead(
        &mut self,
        bytes: &[u8],
        limits: &Limits,
        most: usize,
    ) -> (usize, Option<Malformed>) {
        let mut start = 0;
        for (number, request) in self.requests[..most].iter_mut().enumerate() {
            match request.read(&bytes[start..], limits) {
                Ok(Some(len)) => start += len,
                Ok(None) => return (number, None),
                Err(malformed) => return (number, Some(malformed)),
            }
        }
        (most, None)
    }
}

fn send(client: &mut Client, writer: &mut impl Write) -> io::Result<()> {
    writer.write_all(client.reply.bytes())?;
    client.reply.clear();
    Ok(())
}

/// Looks for the keys of several requests, which follow each other in the bytes.
fn look_ahead<S: Store>(cache: &Cache<S>, requests: &[Request], bytes: &[u8]) {
    if requests.len() < 2 || !S::LOOKS_AHEAD {
        return;
    }
    let mut start = 0;
    let keys = requests.iter().filter_map(|request| {
        let own = &bytes[start..];
        start += request.end();
        let key = &own[request.arguments().get(1)?.clone()];
        (key.len() <= SHORT).then_some(key)
    });
    cache.shards.look_ahead(keys);
}

/// Calls a function with the words of a request; without an allocation if they are few.
fn with_words(request: &Request, bytes: &[u8], act: impl FnOnce(&[&[u8]])) {
    const FEW: usize = 8;
    let places = request.arguments();
    if places.len() > FEW {
        let words: Vec<&[u8]> = places.iter().map(|place| &bytes[place.clone()]).collect();
        return act(&words);
    }
    let mut words = [&[][..]; FEW];
    for (word, place) in words.iter_mut().zip(places) {
        *word = &bytes[place.clone()];
    }
    act(&words[..places.len()]);
}
