#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| surefit_fuzz::cache::run(data));
