//! Which tests that are gone are new ones under another id (ANALYSIS §12.1).

use std::collections::{BTreeMap, BTreeSet};

use crate::model::record::SameBody;
use crate::model::transitions::{Renamed, SameBecause};

/// Names that share this part of their words (Jaccard) within one file are one renamed test.
const SAME_NAME_SHARE: f64 = 0.80;

/// Pairs of names compared within one file; beyond it the file was rewritten, and likeness says nothing.
const PAIRS_COMPARED: usize = 250_000;

/// Tests under another id, one to one, the surest matches first; in order of the old id.
pub fn renames(gone: &[String], new: &[String], same_bodies: &[SameBody]) -> Vec<Renamed> {
    let mut left = Unmatched {
        gone: gone.iter().map(String::as_str).collect(),
        new: new.iter().map(String::as_str).collect(),
        pairs: BTreeMap::new(),
    };
    left.pair_by(SameBecause::Spelling, spelling);
    left.pair_bodies(same_bodies);
    left.pair_by(SameBecause::Name, |id| split(id).1);
    left.pair_by(SameBecause::Parameters, |id| (split(id).0, base_name(split(id).1)));
    left.pair_by_likeness();
    let renamed = |(from, (to, because)): (&str, (&str, SameBecause))| Renamed {
        from: from.to_owned(),
        to: to.to_owned(),
        because,
    };
    left.pairs.into_iter().map(renamed).collect()
}

/// Pairs tests that all have one source: by name, then by parameters, then in order. Every case of a parametrised test has
/// the source of the others.
pub fn one_to_one(gone: &[&str], new: &[&str]) -> Vec<SameBody> {
    let fits: [fn(&str, &str) -> bool; 3] = [
        |from, to| split(from).1 == split(to).1,
        |from, to| parameters(split(from).1) == parameters(split(to).1),
        |_, _| true,
    ];
    let (mut gone, mut new) = (gone.to_vec(), new.to_vec());
    let mut pairs = Vec::new();
    for fit in fits {
        gone.retain(|from| match new.iter().position(|to| fit(from, to)) {
            Some(at) => {
                let to = new.remove(at);
                pairs.push(SameBody { from: (*from).to_owned(), to: to.to_owned() });
                false
            }
            None => true,
        });
    }
    pairs
}

struct Unmatched<'a> {
    gone: Vec<&'a str>,
    new: Vec<&'a str>,
    pairs: BTreeMap<&'a str, (&'a str, SameBecause)>,
}

impl<'a> Unmatched<'a> {
    fn pair_bodies(&mut self, same: &'a [SameBody]) {
        let (gone, new): (BTreeSet<&str>, BTreeSet<&str>) =
            (self.gone.iter().copied().collect(), self.new.iter().copied().collect());
        for pair in same.iter().filter(|pair| gone.contains(pair.from.as_str()) && new.contains(pair.to.as_str())) {
            self.pairs.insert(&pair.from, (&pair.to, SameBecause::Body));
        }
        self.drop_paired();
    }

    /// Pairs ids that share `key`, in order.
    fn pair_by<K: Ord>(&mut self, because: SameBecause, key: impl Fn(&'a str) -> K) {
        let mut by_key: BTreeMap<K, Vec<&'a str>> = BTreeMap::new();
        for id in self.new.iter().rev() {
            by_key.entry(key(id)).or_default().push(id);
        }
        for id in &self.gone {
            if let Some(partner) = by_key.get_mut(&key(id)).and_then(Vec::pop) {
                self.pairs.insert(id, (partner, because));
            }
        }
        self.drop_paired();
    }

    /// Pairs ids of one file whose names share most of their words, the most alike first.
    fn pair_by_likeness(&mut self) {
        let mut places: BTreeMap<&str, (Vec<&'a str>, Vec<&'a str>)> = BTreeMap::new();
        self.gone.iter().for_each(|id| places.entry(split(id).0).or_default().0.push(id));
        self.new.iter().for_each(|id| places.entry(split(id).0).or_default().1.push(id));
        for (gone, new) in places.into_values() {
            if gone.len().saturating_mul(new.len()) > PAIRS_COMPARED {
                continue;
            }
            let mut alike: Vec<(f64, &str, &str)> = Vec::new();
            for old in &gone {
                let words = words(split(old).1);
                alike.extend(new.iter().map(|id| (likeness(&words, split(id).1), *old, *id)));
            }
            alike.retain(|(share, ..)| *share >= SAME_NAME_SHARE);
            alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)).then(a.2.cmp(b.2)));
            let mut taken = BTreeSet::new();
            for (_, old, id) in alike {
                if !self.pairs.contains_key(old) && taken.insert(id) {
                    self.pairs.insert(old, (id, SameBecause::Words));
                }
            }
        }
        self.drop_paired();
    }

    fn drop_paired(&mut self) {
        let taken: BTreeSet<&str> = self.pairs.values().map(|(id, _)| *id).collect();
        self.gone.retain(|id| !self.pairs.contains_key(id));
        self.new.retain(|id| !taken.contains(id));
    }
}

/// Place (file, module, class) and name of an id. What stands in brackets are parameters, whatever is in them.
pub fn split(id: &str) -> (&str, &str) {
    let head = id.find('[').and_then(|at| id.get(..at)).unwrap_or(id);
    match head.rfind("::").and_then(|at| Some((id.get(..at)?, id.get(at + 2..)?))) {
        Some((place, name)) => (place.trim(), name.trim()),
        None => ("", id),
    }
}

