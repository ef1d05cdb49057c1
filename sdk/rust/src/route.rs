use crate::{Object, Result};
use std::collections::BTreeSet;

pub(crate) type Step = Box<dyn Fn(&mut Object) -> Result>;

/// The conversions of one kind.
#[derive(Default)]
pub struct Kind {
    pub(crate) hops: Vec<Hop>,
}

pub(crate) struct Hop {
    from: String,
    pub(crate) to: String,
    pub(crate) step: Step,
}

impl Kind {
    /// Registers a function that converts one object in place, from one version to
    /// another. It changes the fields that differ; apiVersion, kind and metadata are
    /// taken care of, and of metadata only labels and annotations may be changed. The
    /// result must depend on the object alone. An error fails the request that needed
    /// the conversion, with its text as the message.
    ///
    /// Versions are bare names: `v1`, not `example.com/v1`. Where there is no function
    /// for a pair of versions the shortest chain of functions is used.
    pub fn convert(&mut self, from: &str, to: &str, step: impl Fn(&mut Object) -> Result + 'static) -> &mut Kind {
        self.hops.push(Hop { from: from.to_string(), to: to.to_string(), step: Box::new(step) });
        self
    }

    /// The shortest chain of functions between two versions; None when there is none.
    pub(crate) fn route(&self, from: &str, to: &str) -> Option<Vec<&Hop>> {
        let mut seen = BTreeSet::new();
        seen.insert(from);
        let mut reached: Vec<(&str, Vec<&Hop>)> = vec![(from, Vec::new())];
        let mut next = 0;
        while next < reached.len() {
            let (version, way) = reached[next].clone();
            next += 1;
            for hop in self.hops.iter().filter(|h| h.from == version) {
                if !seen.insert(&hop.to) {
                    continue;
                }
                let mut longer = way.clone();
                longer.push(hop);
                if hop.to == to {
                    return Some(longer);
                }
                reached.push((&hop.to, longer));
            }
        }
        None
    }

    /// All pairs of versions that there is a route between, sorted.
    pub(crate) fn pairs(&self) -> Vec<(&str, &str)> {
        let known: BTreeSet<&str> = self.hops.iter().flat_map(|h| [h.from.as_str(), h.to.as_str()]).collect();
        let mut all = Vec::new();
        for from in &known {
            for to in &known {
                if from != to && self.route(from, to).is_some() {
                    all.push((*from, *to));
                }
            }
        }
        all
    }
}
