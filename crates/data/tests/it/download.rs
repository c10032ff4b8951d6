//! Against servers of our own on the loopback device.

use crate::support::{folder, quiet, says, sha256, stop};
use gambeson_data::error::DataError;
use gambeson_data::fetch::download::{Patience, download, part_of};
use gambeson_data::progress::LoadProgress;
use gambeson_lowrank::observe::Observer;
use gambeson_testing::has_curl;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What a server does with one request.
#[derive(Clone, Copy)]
enum Answer {
    /// The range asked for, or everything.
    Ranges,
    /// Everything, whatever was asked for.
    Everything,
    /// The same, but the connection breaks after this many bytes.
    BreakAfter(usize),
    /// The range, but the connection breaks after this many bytes.
    RangeBreaksAfter(usize),
    /// An error of HTTP.
    Status(u16),
    /// The address of the same file again, with a body that is not it.
    Redirect,
    /// Everything, and a byte more than the head says, on a connection that ends by closing.
    TooLong,
}

/// A server that answers one request after the other, the last answer forever; it notes the ranges asked for.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Option<usize>>>>,
}

impl Server {
    /// A server that has nothing but an error.
    pub(crate) fn broken() -> Self {
        Self::new(Vec::new(), vec![Answer::Status(404)])
    }

    /// A server as they should be.
    pub(crate) fn of(content: Vec<u8>) -> Self {
        Self::new(content, vec![Answer::Ranges])
    }

    /// A server that is cut off after this many bytes, and then always at once.
    pub(crate) fn breaking(content: Vec<u8>, after: usize) -> Self {
        Self::new(content, vec![Answer::RangeBreaksAfter(after), Answer::RangeBreaksAfter(0)])
    }