/// What stands behind the name proper: `[1-x]`, `(2)`.
fn parameters(name: &str) -> &str {
    name.strip_prefix(base_name(name)).unwrap_or_default()
}

/// The name without its parameters.
pub fn base_name(name: &str) -> &str {
    name.split(['[', '(']).next().unwrap_or(name).trim_end()
}

/// The words of an id in order, and its parameters: one for `a.test.js::Cart::adds` and `a.test.js::Cart > adds`, for
/// `tests/test_a.py::test_x[1]` and `tests.test_a::test_x[1]`.
pub fn spelling(id: &str) -> (Vec<String>, &str) {
    let (head, parameters) = id.find('[').and_then(|at| id.split_at_checked(at)).unwrap_or((id, ""));
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let head = head.replace(".py::", "::");
    let words = head.split(|c: char| !is_of_name(c)).filter(|word| !word.is_empty());
    // A name of signs alone is not told by its words.
    let is_told = split(id).1.contains(is_of_name);
    (if is_told { words.map(str::to_owned).collect() } else { vec![id.to_owned()] }, parameters)
}

/// Whether two names share most of their words.
pub fn alike(name: &str, other: &str) -> bool {
    likeness(&words(name), other) >= SAME_NAME_SHARE
}

fn words(name: &str) -> BTreeSet<String> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn likeness(words_before: &BTreeSet<String>, name: &str) -> f64 {
    let words_now = words(name);
    let shared = words_before.intersection(&words_now).count();
    let all = words_before.union(&words_now).count();
    let share = |count: usize| u32::try_from(count).map_or(f64::from(u32::MAX), f64::from);
    if all == 0 { 0.0 } else { share(shared) / share(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    fn same(pairs: &[(&str, &str)]) -> Vec<SameBody> {
        pairs.iter().map(|(from, to)| SameBody { from: (*from).to_owned(), to: (*to).to_owned() }).collect()
    }

    #[test]
    fn the_real_rename_of_v14_is_seen_by_its_body_and_not_by_its_name() {
        let old = "t::test_parsing_pre_and_build_metadata_see_issue_217";
        let new = "t::test_leading_digit_in_pre_and_build";
        assert!((likeness(&words(split(old).1), split(new).1) - 1.0 / 3.0).abs() < 1e-12);
        assert!(renames(&ids(&[old]), &ids(&[new]), &[]).is_empty());
        let found = renames(&ids(&[old]), &ids(&[new]), &same(&[(old, new)]));
        assert_eq!((found[0].from.as_str(), found[0].to.as_str()), (old, new));
        assert_eq!(found[0].because, SameBecause::Body);
    }

    #[test]
    fn a_body_goes_before_a_name() {
        let found =
            renames(&ids(&["a::test_x"]), &ids(&["b::test_x", "b::moved"]), &same(&[("a::test_x", "b::moved")]));
        assert_eq!((found.len(), found[0].to.as_str()), (1, "b::moved"));
        let stale = same(&[("a::test_x", "gone::again"), ("other", "b::moved")]);
        assert_eq!(renames(&ids(&["a::test_x"]), &ids(&["b::test_x"]), &stale)[0].because, SameBecause::Name);
    }

    #[test]
    fn one_id_is_one_test_however_a_format_spells_it() {
        for (old, new, is_one) in [
            ("v/a.test.js::Cart::adds", "v/a.test.js::Cart > adds", true),
            ("v/a.test.js::Cart::adds", "v/a.test.js::Cart › adds", true),
            ("tests/test_a.py::TestB::test_x[1-a]", "tests.test_a.TestB::test_x[1-a]", true),
            ("tests/test_a.py::TestB::test_x[1-a]", "tests.test_a.TestB::test_x[1.a]", false),
            ("a.js::🎉", "a.js::🔥", false),
            ("a.js::Cart::adds", "a.js::adds Cart", false),
        ] {
            let found = renames(&ids(&[old]), &ids(&[new]), &[]);
            let is_spelling = found.first().is_some_and(|found| found.because == SameBecause::Spelling);
            assert_eq!(is_spelling, is_one, "{old} {new}");
        }
        // Before a body, which two tests may share.
        let found = renames(&ids(&["a::x > y"]), &ids(&["a::x::y", "a::z"]), &same(&[("a::x > y", "a::z")]));
        assert_eq!(found[0].to, "a::x::y");
    }

    #[test]
    fn cases_of_one_test_keep_their_parameters() {
        let pairs = one_to_one(&["a::x[1]", "a::x[2]", "a::x[3]"], &["b::y[2]", "b::y[1]", "b::y[4]", "b::y[5]"]);
        let expected = same(&[("a::x[1]", "b::y[1]"), ("a::x[2]", "b::y[2]"), ("a::x[3]", "b::y[4]")]);
        assert_eq!(pairs, expected);
    }

    #[test]
    fn parameters_may_hold_anything() {
        assert_eq!(split("t.py::C::test_x[a::b]"), ("t.py::C", "test_x[a::b]"));
        assert_eq!((base_name("test_x[a]"), parameters("test_x[a]")), ("test_x", "[a]"));
        assert_eq!(split("bare"), ("", "bare"));
    }
}
