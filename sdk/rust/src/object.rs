use crate::node::Node;
use crate::path::Path;
use crate::{text, Result};
use serde_json::Value;
use std::borrow::Cow;

/// One object. Fields are named by a [`Path`]: `o.string(["spec", "host"])`.
pub struct Object<'a> {
    pub(crate) root: Node<'a>,
}

impl<'a> Object<'a> {
    /// Reads an object, for tests.
    pub fn parse(text: &'a str) -> Result<Object<'a>> {
        Ok(Object::of(text::valid(text.as_bytes()).unwrap_or("")).ok_or("not a JSON object")?)
    }

    /// Reads an object of a text that is valid.
    pub(crate) fn of(text: &'a str) -> Option<Object<'a>> {
        Object::beginning(text, 0).map(|(object, _)| object)
    }

    /// Reads the object at a position of a text, and says where it ends.
    pub(crate) fn beginning(text: &'a str, at: usize) -> Option<(Object<'a>, usize)> {
        match text::parts_at(text, at)? {
            (text::Parts::Fields(all), end) => {
                let all = all.into_iter().map(|(k, v)| (Cow::Borrowed(k), Node::Text(Cow::Borrowed(v))));
                Some((Object { root: Node::Fields(all.collect()) }, end))
            }
            _ => None,
        }
    }

    /// The object as it stands, as JSON.
    pub fn json(&self) -> String {
        let mut out = String::new();
        self.root.write(&mut out);
        out
    }

    /// The field apiVersion, empty when there is none.
    pub fn api_version(&self) -> String {
        self.string("apiVersion").unwrap_or_default()
    }

    /// The field kind, empty when there is none.
    pub fn kind(&self) -> String {
        self.string("kind").unwrap_or_default()
    }

    /// The field metadata.name, empty when there is none.
    pub fn name(&self) -> String {
        self.string(["metadata", "name"]).unwrap_or_default()
    }

    /// The field metadata.namespace, empty for objects of the whole cluster.
    pub fn namespace(&self) -> String {
        self.string(["metadata", "namespace"]).unwrap_or_default()
    }

    /// Tells whether a field is there, be it null.
    pub fn has(&self, path: impl Path) -> bool {
        self.raw(path).is_some()
    }

    /// The JSON text of a field; None when it is not there.
    pub fn raw(&self, path: impl Path) -> Option<Cow<'_, str>> {
        self.root.find(&path.names())
    }

    /// A field decoded; None when it is not there. Numbers that fit neither 64 bits nor
    /// a float are not there either: [`Object::raw`] has them.
    pub fn value(&self, path: impl Path) -> Option<Value> {
        serde_json::from_str(&self.raw(path)?).ok()
    }

    /// A field that is a string.
    pub fn string(&self, path: impl Path) -> Option<String> {
        text::string(&self.raw(path)?)
    }

    /// A field that is a bool.
    pub fn bool(&self, path: impl Path) -> Option<bool> {
        self.raw(path)?.parse().ok()
    }

    /// A field that is an integer that fits.
    pub fn int(&self, path: impl Path) -> Option<i64> {
        self.raw(path)?.parse().ok()
    }

    /// A field that is a number.
    pub fn float(&self, path: impl Path) -> Option<f64> {
        self.raw(path)?.parse().ok()
    }

    /// How many items an array has, or fields an object; else 0.
    pub fn len(&self, path: impl Path) -> usize {
        match self.raw(path).as_deref().and_then(text::parts) {
            Some(text::Parts::Fields(all)) => all.len(),
            Some(text::Parts::Items(all)) => all.len(),
            None => 0,
        }
    }

    /// Makes a field any value: a text, a number, a bool, or what `serde_json::json!`
    /// makes. Objects on the way to it are made where they are missing. The error says
    /// that something on the way is there and is not an object.
    pub fn set(&mut self, path: impl Path, value: impl Into<Value>) -> Result {
        self.put(&path.names(), Node::Text(Cow::Owned(value.into().to_string()))).map_err(|(said, _)| said.into())
    }

    /// Makes a field what a JSON text says; see [`Object::set`].
    pub fn set_raw(&mut self, path: impl Path, json: &str) -> Result {
        let json = text::valid(json.as_bytes()).ok_or("that is no JSON")?;
        self.put(&path.names(), Node::Text(Cow::Owned(json.to_string()))).map_err(|(said, _)| said.into())
    }

    /// Puts a value at a place, or gives it back.
    fn put(&mut self, path: &[&str], value: Node<'a>) -> std::result::Result<(), (String, Node<'a>)> {
        if path.is_empty() {
            return Err(("the object itself cannot be replaced".to_string(), value));
        }
        let mut n = &mut self.root;
        for (i, name) in path.iter().enumerate() {
            if n.is_null() {
                *n = Node::Fields(Vec::new());
            }
            n = match n.grow(name) {
                Some(child) => child,
                None => return Err((format!("{} is not an object", path[..i].join(".")), value)),
            };
        }
        *n = value;
        Ok(())
    }

    /// Removes a field, if it is there.
    pub fn delete(&mut self, path: impl Path) {
        match self.root.holder(&path.names()) {
            Some((Node::Fields(all), i)) => drop(all.remove(i)),
            Some((Node::Items(all), i)) => drop(all.remove(i)),
            _ => {}
        }
    }

    /// Puts a field somewhere else in the object, unchanged, in the place of what is
    /// there. Without the field nothing happens. The error is that of [`Object::set`],
    /// and then nothing has moved.
    pub fn move_to(&mut self, from: impl Path, to: impl Path) -> Result {
        let (from, to) = (from.names(), to.names());
        let (key, value) = match self.root.holder(&from) {
            Some((Node::Fields(all), i)) => all.remove(i),
            Some((Node::Items(all), i)) => (Cow::Borrowed(""), all.remove(i)),
            _ => return Ok(()),
        };
        let (said, value) = match self.put(&to, value) {
            Ok(()) => return Ok(()),
            Err(back) => back,
        };
        self.put_back(&from, key, value);
        Err(said.into())
    }

    /// Puts what was taken where it was, or, of an object, where it belongs by its name.
    fn put_back(&mut self, from: &[&str], key: Cow<'a, str>, value: Node<'a>) {
        let (last, way) = match from.split_last() {
            Some(both) => both,
            None => return,
        };
        let mut n = &mut self.root;
        for name in way {
            let i = match n.index(name) {
                Some(i) => i,
                None => return,
            };
            n = n.child_mut(i);
        }
        match n {
            Node::Fields(all) => {
                let at = all.iter().rposition(|(k, _)| *k <= key).map_or(0, |i| i + 1);
                all.insert(at, (key, value));
            }
            Node::Items(all) => {
                let at = last.parse::<usize>().unwrap_or(0).min(all.len());
                all.insert(at, value);
            }
            Node::Text(_) => {}
        }
    }

    /// Calls `f` for every item of an array that is an object, with its index; items may
    /// be changed. It stops at the first error and returns it.
    pub fn each(&mut self, path: impl Path, mut f: impl FnMut(usize, &mut Object<'a>) -> Result) -> Result {
        let names = path.names();
        let list = match self.root.holder(&names) {
            Some((n, i)) => n.child_mut(i),
            None => return Ok(()),
        };
        if matches!(list, Node::Text(t) if !t.starts_with('[')) {
            return Ok(());
        }
        list.open();
        if let Node::Items(all) = list {
            for (i, item) in all.iter_mut().enumerate() {
                let mut object = Object { root: std::mem::replace(item, Node::null()) };
                let is_object = match &object.root {
                    Node::Text(t) => t.starts_with('{'),
                    other => matches!(other, Node::Fields(_)),
                };
                let done = if is_object { f(i, &mut object) } else { Ok(()) };
                *item = object.root;
                done?;
            }
        }
        Ok(())
    }

    /// Names the object in a message: `CronTab default/my-crontab`.
    pub(crate) fn described(&self) -> String {
        match self.namespace().as_str() {
            "" => format!("{} {}", self.kind(), self.name()),
            namespace => format!("{} {}/{}", self.kind(), namespace, self.name()),
        }
    }
}
