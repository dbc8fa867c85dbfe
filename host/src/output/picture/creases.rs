//! Which creases between faces are edges of the part: all but the short and blunt ones that stand alone, which are
//! where a rounding is meshed coarsely.

/// An edge at which faces meet at an angle.
pub(super) struct Crease {
    pub ends: [u32; 2],
    /// The cosine of the angle between the faces' normals.
    pub cosine: f64,
}

/// A crease of 60 degrees or more is never a rounding.
const SHARP_COSINE: f64 = 0.5;
/// Chains of fewer creases stand alone.
const LEAST: usize = 6;

/// For each crease whether it belongs to a chain that is long, or has a sharp one in it; nodes are below `n_nodes`.
pub(super) fn kept(creases: &[Crease], n_nodes: usize) -> Vec<bool> {
    // Chains are trees of nodes that point towards a root.
    let mut towards: Vec<u32> = (0..n_nodes as u32).collect();
    for crease in creases {
        let [a, b] = crease.ends.map(|node| root(&mut towards, node));
        towards[a.max(b) as usize] = a.min(b);
    }
    let mut chains = vec![(0, false); n_nodes];
    let roots: Vec<usize> = creases.iter().map(|crease| root(&mut towards, crease.ends[0]) as usize).collect();
    for (crease, &root) in creases.iter().zip(&roots) {
        let (length, sharp) = &mut chains[root];
        *length += 1;
        *sharp |= crease.cosine <= SHARP_COSINE;
    }
    roots.into_iter().map(|root| chains[root].0 >= LEAST || chains[root].1).collect()
}

/// The root of a node's tree; the way there is halved.
fn root(towards: &mut [u32], mut node: u32) -> u32 {
    while towards[node as usize] != node {
        let next = towards[towards[node as usize] as usize];
        towards[node as usize] = next;
        node = next;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(nodes: &[u32], cosine: f64) -> Vec<Crease> {
        nodes.windows(2).map(|pair| Crease { ends: [pair[0], pair[1]], cosine }).collect()
    }

    #[test]
    fn short_and_blunt_chains_go_and_others_stay() {
        let blunt: Vec<Crease> = chain(&[3, 1, 7, 0], 0.7);
        assert_eq!(kept(&blunt, 20), [false; 3]);
        assert_eq!(kept(&chain(&[3, 1, 7, 0, 9, 2, 5], 0.7), 20), [true; 6]);
        assert_eq!(kept(&chain(&[3, 1], 0.1), 20), [true]);
    }

    #[test]
    fn one_sharp_crease_keeps_its_chain_and_no_other() {
        let mut creases = chain(&[4, 3, 9], 0.7);
        creases.extend(chain(&[9, 11], 0.0));
        creases.extend(chain(&[12, 13, 14], 0.7));
        assert_eq!(kept(&creases, 20), [true, true, true, false, false]);
    }
}
