//! Downloads that go on where they were cut off.
//!
//! What has come is kept in a `.part` file beside the place. The next attempt, in the same run or a later one, asks the
//! server for the rest (a range request); a server that sends everything again is taken at its word, and the file begins
//! anew. The file gets its name when its SHA-256 is right, or when no hash is known for it and the server's length is
//! reached. Where the hash is wrong the `.part` file is removed, for nothing in it can be trusted.
//!
//! The connection is read by a thread of its own, so that the observer is asked several times a second, and a connection
//! on which nothing comes for a minute counts as lost.

use crate::error::DataError;
use crate::file::{CHUNK, Progress, read_error, report, write_error};
use crate::source::Stage;
use gambeson_lowrank::file::hex;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Attempts in a row that bring nothing new before a download is given up.
const ATTEMPTS: usize = 4;
/// Before another attempt; twice as long after each that brought nothing.
const PAUSE: Duration = Duration::from_millis(125);
/// Between two looks at the observer.
const TICK: Duration = Duration::from_millis(100);
/// To open a connection, and to get the head of an answer.
const ANSWER: Duration = Duration::from_secs(30);
/// Without a byte a connection counts as lost.
const SILENCE: Duration = Duration::from_secs(60);

/// Why a download failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DownloadProblem {
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

/// Downloads `url` to `path`, going on from the `.part` file beside it where there is one.
pub fn download(
    url: &str,
    path: &Path,
    sha256: Option<&str>,
    progress: Progress<'_>,
) -> Result<(), DataError> {
    let part = part_of(path);
    let failed = |reason| DataError::Download { url: url.to_owned(), reason };
    let length = || std::fs::metadata(&part).map_or(0, |metadata| metadata.len());
    let mut fruitless = 0;
    loop {
        let before = length();
        match attempt(url, &part, before, progress)? {
            Attempt::Complete => break,
            Attempt::Refused { status } => return Err(failed(DownloadProblem::Status { status })),
            Attempt::Lost { reason } => {
                fruitless = if length() > before { 0 } else { fruitless + 1 };
                if fruitless == ATTEMPTS {
                    return Err(failed(DownloadProblem::Lost { reason, received: length() }));
                }
                let pause = PAUSE * (1 << fruitless);
                let began = Instant::now();
                while began.elapsed() < pause {
                    report(progress, Stage::Wait, 0, None)?;
                    std::thread::sleep(TICK.min(pause));
                }
            }
        }
    }
    if let Some(expected) = sha256 {
        let found = hash(&part, progress)?;
        if found != expected {
            std::fs::remove_file(&part).map_err(write_error(&part))?;
            return Err(failed(DownloadProblem::Checksum { expected: expected.to_owned(), found }));
        }
    }
    std::fs::rename(&part, path).map_err(write_error(path))
}

/// The file that holds what has come so far.
pub fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

fn hash(path: &Path, progress: Progress<'_>) -> Result<String, DataError> {
    let mut file = File::open(path).map_err(read_error(path))?;
    let length = file.metadata().map_err(read_error(path))?.len();
    let (mut hash, mut buffer, mut done) = (Sha256::new(), vec![0; CHUNK], 0);
    loop {
        let read = file.read(&mut buffer).map_err(read_error(path))?;
        if read == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&buffer[..read]);
        done += read as u64;
        report(progress, Stage::Read, done, Some(length))?;
    }
}

enum Attempt {
    Complete,
    Lost { reason: String },
    Refused { status: u16 },
}

/// What the thread at the connection says.
enum Message {
    /// The answer: status, where the body begins and how long the whole file is, as far as is known.
    Head {
        status: u16,
        start: u64,
        total: Option<u64>,
    },
    Piece(Vec<u8>),
    End,
    Failed(String),
}

