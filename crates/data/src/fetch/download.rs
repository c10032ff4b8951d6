//! Resumable downloads.
//!
//! What has come is kept in a `.part` file beside the place. The next attempt, in the same run or a later one, asks the
//! server for the rest (a range request); a server that sends everything again is taken at its word, and the file begins
//! anew. The file gets its name when its SHA-256 is right, or when no hash is known for it and the server's length is
//! reached. Where the hash is wrong the `.part` file is removed, for nothing in it can be trusted.
//!
//! The observer is asked several times a second, and a connection on which nothing comes for a minute counts as lost.

use super::curl::{Head, Message, Transfer};
use crate::error::{DataError, DownloadProblem};
use crate::file::{CHUNK, read_error, report, show, write_error};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::file::hex;
use gambeson_lowrank::observe::Observer;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Before another attempt; twice as long after each that brought nothing.
const PAUSE: Duration = Duration::from_millis(125);
/// Between two looks at the observer.
const TICK: Duration = Duration::from_millis(100);
/// A connection on which nothing comes for this long counts as lost.
const SILENCE: Duration = Duration::from_secs(60);
/// The rate of a download is taken over this time.
const RATE_WINDOW: Duration = Duration::from_secs(3);

/// When a server is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Attempts in a row that bring nothing new.
    pub attempts: usize,
    /// To open a connection, and to get the head of an answer.
    pub answer: Duration,
}

impl Patience {
    /// Where there is no other server to ask: 4 attempts, 30 s each.
    pub const LONG: Self = Self { attempts: 4, answer: Duration::from_secs(30) };
    /// Where there is: 2 attempts, 10 s each.
    pub const SHORT: Self = Self { attempts: 2, answer: Duration::from_secs(10) };
}

/// Downloads `url` to `path`, going on from the `.part` file beside it where there is one.
pub fn download(
    url: &str,
    path: &Path,
    sha256: Option<&str>,
    patience: Patience,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<(), DataError> {
    let part = part_of(path);
    let failed = |reason| DataError::Download { url: url.to_owned(), reason };
    let length = || std::fs::metadata(&part).map_or(0, |metadata| metadata.len());
    let mut fruitless = 0;
    loop {
        let before = length();
        let transfer = Transfer::start("curl", url, before, patience.answer).map_err(failed)?;
        match attempt(transfer, &part, before, patience.answer, observer)? {
            Attempt::Complete => break,
            Attempt::Refused { status } => return Err(failed(DownloadProblem::Status { status })),
            Attempt::Lost { reason } => {
                report(observer, Stage::Wait, 0, None)?; // Ctrl-C reaches curl too
                fruitless = if length() > before { 0 } else { fruitless + 1 };
                if fruitless >= patience.attempts {
                    return Err(failed(DownloadProblem::Lost { reason, received: length() }));
                }
                let pause = PAUSE * (1 << fruitless.min(8));
                let began = Instant::now();
                while began.elapsed() < pause {
                    report(observer, Stage::Wait, 0, None)?;
                    std::thread::sleep(TICK.min(pause));
                }
            }
        }
    }
    if let Some(expected) = sha256 {
        let found = hash(&part, observer)?;
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

fn hash(path: &Path, observer: &mut dyn Observer<LoadProgress>) -> Result<String, DataError> {
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
        report(observer, Stage::Read, done, Some(length))?;
    }
}

enum Attempt {
    Complete,
    Lost { reason: String },
    Refused { status: u16 },
}

/// One request: appends what comes to the `.part` file.
fn attempt(
    transfer: Transfer,
    part: &Path,
    before: u64,
    answer: Duration,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Attempt, DataError> {
    let lost = |reason: &str| Ok(Attempt::Lost { reason: reason.to_owned() });
    let waiting = || LoadProgress::new(Stage::Wait, before, None);
    let (start, total) = match receive(&transfer, answer, waiting, observer)? {
        Some(Message::Head(Head { status: 200 | 206, start: Some(start), total })) => (start, total),
        Some(Message::Head(Head { status: 206, .. })) => {
            return lost("the server sent a range without saying which");
        }
        // The range asked for is empty: all is here, or the file has become another one.
        Some(Message::Head(Head { status: 416, total, .. })) if before > 0 => {
            if total == Some(before) {
                return Ok(Attempt::Complete);
            }
            std::fs::remove_file(part).map_err(write_error(part))?;
            return lost("the file on the server has changed");
        }
        // Servers that are only busy may be asked again.
        Some(Message::Head(Head { status, .. })) if status < 500 => return Ok(Attempt::Refused { status }),
        Some(Message::Head(Head { status, .. })) => return lost(&format!("the server answered {status}")),
        Some(Message::Piece(_) | Message::End) => {
            return lost(transfer.complaint().as_deref().unwrap_or("no answer"));
        }
        None => return lost(&nothing_for(answer)),
    };
    let mut file = OpenOptions::new().create(true).append(true).open(part).map_err(write_error(part))?;
    if start != before {
        file.set_len(0).map_err(write_error(part))?;
        if start > 0 {
            return lost("the server sent another range than was asked for");
        }
    }
    let (mut done, mut rate) = (start, Rate::new(start));
    loop {
        let coming =
            || LoadProgress { rate: rate.after(done), ..LoadProgress::new(Stage::Download, done, total) };
        match receive(&transfer, SILENCE, coming, observer)? {
            Some(Message::Piece(bytes)) => {
                done += bytes.len() as u64;
                if total.is_some_and(|total| done > total) {
                    return lost("the server sent more than it announced");
                }
                file.write_all(&bytes).map_err(write_error(part))?;
            }
            Some(Message::End | Message::Head(_)) => {
                let complaint = transfer.complaint();
                let whole = total.map_or(complaint.is_none(), |total| total == done);
                if !whole {
                    return lost(complaint.as_deref().unwrap_or("the connection ended early"));
                }
                file.sync_all().map_err(write_error(part))?;
                return Ok(Attempt::Complete);
            }
            None => return lost(&nothing_for(SILENCE)),
        }
    }
}

fn nothing_for(time: Duration) -> String {
    format!("nothing came for {} s", time.as_secs())
}

/// The next message, with the observer asked while waiting; `None` where patience ends.
fn receive(
    transfer: &Transfer,
    patience: Duration,
    mut progress: impl FnMut() -> LoadProgress,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Option<Message>, DataError> {
    let began = Instant::now();
    loop {
        show(observer, &progress())?;
        let message = transfer.next(TICK);
        if message.is_some() || began.elapsed() >= patience {
            return Ok(message);
        }
    }
}

/// Bytes per second of late.
struct Rate {
    /// When how many bytes had come, oldest first.
    seen: VecDeque<(Instant, u64)>,
}

impl Rate {
    fn new(done: u64) -> Self {
        Self { seen: VecDeque::from([(Instant::now(), done)]) }
    }

    /// The rate now that `done` bytes have come; `None` if too little time has passed to tell.
    fn after(&mut self, done: u64) -> Option<f64> {
        let now = Instant::now();
        // A few looks a second are enough to keep.
        if self.seen.back().is_none_or(|(last, _)| now.duration_since(*last) >= TICK) {
            self.seen.push_back((now, done));
        }
        while self.seen.len() > 2 && now.duration_since(self.seen[1].0) > RATE_WINDOW {
            self.seen.pop_front();
        }
        let (since, before) = *self.seen.front()?;
        let seconds = now.duration_since(since).as_secs_f64();
        (seconds >= TICK.as_secs_f64()).then(|| (done - before) as f64 / seconds)
    }
}
