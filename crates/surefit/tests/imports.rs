//! The imports between the files of a crate have no cycle, in any crate of the repository:
//! libraries, programs, examples, benchmarks, and programs of tests.
//!
//! The root of a crate is a file to which no `mod` line leads. From it the `mod` lines lead to the
//! other files. An arrow goes from a file to each file of the crate that it names: in a `use`, or
//! in a path that begins with `crate`, `super`, `self` or a module. A name that a file re-exports
//! by `pub use` counts for the file that defines it. What is compiled for unit tests only does not
//! count, nor do comments and `mod` lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Punct, Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprCall, ExprLit, Item, ItemMod, ItemUse, Lit, Macro, Meta, UseTree};
use syn::{VisRestricted, Visibility};

/// The path of a module from the root of its crate; that of the root is empty.
type Module = Vec<String>;

/// Names that a module re-exports, and the paths that they stand for.
type Exports = BTreeMap<String, Vec<String>>;

/// A `mod` line.
#[derive(Debug)]
struct Child {
    name: String,
    /// What `#[path]` says.
    path: Option<String>,
    is_test: bool,
}

/// What a file names.
#[derive(Debug, Default)]
struct Names {
    paths: BTreeSet<Vec<String>>,
    exports: Exports,
    children: Vec<Child>,
    /// How many modules written in the file surround what is visited.
    inside: usize,
}

/// Whether an item exists only for unit tests: `cfg(test)`, or `cfg(all(test, …))`.
fn is_test(attributes: &[Attribute]) -> bool {
    let of_cfg = |it: &Attribute| match &it.meta {
        Meta::List(list) if list.path.is_ident("cfg") => Some(list.tokens.to_string()),
        _ => None,
    };
    let mut conditions = attributes.iter().filter_map(of_cfg);
    conditions.any(|it| it == "test" || it.replace(' ', "").starts_with("all(test,"))
}

