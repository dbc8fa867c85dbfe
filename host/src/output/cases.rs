//! Files of several steps, which are load cases, modes or times: `<case>_<name>.vtu` and CSV of each as it comes; then `<case>.pvd`, which
//! lists them for ParaView, `<case>_envelope.vtu` of load cases, CalculiX's file if it is asked for, the picture of the governing
//! step, one report and `summary.json`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use warpfem_text::escape;

use super::atomic::Staged;
use super::envelope::Envelope;
use super::frd::{self, Frd};
use super::picture::{Shot, Shown};
use super::report::{CasePages, Report, Skin, most_vertices};
use super::{Error, FRD, HISTORY, Options, PVD, REPORT, RESPONSE, Result, SUMMARY, Summary, VTU, csv};
use super::{files_of_step, is_zero, names_before, remove_all, sizes};
use crate::model::Model;
use crate::result::{Series, Step, Study, Units};

/// The ending of the envelope's name.
const ENVELOPE: &str = "envelope";
/// How far apart modes are in ParaView at least, as a part of the highest frequency.
const APART: f64 = 1e-9;

/// The names of the files of a model's steps, without endings: letters, digits, `-` and `.` of each name, `_` for
/// others; a number behind what would be the same.
pub fn stems(model: &Model) -> Vec<String> {
    let mut taken = BTreeSet::from([ENVELOPE.to_owned()]);
    let is_plain = |c: char| c.is_alphanumeric() || "-.".contains(c);
    let stem = |case: usize| {
        let plain: String = model.step_name(case).chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let mut name = plain.clone();
        let mut count = 1;
        while !taken.insert(name.to_lowercase()) {
            count += 1;
            name = format!("{plain}_{count}");
        }
        format!("{}_{name}", model.name)
    };
    (0..model.n_steps()).map(stem).collect()
}

/// The names of all files that may be written for a model of several steps.
pub fn names(model: &Model, pictures: &[Shot]) -> Vec<String> {
    let name = &model.name;
    let of_steps = stems(model).into_iter().flat_map(|stem| super::step_names(&stem));
    let of_all = [
        format!("{name}{PVD}"),
        format!("{name}{FRD}"),
        format!("{name}_{ENVELOPE}{VTU}"),
        format!("{name}{RESPONSE}"),
        format!("{name}{HISTORY}"),
        format!("{name}{REPORT}"),
        SUMMARY.into(),
    ];
    of_steps.chain(pictures.iter().map(|shot| shot.file_name(name))).chain(of_all).collect()
}

/// Writes steps as they are solved.
pub struct CaseWriter<'a> {
    dir: &'a Path,
    model: &'a Model,
    options: Options<'a>,
    stems: Vec<String>,
    /// What the report shows of each case.
    skins: Vec<Option<Skin>>,
    /// The largest over all cases.
    pub envelope: Envelope,
    /// The values of the steps.
    values: Vec<f64>,
    /// The case with the largest stress or gradient, and that; of modes the first that is elastic, or else the first; the last
    /// time.
    governing: Option<(usize, f64, Step)>,
    /// CalculiX's file of all cases, and what is in it.
    frd: Option<(Staged, Frd<'a>)>,
    /// The files of each case.
    files: Vec<Vec<PathBuf>>,
    /// What the deck prints of each case.
    prints: Vec<u8>,
    /// What is over frequencies.
    series: Vec<Series>,
    /// Seconds that writing has taken.
    seconds: f64,
}

