#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| relay_tests::fuzz::pasted(input));