    fn new(content: Vec<u8>, answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/file", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        std::thread::spawn(move || {
            for (k, stream) in listener.incoming().enumerate() {
                let answer = answers[k.min(answers.len() - 1)];
                let range = serve(stream.expect("a connection"), &content, answer);
                noted.lock().expect("no panic").push(range);
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<Option<usize>> {
        // The server notes a request after answering it, which the client may know of before.
        std::thread::sleep(std::time::Duration::from_millis(50));
        self.asked.lock().expect("no panic").clone()
    }
}

/// Reads a request, answers it, and returns where the range asked for begins.
fn serve(mut stream: TcpStream, content: &[u8], answer: Answer) -> Option<usize> {
    let mut range = None;
    for line in BufReader::new(stream.try_clone().expect("cloned")).lines() {
        let line = line.unwrap_or_default().to_ascii_lowercase();
        if let Some(start) = line.strip_prefix("range: bytes=") {
            range = start.trim_end_matches('-').parse().ok();
        }
        if line.is_empty() {
            break;
        }
    }
    if matches!(answer, Answer::Redirect) {
        let _ = write!(
            stream,
            "HTTP/1.1 302 X\r\nLocation: /there\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        );
        return range;
    }
    let (ranged, limit) = match answer {
        Answer::Redirect | Answer::Ranges => (true, usize::MAX),
        Answer::Everything | Answer::TooLong => (false, usize::MAX),
        Answer::BreakAfter(limit) => (false, limit),
        Answer::RangeBreaksAfter(limit) => (true, limit),
        Answer::Status(status) => {
            let _ = write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            return range;
        }
    };
    let total = content.len();
    let (head, body) = match range.filter(|_| ranged) {
        Some(start) if start >= total => {
            (format!("HTTP/1.1 416 X\r\nContent-Range: bytes */{total}\r\n"), &content[..0])
        }
        Some(start) => (
            format!("HTTP/1.1 206 X\r\nContent-Range: bytes {start}-{}/{total}\r\n", total - 1),
            &content[start..],
        ),
        None => ("HTTP/1.1 200 OK\r\n".to_owned(), content),
    };
    let _ = write!(stream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(&body[..body.len().min(limit)]); // the client may be gone
    if matches!(answer, Answer::TooLong) {
        let _ = stream.write_all(&[1]);
    }
    range
}

fn get(
    url: &str,
    path: &Path,
    sha256: Option<&str>,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<(), DataError> {
    download(url, path, sha256, Patience::LONG, observer)
}

fn content() -> Vec<u8> {
    (0..500_000_u32).map(|k| u8::try_from(k.wrapping_mul(2_654_435_761) >> 24).expect("a byte")).collect()
}

#[test]
fn a_broken_download_goes_on() {
    if !has_curl() {
        return;
    }
    let home = folder();
    let path = home.path().join("file");
    let server = Server::new(
        content(),
        vec![Answer::BreakAfter(200_000), Answer::RangeBreaksAfter(100_000), Answer::Ranges],
    );
    let mut most = 0;
    get(&server.url, &path, Some(&sha256(&content())), &mut |step: &LoadProgress| {
        most = most.max(step.done);
        std::ops::ControlFlow::Continue(())
    })
    .expect("downloaded");
    assert_eq!(std::fs::read(&path).expect("there"), content());
    assert!(!part_of(&path).exists());
    let asked = server.asked();
    assert_eq!((asked.len(), asked[0], most), (3, None, 500_000));
    assert!(asked[1] == Some(200_000) && asked[2] == Some(300_000), "{asked:?}");
}

#[test]
fn a_later_run_goes_on_and_a_server_without_ranges_begins_anew() {
    if !has_curl() {
        return;
    }
    for (answer, requests) in [(Answer::Ranges, vec![Some(123)]), (Answer::Everything, vec![Some(123)])] {
        let home = folder();
        let path = home.path().join("file");
        std::fs::write(part_of(&path), &content()[..123]).expect("written");
        let server = Server::new(content(), vec![answer]);
        get(&server.url, &path, Some(&sha256(&content())), &mut quiet).expect("downloaded");
        assert_eq!(std::fs::read(&path).expect("there"), content());
        assert_eq!(server.asked(), requests);
    }
    // All had come, but for the name.
    let home = folder();
    let path = home.path().join("file");
    std::fs::write(part_of(&path), content()).expect("written");
    get(&Server::new(content(), vec![Answer::Ranges]).url, &path, None, &mut quiet).expect("downloaded");
    // The part is longer than the file: it is of another one.
    std::fs::write(part_of(&path), [content(), vec![1]].concat()).expect("written");
    get(&Server::new(content(), vec![Answer::Ranges]).url, &path, None, &mut quiet).expect("downloaded");
    assert_eq!(std::fs::read(&path).expect("there"), content());
}

#[test]
fn wrong_bytes_are_thrown_away() {
    if !has_curl() {
        return;
    }
    let home = folder();
    let path = home.path().join("file");
    let mut wrong = content();
    wrong[400_000] ^= 1;
    let server = Server::new(wrong, vec![Answer::Ranges]);
    let result = get(&server.url, &path, Some(&sha256(&content())), &mut quiet);
    says(result, &[&server.url, "checksum", &sha256(&content())]);
    assert_eq!(std::fs::read_dir(home.path()).expect("the folder").count(), 0);
}

#[test]
fn a_lost_connection_keeps_what_came() {
    if !has_curl() {
        return;
    }
    let home = folder();
    let path = home.path().join("file");
    let server = Server::new(content(), vec![Answer::RangeBreaksAfter(100_000), Answer::RangeBreaksAfter(0)]);
    says(get(&server.url, &path, None, &mut quiet), &[&server.url, "100000 bytes are kept"]);
    assert_eq!(std::fs::read(part_of(&path)).expect("there"), content()[..100_000]);
    assert!(!path.exists());
    let server = Server::new(content(), vec![Answer::Status(404)]);
    says(get(&server.url, &home.path().join("none"), None, &mut quiet), &["404"]);
    let server = Server::new(content(), vec![Answer::Status(503), Answer::Ranges]);
    get(&server.url, &home.path().join("busy"), None, &mut quiet).expect("asked again");
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    says(get(&format!("http://{closed}/x"), &home.path().join("none"), None, &mut quiet), &["127.0.0.1"]);
    let stopped = get(&server.url, &home.path().join("stop"), None, &mut stop);
    assert!(matches!(stopped, Err(DataError::Stopped)));
}

#[test]
fn redirects_are_followed_and_what_is_left_over_is_not_taken() {
    if !has_curl() {
        return;
    }
    let home = folder();
    let path = home.path().join("file");
    let server = Server::new(content(), vec![Answer::Redirect, Answer::Ranges]);
    std::fs::write(part_of(&path), &content()[..7]).expect("written");
    get(&server.url, &path, Some(&sha256(&content())), &mut quiet).expect("downloaded");
    assert_eq!(server.asked(), [Some(7), Some(7)]);
    let path = home.path().join("longer");
    let server = Server::new(content(), vec![Answer::TooLong]);
    get(&server.url, &path, None, &mut quiet).expect("downloaded");
    assert_eq!(std::fs::read(&path).expect("there"), content());
    for url in ["file:///etc/hostname", "--output=here", "/etc/hostname"] {
        says(get(url, &home.path().join("none"), None, &mut quiet), &[url, "http:// or https://"]);
    }
}
