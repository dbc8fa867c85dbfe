//! How much of the host's memory can be had.

/// Bytes that can be had: what the system calls available, less where the control group allows less. `None` where
/// there is no saying.
pub fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let system = 1024 * in_kib(&meminfo, "MemAvailable:")?;
    let number = |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok();
    Some(number("memory.max").map_or(system, |limit: u64| system.min(limit)))
}

/// The figure of a line of `/proc/meminfo`.
fn in_kib(meminfo: &str, key: &str) -> Option<u64> {
    meminfo.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_meminfo_is_found() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:   17000000 kB\n";
        assert_eq!(in_kib(text, "MemAvailable:"), Some(17_000_000));
        assert_eq!(in_kib(text, "SwapFree:"), None);
    }
}
