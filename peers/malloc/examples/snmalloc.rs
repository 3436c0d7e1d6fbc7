//! `libpeer_snmalloc.so`, for `LD_PRELOAD`: malloc's family, served by snmalloc.

use surefit_peers_malloc::snmalloc::Snmalloc;

surefit_interpose::export!(Snmalloc);
