//! Budgets in millions of instructions: those of the release profile plus a tenth.

/// The budgets of the steps lex, parse, lower and infer and of the whole command, by module.
pub(crate) const COLD: [(&str, [f64; 5]); 7] = [
    ("chain", [13.5, 87.0, 52.0, 26.6, 171.0]),
    ("long-chain", [135.0, 870.0, 520.0, 270.0, 1_710.0]),
    ("lstm500", [32.4, 135.0, 55.0, 17.0, 212.0]),
    ("lstm500-anf", [57.4, 218.0, 72.0, 28.1, 328.0]),
    ("bert-base", [2.7, 14.0, 9.7, 4.8, 32.6]),
    ("resnet152", [2.0, 10.3, 6.6, 4.7, 25.2]),
    ("tv-swin_t", [3.2, 18.1, 12.0, 10.7, 46.0]),
];

/// The budgets of the kinds of edit, by module.
pub(crate) const EDITS: [(&str, [f64; 10]); 7] = [
    ("chain", [0.9, 0.8, 0.8, 4.2, 0.8, 0.7, 14.9, 3.2, 5.5, 0.8]),
    ("long-chain", [3.0, 2.0, 2.4, 39.9, 2.1, 2.1, 27.5, 26.7, 51.1, 2.9]),
    ("lstm500", [1.8, 1.7, 1.8, 2.2, 1.7, 1.7, 1.9, 1.8, 12.5, 2.4]),
    ("lstm500-anf", [2.3, 2.2, 2.4, 2.6, 2.3, 2.3, 2.5, 2.2, 13.0, 2.0]),
    ("bert-base", [1.3, 1.3, 1.2, 1.3, 1.2, 1.1, 1.4, 1.1, 23.8, 1.1]),
    ("resnet152", [1.0, 0.7, 0.7, 1.0, 0.7, 0.6, 1.5, 17.6, 47.3, 0.6]),
    ("tv-swin_t", [1.3, 1.3, 1.3, 1.4, 1.3, 1.2, 1.4, 1.2, 26.4, 1.1]),
];
