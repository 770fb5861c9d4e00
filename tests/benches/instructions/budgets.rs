//! Budgets in millions of instructions: those of the release profile plus a tenth.

/// The budgets of the steps lex, parse, lower and infer and of the whole command, by module.
pub(crate) const COLD: [(&str, [f64; 5]); 6] = [
    ("chain", [13.5, 88.0, 52.0, 30.0, 172.0]),
    ("lstm500", [29.0, 135.0, 55.0, 23.0, 212.0]),
    ("lstm500-anf", [51.0, 218.0, 72.0, 34.0, 328.0]),
    ("bert-base", [2.7, 14.0, 9.7, 5.1, 33.0]),
    ("resnet152", [2.0, 10.3, 6.6, 4.9, 25.2]),
    ("tv-swin_t", [3.2, 18.1, 12.0, 18.8, 54.6]),
];

/// The budgets of the kinds of edit, by module.
pub(crate) const EDITS: [(&str, [f64; 10]); 5] = [
    ("chain", [16.7, 6.4, 9.8, 20.1, 7.1, 7.1, 39.4, 17.2, 34.6, 13.2]),
    ("lstm500", [5.5, 5.2, 6.0, 6.8, 5.2, 5.2, 5.9, 5.7, 13.3, 8.0]),
    ("bert-base", [3.6, 3.6, 1.7, 3.8, 1.6, 1.5, 4.3, 1.5, 24.0, 1.9]),
    ("resnet152", [2.9, 1.3, 1.5, 3.2, 1.4, 1.3, 4.0, 18.6, 46.7, 1.5]),
    ("tv-swin_t", [21.1, 20.8, 20.7, 21.3, 20.6, 20.5, 21.6, 20.0, 46.0, 19.6]),
];
