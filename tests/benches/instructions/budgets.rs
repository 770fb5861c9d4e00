//! Budgets in millions of instructions: those of the release profile plus a tenth.

/// The budgets of the steps lex, parse, lower and infer and of the whole command, by module.
pub(crate) const COLD: [(&str, [f64; 5]); 6] = [
    ("chain", [13.5, 87.0, 52.0, 26.6, 171.0]),
    ("lstm500", [32.4, 135.0, 55.0, 17.0, 212.0]),
    ("lstm500-anf", [57.4, 218.0, 72.0, 28.1, 328.0]),
    ("bert-base", [2.7, 14.0, 9.7, 4.8, 32.6]),
    ("resnet152", [2.0, 10.3, 6.6, 4.7, 25.2]),
    ("tv-swin_t", [3.2, 18.1, 12.0, 10.7, 46.0]),
];

/// The budgets of the kinds of edit, by module.
pub(crate) const EDITS: [(&str, [f64; 10]); 6] = [
    ("chain", [4.5, 3.7, 4.3, 18.4, 4.4, 4.4, 17.3, 17.4, 32.3, 4.4]),
    ("lstm500", [1.9, 1.8, 1.9, 2.6, 1.8, 1.8, 2.1, 1.8, 12.5, 3.4]),
    ("lstm500-anf", [2.5, 2.4, 2.6, 3.8, 2.5, 3.0, 2.7, 2.4, 13.3, 4.6]),
    ("bert-base", [1.4, 1.4, 1.2, 1.3, 1.2, 1.1, 1.5, 1.1, 23.9, 1.1]),
    ("resnet152", [1.0, 0.7, 0.7, 1.1, 0.7, 0.6, 1.5, 17.7, 47.3, 0.6]),
    ("tv-swin_t", [1.4, 1.4, 1.3, 1.5, 1.3, 1.2, 1.5, 1.2, 26.8, 1.2]),
];
