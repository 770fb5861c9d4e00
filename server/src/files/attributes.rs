//! What a file has besides its content.

use std::fs::Metadata;

pub(super) use system::Attributes;

/// Returns true if a file has further hard links, which would keep the old content.
pub(super) fn is_linked(data: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(data) > 1;
    #[cfg(not(unix))]
    {
        let _ = data;
        false
    }
}

#[cfg(unix)]
mod system {
    use std::{
        fs::{File, Metadata, Permissions},
        io,
        os::unix::fs::{MetadataExt, PermissionsExt},
    };

    use rustix::{
        fs::{Gid, Uid, XattrFlags, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr},
        io::Errno,
    };

    /// The longest list of names, and the longest value, that Linux supports.
    const LONGEST: usize = 64 << 10;
    /// Attributes that the system derives from the content, and drops when it changes.
    const OF_CONTENT: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];

    /// The mode, owner and extended attributes of a file.
    pub(in crate::files) struct Attributes {
        mode: u32,
        owner: (u32, u32),
        extended: Vec<(Vec<u8>, Vec<u8>)>,
    }

    impl Attributes {
        /// Reads the attributes of a file.
        pub(in crate::files) fn of(file: &File, data: &Metadata) -> io::Result<Attributes> {
            let extended = extended(file)?;
            Ok(Attributes { mode: data.mode(), owner: (data.uid(), data.gid()), extended })
        }

        /// Gives a file these attributes.
        ///
        /// # Errors
        /// The file cannot have all of them.
        pub(in crate::files) fn apply(&self, file: &File) -> io::Result<()> {
            let data = file.metadata()?;
            if (data.uid(), data.gid()) != self.owner {
                let (uid, gid) = self.owner;
                fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
            }
            let own = extended(file)?;
            for (name, _) in &own {
                // A default access list of the folder.
                if !self.extended.iter().any(|(kept, _)| kept == name) {
                    fremovexattr(file, name.as_slice())?;
                }
            }
            for attribute in &self.extended {
                if !own.contains(attribute) {
                    let (name, value) = attribute;
                    fsetxattr(file, name.as_slice(), value, XattrFlags::empty())?;
                }
            }
            // Last: a new owner clears some bits, and an access list contains others.
            file.set_permissions(Permissions::from_mode(self.mode & 0o7777))
        }
    }

    /// Returns the extended attributes of a file, with its access lists.
    fn extended(file: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut names = vec![0; LONGEST];
        let length = match flistxattr(file, names.as_mut_slice()) {
            // A file system without them.
            Err(Errno::NOTSUP | Errno::NOSYS) => 0,
            length => length?,
        };
        let mut all = Vec::new();
        for name in names[..length].split(|&byte| byte == 0) {
            if name.is_empty() || OF_CONTENT.contains(&name) {
                continue;
            }
            let mut value = vec![0; LONGEST];
            let length = fgetxattr(file, name, value.as_mut_slice())?;
            value.truncate(length);
            all.push((name.to_owned(), value));
        }
        Ok(all)
    }
}

#[cfg(not(unix))]
mod system {
    use std::{
        fs::{File, Metadata, Permissions},
        io,
    };

    /// The permissions of a file.
    pub(in crate::files) struct Attributes(Permissions);

    impl Attributes {
        pub(in crate::files) fn of(_file: &File, data: &Metadata) -> io::Result<Attributes> {
            Ok(Attributes(data.permissions()))
        }

        pub(in crate::files) fn apply(&self, file: &File) -> io::Result<()> {
            file.set_permissions(self.0.clone())
        }
    }
}
