//! `gambeson`, the program. Everything is in the library beside it.

fn main() -> std::process::ExitCode {
    gambeson_cli::main()
}