/// One connection: appends what comes to the `.part` file.
fn attempt(url: &str, part: &Path, before: u64, progress: Progress<'_>) -> Result<Attempt, DataError> {
    // A reader that is given up must not wait for ever: the channel is short and closes with this function.
    let (sender, receiver) = sync_channel(8);
    let address = url.to_owned();
    std::thread::spawn(move || {
        if let Err(reason) = connection(&address, before, &sender) {
            let _ = sender.send(Message::Failed(reason)); // nobody listens any more: nothing to do
        }
    });
    let (start, total) = match receive(&receiver, ANSWER, Stage::Wait, (before, None), progress)? {
        Message::Head { status: 200 | 206, start, total } => (start, total),
        // The range asked for is empty: all is here, or the file has become another one.
        Message::Head { status: 416, total, .. } if before > 0 => {
            if total == Some(before) {
                return Ok(Attempt::Complete);
            }
            std::fs::remove_file(part).map_err(write_error(part))?;
            return Ok(Attempt::Lost { reason: "the file on the server has changed".to_owned() });
        }
        // Servers that are only busy may be asked again.
        Message::Head { status, .. } if status < 500 => return Ok(Attempt::Refused { status }),
        Message::Head { status, .. } => {
            return Ok(Attempt::Lost { reason: format!("the server answered {status}") });
        }
        Message::Failed(reason) => return Ok(Attempt::Lost { reason }),
        Message::Piece(_) | Message::End => return Ok(Attempt::Lost { reason: "no answer".to_owned() }),
    };
    let mut file = OpenOptions::new().create(true).append(true).open(part).map_err(write_error(part))?;
    if start != before {
        file.set_len(0).map_err(write_error(part))?;
        if start > 0 {
            return Ok(Attempt::Lost {
                reason: "the server sent another range than was asked for".to_owned(),
            });
        }
    }
    let mut done = start;
    loop {
        match receive(&receiver, SILENCE, Stage::Download, (done, total), progress)? {
            Message::Piece(bytes) => {
                file.write_all(&bytes).map_err(write_error(part))?;
                done += bytes.len() as u64;
            }
            Message::End if total.is_none_or(|total| total == done) => {
                file.sync_all().map_err(write_error(part))?;
                return Ok(Attempt::Complete);
            }
            Message::End | Message::Head { .. } => {
                return Ok(Attempt::Lost { reason: "the connection ended early".to_owned() });
            }
            Message::Failed(reason) => return Ok(Attempt::Lost { reason }),
        }
    }
}

/// The next message, with the observer asked while waiting.
fn receive(
    receiver: &Receiver<Message>,
    patience: Duration,
    stage: Stage,
    (done, total): (u64, Option<u64>),
    progress: Progress<'_>,
) -> Result<Message, DataError> {
    let began = Instant::now();
    loop {
        report(progress, stage, done, total)?;
        match receiver.recv_timeout(TICK) {
            Ok(message) => return Ok(message),
            Err(RecvTimeoutError::Timeout) if began.elapsed() < patience => {}
            Err(RecvTimeoutError::Timeout) => {
                return Ok(Message::Failed(format!("nothing came for {} s", patience.as_secs())));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Message::Failed("the connection ended".to_owned()));
            }
        }
    }
}

/// Asks for the file from byte `before` on and passes on what comes. Ends quietly where nobody listens.
fn connection(url: &str, before: u64, sender: &SyncSender<Message>) -> Result<(), String> {
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(ANSWER))
        .timeout_recv_response(Some(ANSWER))
        .user_agent("gambeson")
        .build()
        .new_agent();
    // Compressed on the way, a file would have no ranges.
    let mut request = agent.get(url).header("Accept-Encoding", "identity");
    if before > 0 {
        request = request.header("Range", format!("bytes={before}-"));
    }
    let response = request.call().map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let (start, total) = match (status, header("content-range").and_then(content_range)) {
        (206, Some((Some(start), total))) => (start, total),
        (206, _) => return Err("the server sent a range without saying which".to_owned()),
        (_, Some((_, total))) => (0, total),
        _ => (0, header("content-length").and_then(|length| length.parse().ok())),
    };
    if sender.send(Message::Head { status, start, total }).is_err() {
        return Ok(());
    }
    let mut body = response.into_body().into_reader();
    loop {
        let mut piece = vec![0; 1 << 16];
        let read = body.read(&mut piece).map_err(|error| error.to_string())?;
        piece.truncate(read);
        let message = if read == 0 { Message::End } else { Message::Piece(piece) };
        if sender.send(message).is_err() || read == 0 {
            return Ok(());
        }
    }
}

/// First byte and whole length of `bytes 5-9/10` or `bytes */10`.
fn content_range(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let start = range.split_once('-').and_then(|(start, _)| start.trim().parse().ok());
    Some((start, total.trim().parse().ok()))
}
