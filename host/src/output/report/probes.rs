//! The report's table of probes.

use super::escape;
use crate::output::Summary;
use crate::output::points::{PointValues, ProbeResult};
use warpfem_text::{engineering, vector};

/// A row for each probe; nothing without any.
pub(super) fn probes(summary: &Summary) -> String {
    let head = match summary.probes.first().map(|probe| probe.found) {
        None => return String::new(),
        Some(PointValues::Elastic { .. }) => {
            "<th>displacement</th><th>von Mises</th><th>stress xx, yy, zz, xy, yz, xz</th>"
        }
        Some(PointValues::Potential { .. }) => "<th>potential</th><th>gradient</th>",
    };
    let body: String = summary.probes.iter().map(row).collect();
    format!(
        "<h2>Probes</h2><div class=\"wide\"><table><thead><tr><th></th><th>at</th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
}

fn row(probe: &ProbeResult) -> String {
    let found = match probe.found {
        PointValues::Elastic { displacement, stress, von_mises } => {
            vec![vector(displacement), engineering(von_mises), stress.map(engineering).join(", ")]
        }
        PointValues::Potential { potential, gradient } => vec![engineering(potential), vector(gradient)],
    };
    let cells: String = found.iter().map(|text| format!("<td>{}</td>", text.replace('-', "−"))).collect();
    let at = vector(probe.at).replace('-', "−");
    format!("<tr><th>{}</th><td>{at}</td>{cells}</tr>", escape(&probe.name))
}
