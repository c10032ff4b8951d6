//! The system's `curl`, one request at a time.
//!
//! TLS, certificates, proxies and redirects are curl's business, which spares the build a TLS library; every file is
//! verified by its SHA-256 anyway. curl is started without a shell and without its configuration file, takes no address
//! but those of http and https (after a redirect from https only https), and writes the heads of the answers and then the
//! body to a pipe, which a thread of its own reads.

use crate::error::DownloadProblem;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Bytes of an answer's head that are read before it is given up.
const LONGEST_HEAD: u64 = 1 << 20;
/// Bytes passed on at a time.
const PIECE: usize = 1 << 16;

/// What comes from the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The last answer, redirects left behind.
    Head(Head),
    /// The next bytes of its body; not empty.
    Piece(Vec<u8>),
    /// Nothing more will come.
    End,
}

/// What an answer says of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Status of HTTP.
    pub(super) status: u16,
    /// Where the body begins in the file; `None` for a range that is not named.
    pub(super) start: Option<u64>,
    /// Bytes of the whole file, where that is known.
    pub(super) total: Option<u64>,
}

/// A running request. Dropping it ends it.
pub(super) struct Transfer {
    curl: Child,
    messages: Receiver<Message>,
}

impl Transfer {
    /// Asks for a file from byte `from` on. `connect` is the time to find a connection.
    pub(super) fn start(
        program: &str,
        url: &str,
        from: u64,
        connect: Duration,
    ) -> Result<Self, DownloadProblem> {
        let then = match url {
            url if url.starts_with("https://") => "=https",
            url if url.starts_with("http://") => "=http,https",
            _ => return Err(DownloadProblem::Address),
        };
        let mut command = Command::new(program);
        // `--disable` must come first. No compression: a file compressed on the way would have no ranges.
        command.args(["--disable", "--silent", "--show-error", "--include", "--suppress-connect-headers"]);
        command.args(["--no-buffer", "--globoff", "--http1.1", "--location", "--max-redirs", "10"]);
        command.args(["--proto", "=http,https", "--proto-redir", then, "--user-agent", "gambeson"]);
        command.args(["--header", "Accept-Encoding: identity"]);
        // A proxy cannot reach the servers of this machine.
        if is_local(url) {
            command.args(["--noproxy", "127.0.0.1,localhost,::1"]);
        }
        command.arg("--connect-timeout").arg(connect.as_secs().max(1).to_string());
        if from > 0 {
            command.arg("--range").arg(format!("{from}-"));
        }
        command.args(["--output", "-", "--", url]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut curl = command.spawn().map_err(|reason| DownloadProblem::NoCurl { reason })?;
        // A reader that is given up must not wait forever: the channel is short and closes with this value.
        let (sender, messages) = sync_channel(8);
        if let Some(output) = curl.stdout.take() {
            std::thread::spawn(move || pass_on(BufReader::with_capacity(PIECE, output), &sender));
        }
        Ok(Self { curl, messages })
    }

    /// The next message, or `None` if none comes in time.
    pub(super) fn next(&self, wait: Duration) -> Option<Message> {
        match self.messages.recv_timeout(wait) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Message::End),
        }
    }

    /// After [`Message::End`]: what curl complains about, if anything.
    pub(super) fn complaint(mut self) -> Option<String> {
        let status = self.curl.wait();
        if status.is_ok_and(|status| status.success()) {
            return None;
        }
        let mut said = String::new();
        if let Some(errors) = self.curl.stderr.take() {
            let _ = errors.take(1 << 16).read_to_string(&mut said); // no reason is better than no answer
        }
        let line = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("the connection ended");
        // `curl: (6) Could not resolve host: x`
        let reason = line.strip_prefix("curl: ").unwrap_or(line);
        let reason =
            reason.split_once(") ").filter(|_| reason.starts_with('(')).map_or(reason, |(_, rest)| rest);
        Some(reason.to_owned())
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let _ = self.curl.kill(); // it may have ended by itself
        let _ = self.curl.wait();
    }
}

/// Whether an address names this machine.
fn is_local(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
        host.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/', '?', '#']))
    })
}

