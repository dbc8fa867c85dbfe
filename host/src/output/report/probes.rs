//! The report's table of probes.

use super::escape;
use crate::output::Summary;
use crate::output::points::{PointValue, ProbeResult};
use warpfem_text::vector;

/// A row for each probe; nothing without any.
pub(super) fn probes(summary: &Summary) -> String {
    let Some(first) = summary.probes.first() else { return String::new() };
    let head: String = first.by_length().map(|value| format!("<th>{}</th>", value.heading())).collect();
    let body: String = summary.probes.iter().map(row).collect();
    format!(
        "<h2>Probes</h2><div class=\"wide\"><table><thead><tr><th></th><th>at</th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
}

fn row(probe: &ProbeResult) -> String {
    let text = |value: &PointValue| value.in_words().replace('-', "−");
    let cells: String = probe.by_length().map(|value| format!("<td>{}</td>", text(value))).collect();
    let at = vector(probe.at).replace('-', "−");
    format!("<tr><th>{}</th><td>{at}</td>{cells}</tr>", escape(&probe.name))
}
