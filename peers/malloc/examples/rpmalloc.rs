//! `libpeer_rpmalloc.so`, for `LD_PRELOAD`: malloc's family, served by rpmalloc.

use surefit_peers_malloc::rpmalloc::Rpmalloc;

surefit_interpose::export!(Rpmalloc);
