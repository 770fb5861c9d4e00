//! Budgets in millions of instructions: what the release profile needs, and a tenth more.

/// Of the steps lex, parse, lower, infer and of the whole command, by module.
pub(crate) const COLD: [(&str, [f64; 5]); 6] = [
    ("chain", [13.5, 113.0, 83.0, 30.0, 240.0]),
    ("lstm500", [29.0, 156.0, 74.0, 23.0, 259.0]),
    ("lstm500-anf", [51.0, 245.0, 94.0, 34.0, 386.0]),
    ("bert-base", [2.5, 16.6, 11.8, 5.1, 43.0]),
    ("resnet152", [2.0, 12.3, 8.3, 4.9, 29.2]),
    ("tv-swin_t", [3.2, 21.5, 15.2, 22.1, 68.0]),
];

/// Of the kinds of edit, by module.
pub(crate) const EDITS: [(&str, [f64; 10]); 5] = [
    ("chain", [16.7, 6.4, 9.8, 20.1, 7.1, 7.1, 39.4, 17.2, 34.6, 13.2]),
    ("lstm500", [5.5, 5.2, 6.0, 6.8, 5.2, 5.2, 5.9, 5.7, 13.3, 8.0]),
    ("bert-base", [8.8, 8.8, 6.8, 8.9, 6.7, 6.7, 9.4, 6.6, 32.0, 7.0]),
    ("resnet152", [2.9, 1.3, 1.5, 3.2, 1.4, 1.3, 4.0, 18.6, 46.7, 1.5]),
    ("tv-swin_t", [30.8, 30.4, 30.2, 30.9, 30.3, 30.3, 31.2, 29.6, 60.6, 29.3]),
];
