//! Inputs of each form, from the mutator and the scripts of sessions.

use super::{
    mutate::Mutator,
    seeds::{Kind, Seeds},
    session,
};

impl Seeds {
    /// The seeds of a kind of input as `cargo fuzz` takes them, one file each.
    pub fn corpus(&self, kind: Kind) -> Vec<Vec<u8>> {
        match kind {
            Kind::Npy | Kind::Npz | Kind::Params | Kind::Json | Kind::Archive => {
                self.files(kind).to_vec()
            }
            Kind::Text => self.texts.iter().map(|text| text.clone().into_bytes()).collect(),
            // Texts without edits say little, and scripts are made from them.
            Kind::Edits | Kind::Choices | Kind::Session => {
                (0..500).map(|seed| Mutator::new(self, seed).input(kind)).collect()
            }
        }
    }
}

impl Mutator<'_> {
    /// An input of that form.
    pub fn input(&mut self, kind: Kind) -> Vec<u8> {
        match kind {
            Kind::Text => self.text().into_bytes(),
            Kind::Edits => self.edited().into_bytes(),
            Kind::Choices => self.choices(),
            Kind::Session => session::script(self).into_bytes(),
            Kind::Npy | Kind::Npz | Kind::Params => self.file(kind),
            Kind::Json => self.json(),
            Kind::Archive => self.archive(),
        }
    }
}
