//! Every certificate holds in exactly its bytes: no region has a byte that the certificate does not
//! name.
//!
//! | file | holds |
//! | --- | --- |
//! | `setup` | a configuration as plain numbers, its certificate, what an object takes from a demand |
//! | `heaps`, `keys` | every heap that has a certificate behind one interface |
//! | `drive`, `metered` | scripts that stay within a demand, and demands read from scripts |
//! | `chooser`, `generate`, `cases` | heaps and demands from seeds, and their results |
//! | `single_class` | one size-class, every peak |
//! | `handles` | entries, as many as are certified |
//! | `pins` | pinned objects of a class that only an alignment reaches |
//! | `places` | every misalignment, and the largest regions |
//! | `threads` | generated heaps of threads that run at once and divide a demand |

mod cases;
mod chooser;
mod drive;
mod generate;
mod handles;
mod heaps;
mod keys;
mod metered;
mod pins;
mod places;
mod setup;
mod single_class;
mod threads;
