//! The terminal's table of modes.

use super::table;
use crate::output::Summary;
use crate::output::modes::{MassShares, Mode};
use crate::output::summary::StepSummary;
use crate::result::Quantity;
use warpfem_text::{counted, engineering as number};

/// Modes shown.
const MOST_MODES: usize = 20;

/// The lines of the table, of which most show the first modes alone, and what to say below.
pub(super) fn text(s: &Summary, steps: &[StepSummary], is_verbose: bool) -> (String, Vec<String>) {
    let shares = MassShares::of(steps.iter().map(|step| step.results.table_row("effective_mass")), s.mass);
    let shown = if is_verbose { steps.len() } else { MOST_MODES.min(steps.len()) };
    let (what, quantity) = s.results.mode.map_or(("", Quantity::Unlabelled), |mode| (mode.name(), mode.quantity()));
    let unit = s.units.and_then(|units| units.label(quantity));
    let value = unit.map_or(what.to_string(), |unit| format!("{what} [{unit}]"));
    let axes: Vec<String> =
        shares.iter().flat_map(|shares| &shares.axes).map(|axis| format!("mass {axis} [%]")).collect();
    let heads: Vec<&str> = ["mode", &value].into_iter().chain(axes.iter().map(String::as_str)).collect();
    let percent = |shares: &[f64]| shares.iter().map(|share| format!("{share:.1}")).collect::<Vec<_>>();
    let row = |(k, step): (usize, &StepSummary)| {
        let value = step.mode.map_or(f64::NAN, Mode::value);
        let masses = shares.as_ref().map_or(vec![], |shares| percent(&shares.of_modes[k]));
        let mark = if step.solver.converged { "" } else { " NOT CONVERGED" };
        [vec![format!("{}{mark}", k + 1), number(value)], masses].concat()
    };
    let mut rows: Vec<Vec<String>> = steps.iter().take(shown).enumerate().map(row).collect();
    let name = if steps.len() > shown { format!("all {}", steps.len()) } else { "sum".into() };
    rows.extend(shares.iter().map(|shares| [vec![name.clone(), String::new()], percent(&shares.sum)].concat()));
    let mut notes = Vec::new();
    if steps.len() > shown {
        notes.push(format!("{}: --verbose, or the report", counted(steps.len() - shown, "more mode")));
    }
    let masses = if shares.is_some() { "masses are effective masses; " } else { "" };
    notes.extend(s.results.mode.map(|mode| format!("{masses}{}", mode.note())));
    notes.extend(s.results.mode.and_then(Mode::of_reversed));
    notes.extend(s.solver.count.filter(|count| count.counted == count.found).map(|count| {
        let rest = steps.len() - count.found;
        let rest =
            if rest == 1 { "the last mode is not covered".into() } else { format!("the last {rest} are not covered") };
        format!(
            "a factor counts {} below {}: none is missed there; {rest}",
            counted(count.found, "mode"),
            number(count.below)
        )
    }));
    (table::text(&heads, &rows), notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MassProperties;
    use crate::output::summary::Results;
    use crate::result::{EFFECTIVE_MASS, Table, Units};

    fn summary(n: usize, rows: &[Vec<f64>]) -> Summary {
        let step = |k: usize| {
            let mut step = StepSummary { name: format!("mode {}", k + 1), ..StepSummary::default() };
            let mode = Some(Mode::Vibration { frequency: 100.0 * (k + 1) as f64, eigenvalue: 1.0 });
            let table = |row: &Vec<f64>| Table { info: &EFFECTIVE_MASS, rows: vec![(step.name.clone(), row.clone())] };
            let tables = rows.get(k).map(table).into_iter().collect();
            step.solver.converged = k != 1;
            StepSummary { mode, results: Results { mode, tables, ..Results::default() }, ..step }
        };
        let mass = Some(MassProperties { mass: 8.0, centre: [0.0; 3], inertia: [0.0; 6] });
        let steps: Vec<StepSummary> = (0..n).map(step).collect();
        let results = steps[0].results.clone();
        Summary { steps, results, mass, units: Some(Units::Si), ..Summary::default() }
    }

    #[test]
    fn a_row_for_each_mode_with_its_effective_masses() {
        let two = summary(2, &[vec![4.0, 1.0, 0.0], vec![2.0, 0.0, 0.0]]);
        let (table, notes) = text(&two, &two.steps, false);
        let expected = [
            "mode             frequency [Hz]  mass x [%]  mass y [%]",
            "1                         100.0        50.0        12.5",
            "2 NOT CONVERGED           200.0        25.0         0.0",
            "sum                                    75.0        12.5",
        ];
        assert_eq!(table.lines().map(str::trim_end).collect::<Vec<_>>(), expected);
        assert_eq!(notes, ["masses are effective masses; shapes have unit modal mass: their size means nothing"]);
    }

    #[test]
    fn many_modes_are_cut_short_unless_all_is_wanted() {
        let many = summary(30, &[]);
        let (table, notes) = text(&many, &many.steps, false);
        assert_eq!((table.lines().count(), &*notes[0]), (21, "10 more modes: --verbose, or the report"));
        assert!(table.lines().all(|line| line.len() < 78));
        assert_eq!(text(&many, &many.steps, true).0.lines().count(), 31);
    }
}
