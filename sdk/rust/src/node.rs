//! One JSON value, which stays text until something in it is to be changed.

use crate::text::{self, Parts};
use std::borrow::Cow;

pub(crate) enum Node<'a> {
    Text(Cow<'a, str>),
    /// Keys are as they are written, without their quotes.
    Fields(Vec<(Cow<'a, str>, Node<'a>)>),
    Items(Vec<Node<'a>>),
}

impl<'a> Node<'a> {
    pub(crate) fn null() -> Node<'a> {
        Node::Text(Cow::Borrowed("null"))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Node::Text(t) if t == "null")
    }

    /// Takes apart what can be.
    pub(crate) fn open(&mut self) {
        let opened = match self {
            Node::Text(Cow::Borrowed(t)) => text::parts(t).map(|p| Node::of(p, Cow::Borrowed)),
            Node::Text(Cow::Owned(t)) => text::parts(t).map(|p| Node::of(p, |s| Cow::Owned(s.to_string()))),
            _ => None,
        };
        if let Some(node) = opened {
            *self = node;
        }
    }

    fn of<'t>(parts: Parts<'t>, keep: impl Fn(&'t str) -> Cow<'a, str>) -> Node<'a> {
        match parts {
            Parts::Fields(all) => Node::Fields(all.into_iter().map(|(k, v)| (keep(k), Node::Text(keep(v)))).collect()),
            Parts::Items(all) => Node::Items(all.into_iter().map(|v| Node::Text(keep(v))).collect()),
        }
    }

    /// The text of what a path leads to; None when it leads nowhere.
    pub(crate) fn find(&self, path: &[&str]) -> Option<Cow<'_, str>> {
        match (self, path.split_first()) {
            (Node::Text(t), _) => find_text(t, path).map(Cow::Borrowed),
            (_, None) => {
                let mut out = String::new();
                self.write(&mut out);
                Some(Cow::Owned(out))
            }
            (_, Some((name, rest))) => self.child(self.index(name)?).find(rest),
        }
    }

    /// Where a field or an item is; nowhere in what was not opened.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        match self {
            Node::Text(_) => None,
            Node::Fields(all) => all.iter().position(|(key, _)| text::is_key(key, name)),
            Node::Items(all) => index_of(name, all.len()),
        }
    }

    fn child(&self, i: usize) -> &Node<'a> {
        match self {
            Node::Text(_) => self,
            Node::Fields(all) => &all[i].1,
            Node::Items(all) => &all[i],
        }
    }

    pub(crate) fn child_mut(&mut self, i: usize) -> &mut Node<'a> {
        match self {
            Node::Text(_) => self,
            Node::Fields(all) => &mut all[i].1,
            Node::Items(all) => &mut all[i],
        }
    }

    /// The field with a name, made if need be; None when this is not an object and has no
    /// such item. A new field goes to its place by the alphabet, if the others are in
    /// theirs: in that order objects are stored.
    pub(crate) fn grow(&mut self, name: &str) -> Option<&mut Node<'a>> {
        self.open();
        if let Some(i) = self.index(name) {
            return Some(self.child_mut(i));
        }
        let all = match self {
            Node::Fields(all) => all,
            _ => return None,
        };
        let quoted = text::quote(name);
        let key = &quoted[1..quoted.len() - 1];
        let at = all.iter().rposition(|(k, _)| k.as_ref() <= key).map_or(0, |i| i + 1);
        all.insert(at, (Cow::Owned(key.to_string()), Node::null()));
        Some(&mut all[at].1)
    }

    /// Opens everything on the way to a field, and returns what it is in, and where.
    pub(crate) fn holder(&mut self, path: &[&str]) -> Option<(&mut Node<'a>, usize)> {
        let (last, way) = path.split_last()?;
        let mut n = self;
        for name in way {
            n.open();
            let i = n.index(name)?;
            n = n.child_mut(i);
        }
        n.open();
        let i = n.index(last)?;
        Some((n, i))
    }

    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Node::Text(t) => out.push_str(t),
            Node::Fields(all) => {
                out.push('{');
                for (i, (key, value)) in all.iter().enumerate() {
                    out.push_str(if i > 0 { ",\"" } else { "\"" });
                    out.push_str(key);
                    out.push_str("\":");
                    value.write(out);
                }
                out.push('}');
            }
            Node::Items(all) => {
                out.push('[');
                for (i, value) in all.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    value.write(out);
                }
                out.push(']');
            }
        }
    }
}

fn index_of(name: &str, len: usize) -> Option<usize> {
    name.parse().ok().filter(|i| *i < len)
}

fn find_text<'t>(text: &'t str, path: &[&str]) -> Option<&'t str> {
    let mut at = text;
    for name in path {
        at = match text::parts(at)? {
            Parts::Fields(all) => all.iter().find(|(key, _)| text::is_key(key, name))?.1,
            Parts::Items(all) => all[index_of(name, all.len())?],
        };
    }
    Some(at)
}
