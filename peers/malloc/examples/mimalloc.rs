//! `libpeer_mimalloc.so`, for `LD_PRELOAD`: malloc's family, served by mimalloc.

use surefit_peers_malloc::mimalloc::Mimalloc;

surefit_interpose::export!(Mimalloc);
