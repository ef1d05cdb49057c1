/// Leads to a field: one name, or the names of the fields on the way to it, or, in an
/// array, an index: `["spec", "ports", "0", "name"]`. A dot in a name means nothing.
pub trait Path {
    /// The names, from the outside.
    fn names(&self) -> Vec<&str>;
}

impl Path for &str {
    fn names(&self) -> Vec<&str> {
        vec![self]
    }
}

impl<S: AsRef<str>, const N: usize> Path for [S; N] {
    fn names(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

impl<S: AsRef<str>, const N: usize> Path for &[S; N] {
    fn names(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

impl<S: AsRef<str>> Path for &[S] {
    fn names(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

impl<S: AsRef<str>> Path for Vec<S> {
    fn names(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

impl<S: AsRef<str>> Path for &Vec<S> {
    fn names(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

/// Makes one type of all paths, for lists of paths of different lengths.
pub fn at(path: impl Path) -> Vec<String> {
    path.names().into_iter().map(String::from).collect()
}