impl<'a> CaseWriter<'a> {
    /// For the cases of a model, into a folder, which is made if it is missing.
    pub fn new(dir: &'a Path, model: &'a Model, options: Options<'a>) -> CaseWriter<'a> {
        let (skins, values, files, prints, envelope) = (vec![], vec![], vec![], vec![], Envelope::default());
        let (stems, governing, frd, series, seconds) = (stems(model), None, None, vec![], 0.0);
        CaseWriter {
            dir,
            model,
            options,
            stems,
            skins,
            envelope,
            values,
            governing,
            frd,
            files,
            prints,
            series,
            seconds,
        }
    }

    /// Takes what is over frequencies.
    pub fn add_series(&mut self, series: Series) {
        self.series.push(series);
    }

    /// What it has of these.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// Writes the files of the next case.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] with the path at fault; the files of the cases before are there.
    pub fn add(&mut self, step: Step) -> Result<()> {
        let start = Instant::now();
        let (case, model) = (self.skins.len(), self.model);
        let at = |source| Error::Output { path: self.dir.to_path_buf(), source };
        std::fs::create_dir_all(self.dir).map_err(at)?;
        let converged = step.outcome.as_ref().is_none_or(|outcome| outcome.converged);
        let skin = || (!is_zero(&step)).then(|| self.skin(&step, Some(case)));
        let stem = |ending: &str| self.dir.join(format!("{}{ending}", self.stems[case]));
        let (staged, skin) = rayon::join(|| files_of_step(model, &step, stem, converged), skin);
        self.files.push(Staged::publish(staged?)?);
        super::dat::write(&mut self.prints, model, case, &step).map_err(at)?;
        self.add_to_frd(&step)?;
        self.skins.push(skin);
        self.values.push(step.value);
        let largest = if step.study == Study::Transient {
            step.value
        } else if step.is_mode() {
            f64::from(u8::from(step.value > 0.0))
        } else {
            self.envelope.add(&step);
            super::largest(sizes(&step).iter().copied()).map_or(0.0, |(_, largest)| largest)
        };
        if self.governing.as_ref().is_none_or(|(_, most, _)| largest > *most) {
            self.governing = Some((case, largest, step));
        }
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Writes the case into the file of all.
    fn add_to_frd(&mut self, step: &Step) -> Result<()> {
        let Some(form) = self.model.frd else { return Ok(()) };
        if self.frd.is_none() {
            let path = self.options.prints.join(format!("{}{FRD}", self.model.name));
            let mut staged = Staged::write(path, |_| Ok(()))?;
            let frd = staged.append(|file| Frd::begin(file, &self.model.mesh, &self.model.fields, form))?;
            self.frd = Some((staged, frd));
        }
        self.frd.iter_mut().try_for_each(|(staged, frd)| staged.append(|file| frd.add(file, step)))
    }

    /// The number of the step that is shown first: of load cases that with the largest stress or gradient, of times the last.
    pub fn governing(&self) -> usize {
        self.governing.as_ref().map_or(0, |(case, ..)| *case)
    }

    /// The results of that case, if there is one.
    pub fn governing_step(&self) -> Option<&Step> {
        self.governing.as_ref().map(|(_, _, step)| step)
    }

    /// The names of the files of a case.
    pub fn files(&self, case: usize) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.files.get(case).into_iter().flatten().filter_map(name).collect()
    }

    /// What fields are labelled with; shapes of modes have no scale.
    fn units(&self, step: &Step) -> Option<Units> {
        self.model.units.filter(|_| !step.is_mode())
    }

    fn skin(&self, step: &Step, case: Option<usize>) -> Skin {
        let symbols = case.filter(|_| self.options.with_symbols).map(|case| (self.model, case));
        let shown = Shown::new(&self.model.mesh, step, &[], symbols);
        Skin::pack(&shown, self.units(step), self.model.analysis.is_revolved(), most_vertices(self.stems.len() + 1))
    }

    /// Writes what is of all cases, of which these are the summaries, and `total`, the summary of all. Returns the paths
    /// of all files, the summary last.
    ///
    /// # Errors
    ///
    /// As [`CaseWriter::add`].
    pub fn finish(mut self, summaries: &[Summary], total: &mut Summary) -> Result<Vec<PathBuf>> {
        let start = Instant::now();
        let (dir, model, case) = (self.dir, self.model, self.governing());
        let at = |source| Error::Output { path: dir.to_path_buf(), source };
        let named = |ending: &str| dir.join(format!("{}{ending}", total.case));
        let mut staged = vec![Staged::write(named(PVD), |file| self.write_list(file))?];
        if model.deck.is_some() {
            let path = self.options.prints.join(format!("{}{}", total.case, super::DAT));
            let results: Vec<_> = summaries.iter().map(|summary| &summary.results).collect();
            staged.push(Staged::write(path, |file| {
                super::dat::modes(file, &results)?;
                file.write_all(&self.prints)
            })?);
        }
        let envelope = self.envelope.step();
        if let Some(step) = &envelope {
            let write = |file: &mut File| Envelope::write(file, &model.mesh, step, total.solver.converged);
            staged.push(Staged::write(named(&format!("_{ENVELOPE}{VTU}")), write)?);
        }
        if let Some((mut frd, _)) = self.frd.take() {
            frd.append(frd::end)?;
            staged.push(frd);
        }
        for series in &self.series {
            let path = named(&format!("_{}.csv", series.name));
            staged.push(Staged::write(path, |file| csv::write_series(io::BufWriter::new(file), series, model.units))?);
        }
        let mut png = None;
        total.pictures = vec![];
        if let Some((_, _, step)) = self.governing.as_ref().filter(|(_, _, step)| !is_zero(step)) {
            let symbols = self.options.with_symbols.then_some((model, case));
            let shown = Shown::new(&model.mesh, step, self.options.pictures, symbols);
            let title = format!("{}: {}", total.case, summaries[case].step_title());
            let titled = Summary { case: title, units: self.units(step), ..summaries[case].clone() };
            for shot in self.options.pictures {
                let name = shot.file_name(&total.case);
                let image = shown.png(step, shot, &titled).map_err(at)?;
                staged.push(Staged::write(dir.join(&name), |file| file.write_all(&image))?);
                png.get_or_insert(image);
                total.pictures.push(name);
            }
        }
        let envelope = envelope.filter(|step| step.nodes("von_mises_nodal").iter().any(|value| *value != 0.0));
        let envelope = envelope.map(|step| self.skin(&step, None));
        let (skins, series) = (std::mem::take(&mut self.skins), &self.series[..]);
        let pages = CasePages { summaries, skins, envelope, governing: case, series };
        let report = Report::of_cases(model, total, self.options.origin, pages);
        staged.push(Staged::write(named(REPORT), |file| report.write(file, png.as_deref()))?);
        drop(report);
        self.seconds += start.elapsed().as_secs_f64();
        total.timings_s.write += self.seconds;
        total.timings_s.total += start.elapsed().as_secs_f64();
        let before = names_before(dir, &total.case);
        staged.push(Staged::write(dir.join(SUMMARY), |file| total.write(file))?);
        let mut published: Vec<PathBuf> = self.files.concat();
        published.extend(Staged::publish(staged)?);
        remove_all(dir, before, &published)?;
        Ok(published)
    }

    /// The times of the steps in ParaView: the numbers of load cases, the frequencies of modes, times themselves, numbers where
    /// there are responses behind modes. Datasets of one time would be shown together, so equal frequencies are set apart.
    fn times(&self) -> Vec<f64> {
        let are_mixed = self.model.study.is_of_modes() && self.values.len() > self.model.modes;
        if are_mixed || self.model.study == Study::Static && self.model.step_time(0).is_none() {
            return (1..=self.files.len()).map(|number| number as f64).collect();
        }
        let least = APART * self.values.iter().fold(0.0, |most: f64, value| most.max(*value));
        let least = if least > 0.0 { least } else { APART };
        let mut times: Vec<f64> = Vec::new();
        for value in &self.values {
            times.push(times.last().map_or(*value, |before| value.max(before + least)));
        }
        times
    }

    /// ParaView's list of the steps.
    fn write_list(&self, out: &mut File) -> io::Result<()> {
        let mut text =
            String::from("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n");
        for (case, (stem, time)) in self.stems.iter().zip(self.times()).enumerate() {
            let (name, file) = (escape(&self.model.step_name(case)), escape(stem));
            text +=
                &format!("<DataSet timestep=\"{time}\" group=\"\" part=\"0\" name=\"{name}\" file=\"{file}.vtu\"/>\n");
        }
        out.write_all((text + "</Collection>\n</VTKFile>\n").as_bytes())
    }
}
