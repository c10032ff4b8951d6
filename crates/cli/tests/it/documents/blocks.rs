//! Blocks of a page.

use super::root;
use std::ops::Range;
use std::path::PathBuf;

/// A page of Markdown.
pub(super) struct Page {
    /// Its path in the repository.
    pub(super) name: String,
    lines: Vec<String>,
    pub(super) blocks: Vec<Block>,
    /// Blocks and comments that make no sense.
    pub(super) complaints: Vec<String>,
}

/// A block that has to do with commands.
pub(super) enum Block {
    /// Commands and what they print.
    Console(Vec<Shown>),
    /// Commands alone.
    Script { line: usize, text: String, commands: usize },
    /// A file that the reader saves.
    File { name: String, content: String },
    /// Commands that cannot run here.
    NotRun { reason: String },
}

/// A command and what it prints.
pub(super) struct Shown {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) command: String,
    /// Options that only the test gives it.
    pub(super) options: String,
    /// Lines of the page, counted from 0.
    pub(super) output: Range<usize>,
}

/// The pages whose commands run.
pub(super) fn pages() -> Vec<Page> {
    let mut names: Vec<String> =
        ["README.md", "SECURITY.md", "models/README.md", "models/fashion/MODEL_CARD.md"]
            .map(str::to_owned)
            .into();
    let docs = std::fs::read_dir(root().join("docs")).expect("docs");
    let docs = docs.map(|entry| PathBuf::from(entry.expect("an entry").file_name()));
    let docs = docs.filter(|name| name.extension().is_some_and(|extension| extension == "md"));
    let mut docs: Vec<String> = docs.map(|name| format!("docs/{}", name.display())).collect();
    docs.sort();
    names.extend(docs);
    names.into_iter().map(Page::read).collect()
}

impl Page {
    fn read(name: String) -> Self {
        let text = std::fs::read_to_string(root().join(&name)).expect("a page");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut page = Self { name, lines, blocks: Vec::new(), complaints: Vec::new() };
        page.find_blocks();
        page
    }

    fn find_blocks(&mut self) {
        let mut at = 0;
        while at < self.lines.len() {
            let line = self.lines[at].clone();
            if is_command(line.trim_start()) && line.starts_with("    ") {
                self.complain(at, "a command in an indented block");
            }
            if let Some(tag) = line.strip_prefix("```") {
                let end = (at + 1..self.lines.len()).find(|&end| self.lines[end].starts_with("```"));
                let end = end.unwrap_or(self.lines.len());
                self.read_block(tag, at, at + 1..end);
                at = end;
            }
            at += 1;
        }
    }

    fn complain(&mut self, at: usize, what: &str) {
        self.complaints.push(format!("{}:{}: {what}", self.name, at + 1));
    }

    fn read_block(&mut self, tag: &str, at: usize, inside: Range<usize>) {
        let is_shell = matches!(tag, "console" | "sh");
        let comment = self.comment_before(at);
        if let Some(name) = comment_after(comment.as_deref(), "saved as") {
            let content = self.lines[inside].join("\n") + "\n";
            self.blocks.push(Block::File { name, content });
        } else if let Some(reason) = comment_after(comment.as_deref(), "not run:") {
            if !is_shell {
                self.complain(at, "only `console` and `sh` blocks are run");
            }
            self.blocks.push(Block::NotRun { reason });
        } else if tag == "sh" {
            let text = self.lines[inside].join("\n");
            let commands = commands(&text);
            self.blocks.push(Block::Script { line: at + 1, text, commands });
        } else if tag == "console" {
            let options = comment_after(comment.as_deref(), "run with:").unwrap_or_default();
            let shown = self.console(inside, &options);
            if shown.is_empty() {
                self.complain(at, "a `console` block begins with `$ ` and a command");
            }
            let is_quickstart = |shown: &Shown| shown.command == "gambeson quickstart";
            if !options.is_empty() && !shown.iter().all(is_quickstart) {
                self.complain(at, "only `gambeson quickstart` runs with other options");
            }
            self.blocks.push(Block::Console(shown));
        } else if self.lines[inside].iter().any(|line| is_command(line)) {
            self.complain(at, "a command in a block that is neither `console` nor `sh`");
        }
    }

    fn comment_before(&self, at: usize) -> Option<String> {
        let before = self.lines[..at].iter().rev().find(|line| !line.is_empty())?;
        Some(before.strip_prefix("<!-- ")?.strip_suffix(" -->")?.to_owned())
    }

    fn console(&mut self, inside: Range<usize>, options: &str) -> Vec<Shown> {
        let mut found: Vec<Shown> = Vec::new();
        let mut at = inside.start;
        while at < inside.end {
            let Some(first) = self.lines[at].strip_prefix("$ ") else {
                match found.last_mut() {
                    Some(shown) => shown.output.end = at + 1,
                    None => self.complain(at, "output before any command"),
                }
                at += 1;
                continue;
            };
            let (line, mut command) = (at + 1, first.to_owned());
            while command.ends_with('\\') && at + 1 < inside.end {
                at += 1;
                command = command + "\n" + self.lines[at].trim_start_matches("> ");
            }
            at += 1;
            found.push(Shown { line, command, options: options.to_owned(), output: at..at });
        }
        found
    }

    /// Why blocks of this page do not run.
    pub(super) fn reasons(&self) -> impl Iterator<Item = &String> {
        self.blocks.iter().filter_map(|block| match block {
            Block::NotRun { reason } => Some(reason),
            _ => None,
        })
    }

    /// How many commands run.
    pub(super) fn commands(&self) -> usize {
        let of = |block: &Block| match block {
            Block::Console(shown) => shown.len(),
            Block::Script { commands, .. } => *commands,
            Block::File { .. } | Block::NotRun { .. } => 0,
        };
        self.blocks.iter().map(of).sum()
    }

    pub(super) fn lines(&self, range: Range<usize>) -> &[String] {
        &self.lines[range]
    }

    /// Writes the page with other lines in some places.
    pub(super) fn write(&self, mut corrections: Vec<(Range<usize>, Vec<String>)>) {
        let mut lines = self.lines.clone();
        corrections.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, new) in corrections {
            lines.splice(range, new);
        }
        std::fs::write(root().join(&self.name), lines.join("\n") + "\n").expect("written");
    }

    /// Targets of links within the repository.
    pub(super) fn links(&self) -> Vec<String> {
        let mut is_code = false;
        let mut found = Vec::new();
        for line in &self.lines {
            is_code ^= line.starts_with("```");
            if !is_code {
                let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
                found.extend(targets.filter(|target| !target.contains("://")).map(str::to_owned));
            }
        }
        found
    }
}

fn is_command(line: &str) -> bool {
    line.starts_with("gambeson ") || line.starts_with("$ ")
}

fn comment_after(comment: Option<&str>, key: &str) -> Option<String> {
    Some(comment?.strip_prefix(key)?.trim().to_owned())
}

/// Commands of a script: lines that are neither remarks nor continue another.
fn commands(text: &str) -> usize {
    let mut continues = false;
    let mut count = 0;
    for line in text.lines().map(str::trim) {
        if !continues && !line.is_empty() && !line.starts_with('#') {
            count += 1;
        }
        continues = line.ends_with('\\');
    }
    count
}

/// Headings of a page.
pub(super) fn headings(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter_map(move |line| {
        is_code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        (!is_code && heading.len() < line.len()).then(|| heading.strip_prefix(' ')).flatten()
    })
}

/// What a heading is linked by.
pub(super) fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
    heading
        .to_lowercase()
        .chars()
        .filter(kept)
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}
