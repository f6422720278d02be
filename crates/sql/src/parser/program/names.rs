//! Names of one kind in scope at a place of a program. Looking one up takes the same time however
//! many are declared, since clients write programs with any number of variables.

use hashbrown::HashMap;
use selkie_types::charset::in_one_case;

/// Names with what each means, the innermost last. Letter case does not count.
#[derive(Debug)]
pub(super) struct Names<T> {
    /// Keys of the names, in the order of their declarations.
    declared: Vec<String>,
    /// The declarations of each name in scope: position in `declared` and meaning.
    known: HashMap<String, Vec<(usize, T)>>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { declared: Vec::new(), known: HashMap::new() }
    }
}

impl<T: Copy> Names<T> {
    /// Number of names in scope, to pass to [`Names::has_since`] and [`Names::truncate`].
    pub(super) fn len(&self) -> usize {
        self.declared.len()
    }

    /// Brings a name into scope; it hides earlier ones.
    pub(super) fn declare(&mut self, name: &str, meaning: T) {
        let key = in_one_case(name);
        self.known.entry_ref(key.as_str()).or_default().push((self.declared.len(), meaning));
        self.declared.push(key);
    }

    /// The innermost meaning of this name.
    pub(super) fn find(&self, name: &str) -> Option<T> {
        self.innermost(name).map(|(_, meaning)| meaning)
    }

    /// Whether the name is among those that follow the first `len`.
    pub(super) fn has_since(&self, len: usize, name: &str) -> bool {
        self.innermost(name).is_some_and(|(at, _)| at >= len)
    }

    /// Takes all names but the first `len` out of scope.
    pub(super) fn truncate(&mut self, len: usize) {
        for key in self.declared.drain(len.min(self.declared.len())..) {
            // Empty lists stay, since a name is often declared again.
            self.known.get_mut(&key).map(Vec::pop);
        }
    }

    fn innermost(&self, name: &str) -> Option<(usize, T)> {
        self.known.get(in_one_case(name).as_str())?.last().copied()
    }
}
