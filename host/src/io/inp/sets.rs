//! `*NSET`, `*ELSET`: tags, names of other sets, and ranges.

use std::collections::{BTreeMap, HashSet};

use super::fields::{Field, Line};
use super::{Card, Deck, Mistake, Read};

/// Sets by name, their tags in the deck's order, each once.
pub type Sets = BTreeMap<String, Vec<u64>>;

/// Of sets that list a tag more than once that tag.
pub type Repeated = BTreeMap<String, u64>;

/// What a set's card lists. `named` gives what a tag or the name of a set stands for, `known` what is added to tags, and the
/// own tags that there are from one to another.
pub fn read(
    deck: &Deck,
    card: &Card,
    what: &str,
    named: &impl Fn(&Field<'_>) -> Read<Vec<u64>>,
    known: &impl Fn(u64, u64) -> (u64, Vec<u64>),
) -> Read<Vec<u64>> {
    let mut tags = Vec::new();
    for line in deck.lines(card) {
        match card.has("GENERATE") {
            true => range(&line, known, &mut tags)?,
            false => {
                for field in line.fields() {
                    tags.extend(named(&field).map_err(|mistake| before(*mistake, what))?);
                }
            }
        }
    }
    Ok(tags)
}

/// A set may hold what is defined before it alone.
fn before(mistake: Mistake, what: &str) -> Box<Mistake> {
    let help = match mistake.help.is_empty() {
        true => format!("define the {what} before the set"),
        false => mistake.help.clone(),
    };
    Box::new(Mistake { help, ..mistake })
}

/// Adds tags to a set; `repeated` notes one that the set has been given twice.
pub fn extend(sets: &mut Sets, repeated: &mut Repeated, name: &str, tags: impl IntoIterator<Item = u64>) {
    let set = sets.entry(name.to_string()).or_default();
    let tags: Vec<u64> = tags.into_iter().collect();
    // Mostly so: a set of millions, in order.
    if set.last() < tags.first() && tags.is_sorted_by(|a, b| a < b) && set.is_sorted() {
        return set.extend(tags);
    }
    let mut known: HashSet<u64> = set.iter().copied().collect();
    for tag in tags {
        match known.insert(tag) {
            true => set.push(tag),
            false => _ = repeated.insert(name.to_string(), tag),
        }
    }
}

/// `first, last, step`: those of them that there are.
fn range(line: &Line<'_>, known: &impl Fn(u64, u64) -> (u64, Vec<u64>), tags: &mut Vec<u64>) -> Read {
    let fields = line.fields();
    let (Some(first), Some(last)) = (fields.first(), fields.get(1)) else {
        return Err(Mistake::at(line.place.clone(), "GENERATE needs a first and a last tag", "1, 261, 1"));
    };
    let (first, last) = (first.integer()?, last.integer()?);
    let step = fields.get(2).map_or(Ok(1), |step| step.integer())?;
    if first > last || step == 0 {
        return Err(Mistake::at(line.place.clone(), "this is no range of tags", "first, last, step: 1, 261, 1"));
    }
    let (offset, own) = known(first, last);
    tags.extend(own.into_iter().filter(|tag| (tag - offset - first) % step == 0));
    Ok(())
}