/// The value of `#[path]`.
fn path_of(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|it| match &it.meta {
        Meta::NameValue(it) if it.path.is_ident("path") => match &it.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(path),
                ..
            }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

impl Names {
    fn of(source: &str) -> syn::Result<Self> {
        let mut names = Self::default();
        names.visit_file(&syn::parse_file(source)?);
        Ok(names)
    }

    /// Adds a path. In a module inside the file, the first `super`s lead to the file itself.
    fn add(&mut self, mut path: Vec<String>) {
        if self.inside > 0 {
            let supers = path.iter().take_while(|name| *name == "super").count();
            if supers == 0 && path[0] != "crate" {
                return;
            }
            path.drain(..supers.min(self.inside));
            if supers > 0 && supers <= self.inside {
                path.insert(0, "self".to_owned());
            }
        }
        self.paths.insert(path);
    }

    fn add_child(&mut self, module: &ItemMod) {
        let name = &module.ident;
        assert!(
            self.inside == 0,
            "`mod {name};` is in a module inside a file"
        );
        let child = Child {
            name: name.to_string(),
            path: path_of(&module.attrs),
            is_test: is_test(&module.attrs),
        };
        self.children.push(child);
    }

    /// Adds the paths of a `use`, and what it re-exports.
    fn add_use(&mut self, tree: &UseTree, before: &[String], is_export: bool) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let (path, name) = match tree {
            UseTree::Path(path) => {
                return self.add_use(&path.tree, &with(&path.ident), is_export);
            }
            UseTree::Group(group) => {
                let trees = group.items.iter();
                return trees.for_each(|tree| self.add_use(tree, before, is_export));
            }
            UseTree::Glob(_) => (before.to_vec(), None),
            UseTree::Name(name) if name.ident == "self" => {
                (before.to_vec(), before.last().cloned())
            }
            UseTree::Name(name) => (with(&name.ident), Some(name.ident.to_string())),
            UseTree::Rename(renamed) => (with(&renamed.ident), Some(renamed.rename.to_string())),
        };
        if let (true, 0, Some(name)) = (is_export, self.inside, name) {
            self.exports.insert(name, path.clone());
        }
        self.add(path);
    }

    /// Adds the paths in the tokens of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons) = (Vec::new(), 0);
        let end = TokenTree::from(Punct::new(';', Spacing::Alone));
        for token in tokens.into_iter().chain([end]) {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(name) if colons == 2 && !path.is_empty() => {
                    path.push(name.to_string());
                    colons = 0;
                }
                token => {
                    if path.len() > 1 {
                        self.add(std::mem::take(&mut path));
                    }
                    path.clear();
                    // `$crate` and `::name` are other paths; a field's type follows one colon.
                    match token {
                        TokenTree::Ident(name) if colons != 2 => path.push(name.to_string()),
                        TokenTree::Group(group) => self.add_tokens(group.stream()),
                        _ => {}
                    }
                    colons = 0;
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Const(it) => &it.attrs,
            Item::Fn(it) => &it.attrs,
            Item::Impl(it) => &it.attrs,
            Item::Mod(it) => &it.attrs,
            Item::Struct(it) => &it.attrs,
            Item::Use(it) => &it.attrs,
            _ => return visit::visit_item(self, item),
        };
        match item {
            Item::Mod(module) if module.content.is_none() => self.add_child(module),
            _ if is_test(attributes) => {}
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_trait_item_fn(self, function);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if !is_test(&call.attrs) {
            visit::visit_expr_call(self, call);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.inside += 1;
        visit::visit_item_mod(self, module);
        self.inside -= 1;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_export = !matches!(item.vis, Visibility::Inherited);
        self.add_use(&item.tree, &[], is_export);
    }

    /// `pub(in path)` and `pub(super)` name no item.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let names = path.segments.iter().map(|it| it.ident.to_string());
            self.add(names.collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        self.add_tokens(called.tokens.clone());
        visit::visit_macro(self, called);
    }
}

/// The file that a `mod` line of `parent` leads to. Beside `mod.rs` and the root of a crate are
/// their modules; those of another file are in a folder of its name.
fn file_of(parent: &Path, child: &Child) -> PathBuf {
    let folder = parent.parent().expect("a folder");
    let found = match &child.path {
        Some(path) => fs::canonicalize(folder.join(path)).ok(),
        None => {
            let named = parent.with_extension("");
            let folders = [named.as_path(), folder].into_iter();
            let files = folders.flat_map(|folder| {
                let module = folder.join(&child.name);
                [module.with_extension("rs"), module.join("mod.rs")]
            });
            files.into_iter().find(|file| file.exists())
        }
    };
    found.unwrap_or_else(|| panic!("{parent:?}: no file of the module {}", child.name))
}

/// The files of a crate, by their modules.
#[derive(Debug, Default)]
struct Files<'a>(BTreeMap<Module, &'a Names>);

impl<'a> Files<'a> {
    /// The crate with this root.
    fn of(sources: &'a BTreeMap<PathBuf, Names>, root: &Path) -> Self {
        let mut files = Self::default();
        let mut found = vec![(Module::new(), root.to_owned())];
        while let Some((module, file)) = found.pop() {
            let names = &sources[&file];
            for child in names.children.iter().filter(|child| !child.is_test) {
                let name = child.name.clone();
                let module = [&module[..], &[name]].concat();
                found.push((module, file_of(&file, child)));
            }
            files.0.insert(module, names);
        }
        files
    }

    /// The file that a path in `from` leads to, and the name of the item there; `None` if the path
    /// leads out of the crate.
    fn target(&self, from: &Module, path: &[String]) -> Option<(Module, Option<String>)> {
        let (mut at, mut path) = (from.clone(), path);
        match path[0].as_str() {
            "crate" => (at, path) = (Module::new(), &path[1..]),
            "self" => path = &path[1..],
            "super" => {
                let supers = path.iter().take_while(|name| *name == "super").count();
                at.truncate(at.len().saturating_sub(supers));
                path = &path[supers..];
            }
            name => {
                let child = [&at[..], &[name.to_owned()]].concat();
                if !self.0.contains_key(&child) {
                    return None;
                }
            }
        }
        while let [first, rest @ ..] = path {
            let child = [&at[..], std::slice::from_ref(first)].concat();
            if !self.0.contains_key(&child) {
                break;
            }
            (at, path) = (child, rest);
        }
        self.0
            .contains_key(&at)
            .then(|| (at, path.first().cloned()))
    }

    /// The file that defines what a path leads to: re-exports are followed.
    fn definition(&self, from: &Module, path: &[String]) -> Option<Module> {
        let (mut at, mut name) = self.target(from, path)?;
        // No name is re-exported more often than there are files.
        for _ in 0..self.0.len() {
            let exported = name.as_ref().and_then(|name| self.0[&at].exports.get(name));
            let Some(next) = exported.and_then(|path| self.target(&at, path)) else {
                break;
            };
            if next == (at.clone(), name.clone()) {
                break;
            }
            (at, name) = next;
        }
        Some(at)
    }

    /// The files that each file names.
    fn arrows(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let arrows = self.0.iter().map(|(from, names)| {
            let to = names
                .paths
                .iter()
                .filter_map(|path| self.definition(from, path));
            (from, to.filter(|to| to != from).collect())
        });
        arrows.collect()
    }

    /// The files that are on a cycle or between two, each with those of them that it names.
    fn cycles(&self) -> Vec<String> {
        let mut arrows = self.arrows();
        // Files without an arrow to a file that is left are on no cycle; nor are those to which no
        // arrow leads.
        loop {
            let left: BTreeSet<Module> = arrows.keys().map(|&file| file.clone()).collect();
            let named: BTreeSet<Module> = arrows.values().flatten().cloned().collect();
            arrows.retain(|file, to| {
                to.retain(|to| left.contains(to));
                !to.is_empty() && named.contains(*file)
            });
            if arrows.len() == left.len() {
                break;
            }
        }
        let show = |file: &Module| match file.is_empty() {
            true => "root".to_owned(),
            false => file.join("::"),
        };
        let line = |(file, to): (&&Module, &BTreeSet<Module>)| {
            let to: Vec<String> = to.iter().map(show).collect();
            format!("{} -> {}", show(file), to.join(" "))
        };
        arrows.iter().map(line).collect()
    }
}

/// All Rust files of the repository, without those that builds write.
fn sources(root: &Path) -> BTreeMap<PathBuf, Names> {
    let (mut sources, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            if path.is_dir() {
                if !name.starts_with('.') && !name.starts_with("target") {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") {
                let source = fs::read_to_string(&path).expect("a source");
                let names = Names::of(&source).unwrap_or_else(|e| panic!("{path:?}: {e}"));
                sources.insert(path, names);
            }
        }
    }
    sources
}

/// The cycles of a crate of these files.
fn cycles_of(files: &[(&str, &str)]) -> Vec<String> {
    let read = |&(module, source): &(&str, &str)| {
        let module = module.split("::").filter(|name| !name.is_empty());
        let names = Names::of(source).expect("a sound source");
        (module.map(str::to_owned).collect(), names)
    };
    let files: BTreeMap<Module, Names> = files.iter().map(read).collect();
    Files(
        files
            .iter()
            .map(|(file, names)| (file.clone(), names))
            .collect(),
    )
    .cycles()
}

#[test]
fn no_crate_has_a_cycle_of_imports() {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let root = root.expect("the repository");
    let sources = sources(&root);
    let children = sources.iter().flat_map(|(file, names)| {
        let children = names.children.iter();
        children.map(move |child| file_of(file, child))
    });
    let children: BTreeSet<PathBuf> = children.collect();
    let (mut found, mut arrows) = (Vec::new(), 0);
    for path in sources.keys().filter(|file| !children.contains(*file)) {
        let files = Files::of(&sources, path);
        arrows += files.arrows().values().map(BTreeSet::len).sum::<usize>();
        let name = path.strip_prefix(&root).expect("a file of it").display();
        let cycles = files.cycles();
        found.extend(cycles.iter().map(|line| format!("{name}: {line}")));
    }
    assert!(
        arrows > 1000,
        "{arrows} imports were found: the sources were not read"
    );
    found.sort();
    assert!(
        found.is_empty(),
        "files on cycles of imports:\n{}",
        found.join("\n")
    );
}

#[test]
fn two_files_that_import_each_other_are_a_cycle() {
    let cycle = ["a -> b", "b -> a"];
    assert_eq!(
        cycles_of(&[
            ("a", "use crate::b::B;"),
            ("b", "use super::a::{A, C};"),
            ("c", "use crate::a;")
        ]),
        cycle
    );
    let by_path = "fn f() -> u32 { crate::a::f() }";
    assert_eq!(
        cycles_of(&[("a", "use crate::b::B;"), ("b", by_path)]),
        cycle
    );
    let in_macro = "fn f() { assert!(g(1, crate::a::f())); }";
    assert_eq!(
        cycles_of(&[("a", "use crate::b::B;"), ("b", in_macro)]),
        cycle
    );
    let in_module = "mod inner { fn f() { super::super::a::f(); } }";
    assert_eq!(
        cycles_of(&[("a", "use crate::b::B;"), ("b", in_module)]),
        cycle
    );
}

#[test]
fn a_parent_that_calls_a_child_which_uses_it_is_a_cycle() {
    let child = ("a::b", "use super::A;");
    assert_eq!(
        cycles_of(&[("a", "mod b; struct A; fn f() { b::g(); }"), child]),
        ["a -> a::b", "a::b -> a"]
    );
    assert_eq!(
        cycles_of(&[("a", "mod b; pub use b::B; struct A;"), child]),
        ["a -> a::b", "a::b -> a"]
    );
    assert!(cycles_of(&[("a", "mod b; struct A;"), child]).is_empty());
}

#[test]
fn a_name_that_is_exported_again_counts_where_it_is_defined() {
    let root = ("", "mod a; mod b; pub use a::A; pub use b::B;");
    let a = ("a", "use crate::B; pub struct A;");
    assert!(cycles_of(&[root, a, ("b", "pub struct B;")]).is_empty());
    assert_eq!(
        cycles_of(&[root, a, ("b", "use crate::A; pub struct B;")]),
        ["a -> b", "b -> a"]
    );
}

#[test]
fn tests_and_comments_and_visibilities_are_no_imports() {
    let a = ("a", "use crate::b::B;");
    let tests = "#[cfg(test)] mod tests { use crate::a::A; } #[cfg(test)] use crate::a::C;";
    assert!(cycles_of(&[a, ("b", tests)]).is_empty());
    assert!(cycles_of(&[a, ("b", "/// As [`A`](crate::a::A).\npub struct B;")]).is_empty());
    assert!(cycles_of(&[a, ("b", "pub(in crate::a) struct B;")]).is_empty());
    assert!(cycles_of(&[a, ("b", "mod inner { use super::B; fn f() { self::g() } }")]).is_empty());
}
