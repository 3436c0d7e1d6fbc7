//! What commands do: names, numbers of arguments, replies. The words of the errors are those of
//! Redis.

mod call;
mod collections;
mod keys;
mod pattern;
mod server;
mod texts;

use crate::store::Store;
use call::{Call, Done};

pub use call::{Cache, Client};
pub use server::size;

/// A command's name in capitals, the words that it has at least and at most, and what it does.
type Command<S> = (&'static str, usize, usize, fn(&mut Call<'_, S>) -> Done);

/// Any number of words.
const ANY: usize = usize::MAX;

impl<S: Store> Cache<S> {
    /// All commands.
    const COMMANDS: &'static [Command<S>] = &[
        ("GET", 2, 2, texts::get),
        ("SET", 3, ANY, texts::set),
        ("SETNX", 3, 3, texts::set_new),
        ("MGET", 2, ANY, texts::get_many),
        ("MSET", 3, ANY, texts::set_many),
        ("INCR", 2, 2, texts::increment),
        ("DECR", 2, 2, texts::decrement),
        ("INCRBY", 3, 3, texts::increment),
        ("DECRBY", 3, 3, texts::decrement),
        ("APPEND", 3, 3, texts::append),
        ("STRLEN", 2, 2, texts::length),
        ("DEL", 2, ANY, keys::delete),
        ("UNLINK", 2, ANY, keys::delete),
        ("EXISTS", 2, ANY, keys::exists),
        ("EXPIRE", 3, 3, keys::expire),
        ("PEXPIRE", 3, 3, keys::expire_ms),
        ("TTL", 2, 2, keys::time_left),
        ("PTTL", 2, 2, keys::time_left_ms),
        ("PERSIST", 2, 2, keys::persist),
        ("TYPE", 2, 2, keys::kind),
        ("SCAN", 2, ANY, keys::scan),
        ("HSET", 4, ANY, collections::set_fields),
        ("HMSET", 4, ANY, collections::set_fields),
        ("HGET", 3, 3, collections::field),
        ("HDEL", 3, ANY, collections::remove_fields),
        ("HGETALL", 2, 2, collections::fields),
        ("HLEN", 2, 2, collections::field_count),
        ("LPUSH", 3, ANY, collections::push_front),
        ("RPUSH", 3, ANY, collections::push_back),
        ("LPOP", 2, 3, collections::pop_front),
        ("RPOP", 2, 3, collections::pop_back),
        ("LRANGE", 4, 4, collections::range),
        ("LLEN", 2, 2, collections::value_count),
        ("DBSIZE", 1, 1, server::key_count),
        ("FLUSHALL", 1, 2, server::clear),
        ("FLUSHDB", 1, 2, server::clear),
        ("MEMORY", 2, ANY, server::memory),
        ("INFO", 1, ANY, server::info),
        ("CONFIG", 2, ANY, server::config),
        ("PING", 1, 2, server::ping),
        ("ECHO", 2, 2, server::echo),
        ("SELECT", 2, 2, server::select),
        ("COMMAND", 1, ANY, server::commands),
        ("CLIENT", 2, ANY, server::client),
        ("AUTH", 2, 3, server::authenticate),
        ("HELLO", 1, ANY, server::hello),
        ("QUIT", 1, ANY, server::quit),
    ];

    /// Whether a client may do all: there is no password, or it has said it.
    pub(crate) fn knows(&self, client: &Client) -> bool {
        self.password.is_none() || client.is_known
    }

    /// Executes a command at a time in milliseconds, and appends what is answered. A request
    /// without words is not answered.
    pub fn execute(&self, client: &mut Client, now: u64, words: &[&[u8]]) {
        let Some(name) = words.first() else {
            return;
        };
        let mut commands = Self::COMMANDS.iter();
        let found = commands.find(|command| name.eq_ignore_ascii_case(command.0.as_bytes()));
        let Some((name, least, most, act)) = found else {
            let name = String::from_utf8_lossy(&name[..name.len().min(64)]);
            return client.reply.error(&format!("ERR unknown command '{name}'"));
        };
        if words.len() < *least || words.len() > *most {
            let name = name.to_lowercase();
            let text = format!("ERR wrong number of arguments for '{name}' command");
            return client.reply.error(&text);
        }
        let is_open = matches!(*name, "AUTH" | "HELLO" | "QUIT");
        if !self.knows(client) && !is_open {
            return client.reply.error("NOAUTH Authentication required.");
        }
        let mut call = Call {
            cache: self,
            client,
            now,
            words,
        };
        if let Err(failure) = act(&mut call) {
            call.client.reply.error(failure.text());
        }
    }
}
