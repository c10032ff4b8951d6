//! What the system reports about itself (on Linux).

/// Memory that is free for this process, in bytes: what the system says, or the limit of its group if that is smaller.
pub(crate) fn free_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let free =
        value(&info, "MemAvailable")?.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let number = |name: &str| {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok()
    };
    let group =
        number("memory.max").zip(number("memory.current")).map(|(most, used)| most.saturating_sub(used));
    Some(group.map_or(free, |group| group.min(free)))
}

/// The value of the first line `key: value`.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}
