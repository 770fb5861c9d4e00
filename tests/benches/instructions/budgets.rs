//! Budgets in millions of instructions, a little over what the release profile needs.

/// Of the steps lex, parse, lower, infer and of the whole command, by module.
pub(crate) const COLD: [(&str, [f64; 5]); 6] = [
    ("chain", [13.5, 113.0, 83.0, 47.0, 245.0]),
    ("lstm500", [29.0, 156.0, 74.0, 23.0, 259.0]),
    ("lstm500-anf", [51.0, 245.0, 94.0, 34.0, 386.0]),
    ("bert-base", [2.5, 16.6, 11.8, 5.1, 43.0]),
    ("resnet152", [2.0, 12.3, 8.3, 4.9, 29.2]),
    ("tv-swin_t", [3.2, 21.5, 15.2, 18.7, 66.0]),
];

/// Of the kinds of edit, by module.
pub(crate) const EDITS: [(&str, [f64; 10]); 3] = [
    ("chain", [27.5, 8.0, 10.0, 27.5, 31.0, 8.5, 50.0, 28.0, 48.0, 13.2]),
    ("lstm500", [6.1, 5.9, 16.0, 16.8, 52.0, 6.1, 16.0, 6.5, 14.2, 16.4]),
    ("bert-base", [12.9, 12.9, 10.6, 14.0, 10.8, 7.9, 15.8, 7.8, 33.0, 9.4]),
];
