//! What the system reports about itself (on Linux).

/// The model of the processor.
pub(crate) fn cpu_model() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let value =
        info.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.trim() == "model name");
    value.map(|(_, model)| model.trim().to_owned())
}