/// Reads what curl writes and passes it on, until it ends or nobody listens.
fn pass_on(mut output: BufReader<ChildStdout>, sender: &SyncSender<Message>) {
    let Some(head) = last_head(&mut output) else { return };
    if sender.send(Message::Head(head)).is_err() {
        return;
    }
    let mut piece = vec![0; PIECE];
    while let Ok(read @ 1..) = output.read(&mut piece) {
        if sender.send(Message::Piece(piece[..read].to_vec())).is_err() {
            return;
        }
    }
}

/// The head of the answer that has the body: curl prints those of redirects and interim answers before it.
fn last_head(output: &mut impl BufRead) -> Option<Head> {
    loop {
        let (head, goes_on) = one_head(output)?;
        if !goes_on {
            return Some(head);
        }
    }
}

/// One head, and whether another answer follows; `None` where it is not whole.
fn one_head(output: &mut impl BufRead) -> Option<(Head, bool)> {
    let mut lines = output.take(LONGEST_HEAD);
    let mut line = || {
        let mut line = Vec::new();
        lines.read_until(b'\n', &mut line).ok()?;
        line.ends_with(b"\n").then(|| String::from_utf8_lossy(&line).trim_end().to_owned())
    };
    let first = line()?;
    let status = first.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok()?;
    let (mut range, mut length, mut location) = (None, None, false);
    loop {
        let line = line()?;
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "content-range" => range = content_range(value.trim()),
            "content-length" => length = value.trim().parse().ok(),
            "location" => location = true,
            _ => {}
        }
    }
    let (start, total) = match (status, range) {
        (206, Some((start, total))) => (start, total),
        (206, None) => (None, None),
        (_, Some((_, total))) => (Some(0), total),
        (_, None) => (Some(0), length),
    };
    let redirect = matches!(status, 301 | 302 | 303 | 307 | 308) && location;
    Some((Head { status, start, total }, redirect || status < 200))
}

/// First byte and whole length of `bytes 5-9/10` or `bytes */10`.
fn content_range(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let start = range.split_once('-').and_then(|(start, _)| start.trim().parse().ok());
    Some((start, total.trim().parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_head_counts() {
        let said = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 3\r\n\r\n\
            HTTP/2 206 \r\ncontent-RANGE: bytes 5-9/10\r\ncontent-length: 5\r\n\r\nbody";
        let mut bytes = said.as_bytes();
        let head = Head { status: 206, start: Some(5), total: Some(10) };
        assert_eq!(last_head(&mut bytes), Some(head));
        assert_eq!(bytes, b"body");
        let of = |text: &str| last_head(&mut text.as_bytes());
        let whole = Head { status: 200, start: Some(0), total: Some(7) };
        assert_eq!(of("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"), Some(whole));
        let beyond = Head { status: 416, start: Some(0), total: Some(10) };
        assert_eq!(of("HTTP/1.1 416 X\r\nContent-Range: bytes */10\r\n\r\n"), Some(beyond));
        let unnamed = Head { status: 206, start: None, total: None };
        assert_eq!(of("HTTP/1.1 206 X\r\nContent-Length: 7\r\n\r\n"), Some(unnamed));
        // A redirect to nowhere is an answer like any other.
        assert_eq!(of("HTTP/1.1 301 X\r\nContent-Length: 7\r\n\r\n").map(|head| head.status), Some(301));
        for cut in ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\n", "no HTTP\r\n\r\n"] {
            assert_eq!(of(cut), None, "{cut}");
        }
    }

    #[test]
    fn only_addresses_of_this_machine_are_local() {
        for url in ["http://127.0.0.1:80/x", "http://localhost", "https://[::1]/x", "http://localhost?x"] {
            assert!(is_local(url), "{url}");
        }
        for url in ["http://127.0.0.1.example/x", "http://example/127.0.0.1", "http://localhost@example/", ""]
        {
            assert!(!is_local(url), "{url}");
        }
    }

    #[test]
    fn a_missing_curl_is_named_and_other_addresses_are_refused() {
        let start = |program: &str, url: &str| Transfer::start(program, url, 0, Duration::from_secs(1)).err();
        let missing = start("gambeson-has-no-such-program", "http://localhost/").expect("an error");
        assert!(missing.to_string().contains("install it") && missing.to_string().contains("in another way"));
        for url in ["--output=/tmp/x", "file:///etc/passwd", "ftp://localhost/x", ""] {
            assert!(matches!(start("curl", url), Some(DownloadProblem::Address)), "{url}");
        }
    }
}
