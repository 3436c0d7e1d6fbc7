#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| surefit_fuzz::shared_heap::run(data));
