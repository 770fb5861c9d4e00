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
    ("chain", [6.6, 4.2, 5.4, 19.6, 4.9, 4.9, 20.0, 17.4, 32.4, 5.4]),
    ("lstm500", [3.4, 3.2, 2.8, 4.7, 3.4, 4.2, 3.5, 3.0, 12.5, 4.7]),
    ("bert-base", [1.4, 1.5, 1.2, 1.6, 1.2, 1.2, 1.6, 1.5, 24.0, 1.9]),
    ("resnet152", [1.1, 0.7, 0.7, 1.4, 0.7, 0.7, 1.6, 19.2, 50.4, 0.7]),
    ("tv-swin_t", [1.6, 1.5, 1.3, 1.9, 1.3, 1.3, 1.6, 1.3, 27.0, 1.3]),
];
