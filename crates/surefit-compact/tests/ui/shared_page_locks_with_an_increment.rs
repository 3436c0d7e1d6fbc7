use surefit_compact::Config;
use surefit_compact::shared::{PerPage, SharedConfig};

fn main() {
    SharedConfig::<PerPage>::new(Config::DEFAULT).with_increment(64).unwrap();
}
