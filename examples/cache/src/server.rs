//! The event loop: one thread, all clients.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::cache::Cache;
use crate::connection::Connection;
use crate::store::Store;

const LISTENER: Token = Token(usize::MAX);

/// Between two ticks of the cache.
const TICK: Duration = Duration::from_millis(100);

/// How many times a client is read before the others have their turn.
const READS: usize = 16;

/// What one read takes at most.
const READ_BYTES: usize = 64 << 10;

/// A client and its socket.
#[derive(Debug)]
struct Client {
    stream: TcpStream,
    connection: Connection,
    /// There may be more to read, though no event will say so.
    is_ready: bool,
}

/// A server for one cache.
#[derive(Debug)]
pub struct Server<S: Store> {
    cache: Cache<S>,
    poll: Poll,
    listener: TcpListener,
    /// By token; free places are reused.
    clients: Vec<Option<Client>>,
    started: Instant,
    buffer: Box<[u8]>,
}

impl<S: Store> Server<S> {
    /// Listens on an address.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn new(cache: Cache<S>, address: SocketAddr) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::bind(address)?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            cache,
            poll,
            listener,
            clients: Vec::new(),
            started: Instant::now(),
            buffer: vec![0; READ_BYTES].into(),
        })
    }

    /// The address, with the port that the system chose if that was 0.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves for ever.
    ///
    /// # Errors
    /// The first error that is not one client's.
    pub fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(256);
        let mut next_tick = self.started + TICK;
        loop {
            let until_tick = next_tick.saturating_duration_since(Instant::now());
            let is_any_ready = self.clients.iter().flatten().any(|client| client.is_ready);
            let timeout = if is_any_ready {
                Duration::ZERO
            } else {
                until_tick
            };
            match self.poll.poll(&mut events, Some(timeout)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept()?,
                    Token(number) => self.mark_ready(number),
                }
            }
            let now = self.now();
            for number in 0..self.clients.len() {
                self.serve(number, now);
            }
            if Instant::now() >= next_tick {
                self.cache.tick(now);
                next_tick = Instant::now() + TICK;
            }
        }
    }

    /// Milliseconds since the server was made.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn mark_ready(&mut self, number: usize) {
        if let Some(Some(client)) = self.clients.get_mut(number) {
            client.is_ready = true;
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.add(stream)?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                // A client that went away, or no more file descriptors: the next one may do better.
                Err(_) => return Ok(()),
            }
        }
    }

    fn add(&mut self, mut stream: TcpStream) -> io::Result<()> {
        let _ = stream.set_nodelay(true);
        let number = match self.clients.iter().position(Option::is_none) {
            Some(number) => number,
            None => {
                self.clients.push(None);
                self.clients.len() - 1
            }
        };
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll
            .registry()
            .register(&mut stream, Token(number), interest)?;
        self.clients[number] = Some(Client {
            stream,
            connection: Connection::default(),
            is_ready: true,
        });
        Ok(())
    }

    /// Does what a client is ready for; a client whose socket failed goes.
    fn serve(&mut self, number: usize, now: u64) {
        let Some(client) = self.clients[number].as_mut().filter(|it| it.is_ready) else {
            return;
        };
        let served = client.serve(&mut self.cache, now, &mut self.buffer);
        if served.unwrap_or(false) {
            return;
        }
        if let Some(mut client) = self.clients[number].take() {
            let _ = self.poll.registry().deregister(&mut client.stream);
        }
    }
}

impl Client {
    /// Reads, executes and writes until the socket has no more, or others wait; `false` if the
    /// connection is over.
    fn serve<S: Store>(
        &mut self,
        cache: &mut Cache<S>,
        now: u64,
        buffer: &mut [u8],
    ) -> io::Result<bool> {
        for _ in 0..READS {
            if !self.write()? {
                self.is_ready = false; // an event comes when the socket takes more
                return Ok(true);
            }
            if self.connection.is_closing() {
                return Ok(false);
            }
            // Commands that waited until replies were sent.
            self.connection.resume(cache, now);
            if !self.connection.output().is_empty() || self.connection.is_closing() {
                continue; // replies go before more is read
            }
            match self.stream.read(buffer) {
                Ok(0) => {
                    self.write()?;
                    return Ok(false);
                }
                Ok(len) => self.connection.receive(cache, now, &buffer[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.is_ready = false;
                    return Ok(true);
                }
                Err(error) => return Err(error),
            }
        }
        self.write()?;
        Ok(true)
    }

    /// Sends what waits; whether all was sent.
    fn write(&mut self) -> io::Result<bool> {
        while !self.connection.output().is_empty() {
            match self.stream.write(self.connection.output()) {
                Ok(len) => self.connection.sent(len),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}
