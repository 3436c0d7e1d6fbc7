//! docs/hostile-callers.md lists every public safe function of every published library, and names a
//! test that is there. So does the README of `surefit-papers` for its own.
//!
//! The sources are parsed, not compiled: what counts is a `pub fn` of a type, or of a trait, or by
//! itself, that is reachable by `pub mod` or named by a `pub use`. Types of one crate are told
//! apart by their names alone. What is `unsafe` or for tests only need not be listed; nor need
//! functions of traits that are hidden from the documentation, as the document says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, ImplItem, Item, TraitItem, UseTree, Visibility};

/// The libraries that programs use, and the papers' heaps; the rest of the laboratory is a command,
/// the test kit is for tests.
const LISTED: [&str; 15] = [
    "surefit",
    "surefit-core",
    "surefit-os",
    "surefit-classes",
    "surefit-freelist",
    "surefit-collections",
    "surefit-collections-derive",
    "surefit-compact",
    "surefit-direct",
    "surefit-gc",
    "surefit-gc-derive",
    "surefit-locked",
    "surefit-trace",
    "surefit-clients",
    PAPERS,
];

/// Its table is in its README.
const PAPERS: &str = "surefit-papers";

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of a crate: of the library, or of the laboratory.
fn folder_of(name: &str) -> PathBuf {
    let of_library = crates().join(name);
    match of_library.exists() {
        true => of_library,
        false => crates().join("../lab").join(&name["surefit-".len()..]),
    }
}

/// What the sources of a crate have: functions as `Type::name`, or `name`.
#[derive(Default)]
struct Sources {
    /// Types, traits and functions in modules that anybody can reach, or named by a `pub use` of
    /// one.
    exported: BTreeSet<String>,
    /// Names of types and traits that are `pub`, wherever they are.
    public: BTreeSet<String>,
    /// Safe functions that are `pub`, with the type or trait that must be exported for them to be
    /// reached.
    safe: BTreeMap<String, String>,
    /// All functions, also those of traits that a type implements.
    all: BTreeSet<String>,
}

fn is_pub(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_safe(signature: &syn::Signature) -> bool {
    !matches!(signature.safety, syn::Safety::Unsafe(_))
}

/// Whether an item is for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| {
        let is_cfg = it.path().is_ident("cfg");
        is_cfg && it.parse_args::<syn::Ident>().is_ok_and(|of| of == "test")
    })
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| {
        let is_doc = it.path().is_ident("doc");
        is_doc && it.parse_args::<syn::Ident>().is_ok_and(|of| of == "hidden")
    })
}

/// The file that a module says it has.
fn path_of(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|it| match &it.meta {
        syn::Meta::NameValue(said) if said.path.is_ident("path") => match &said.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(path),
                ..
            }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

/// The name of the type that an implementation is for.
fn name_of(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

impl Sources {
    fn of(name: &str) -> Self {
        let mut sources = Self::default();
        let folder = folder_of(name).join("src");
        sources.read_file(&folder.join("lib.rs"), &folder, true);
        sources
    }

    /// The functions that must be listed.
    fn required(&self) -> impl Iterator<Item = &String> {
        let reached = |of: &&String| self.exported.contains(*of);
        let required = self.safe.iter().filter(move |(_, of)| reached(of));
        required.map(|(function, _)| function)
    }

    /// Reads a file; `folder` is where the files of its modules are.
    fn read_file(&mut self, file: &Path, folder: &Path, is_open: bool) {
        let text =
            fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed =
            syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.read_items(&parsed.items, folder, is_open);
    }

    fn read_items(&mut self, items: &[Item], folder: &Path, is_open: bool) {
        for item in items {
            match item {
                Item::Mod(it) if !is_test(&it.attrs) => self.read_module(it, folder, is_open),
                Item::Use(it) if is_open && is_pub(&it.vis) => self.read_use(&it.tree),
                Item::Struct(it) => self.see(&it.vis, &it.ident, is_open),
                Item::Enum(it) => self.see(&it.vis, &it.ident, is_open),
                Item::Type(it) => self.see(&it.vis, &it.ident, is_open),
                Item::Trait(it) if !is_test(&it.attrs) => self.read_trait(it, is_open),
                Item::Impl(it) if !is_test(&it.attrs) => self.read_impl(it),
                Item::Fn(it) if !is_test(&it.attrs) => {
                    self.see(&it.vis, &it.sig.ident, is_open);
                    let name = it.sig.ident.to_string();
                    self.all.insert(name.clone());
                    if is_pub(&it.vis) && is_safe(&it.sig) {
                        self.safe.insert(name.clone(), name);
                    }
                }
                _ => {}
            }
        }
    }

    fn see(&mut self, visibility: &Visibility, name: &syn::Ident, is_open: bool) {
        if is_pub(visibility) {
            self.public.insert(name.to_string());
            if is_open {
                self.exported.insert(name.to_string());
            }
        }
    }

    fn read_module(&mut self, module: &syn::ItemMod, folder: &Path, is_open: bool) {
        let (name, is_open) = (module.ident.to_string(), is_open && is_pub(&module.vis));
        let inner = folder.join(&name);
        match &module.content {
            Some((_, items)) => self.read_items(items, &inner, is_open),
            None => {
                let path = path_of(&module.attrs).unwrap_or_else(|| format!("{name}.rs"));
                let above = folder.parent().expect("a folder has one above");
                let files = [folder.join(&path), inner.join("mod.rs"), above.join(&path)];
                let file = files.iter().find(|file| file.exists());
                self.read_file(file.expect("a module has a file"), &inner, is_open);
            }
        }
    }

    /// The names that a `pub use` gives away; of a whole module, nothing: none of the crates does
    /// that.
    fn read_use(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(it) => self.read_use(&it.tree),
            UseTree::Group(it) => it.items.iter().for_each(|tree| self.read_use(tree)),
            UseTree::Name(it) => _ = self.exported.insert(it.ident.to_string()),
            UseTree::Rename(it) => _ = self.exported.insert(it.ident.to_string()),
            _ => panic!("a glob hides what is public"),
        }
    }

    fn read_trait(&mut self, item: &syn::ItemTrait, is_open: bool) {
        self.see(&item.vis, &item.ident, is_open);
        let of = item.ident.to_string();
        for function in &item.items {
            let TraitItem::Fn(it) = function else {
                continue;
            };
            let name = format!("{of}::{}", it.sig.ident);
            self.all.insert(name.clone());
            if is_pub(&item.vis) && is_safe(&it.sig) && !is_hidden(&it.attrs) && !is_test(&it.attrs)
            {
                self.safe.insert(name, of.clone());
            }
        }
    }

    fn read_impl(&mut self, item: &syn::ItemImpl) {
        let Some(of) = name_of(&item.self_ty) else {
            return;
        };
        for function in &item.items {
            let ImplItem::Fn(it) = function else { continue };
            let name = format!("{of}::{}", it.sig.ident);
            self.all.insert(name.clone());
            let is_reached = item.trait_.is_none() && is_pub(&it.vis) && is_safe(&it.sig);
            if is_reached && !is_test(&it.attrs) {
                self.safe.insert(name, of.clone());
            }
        }
    }
}

/// A row of the document: items and tests.
struct Row {
    items: Vec<String>,
    tests: Vec<String>,
}

/// What stands between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// `Type::{a, b}` is two; a path is cut to its last type and function, or its function.
fn expanded(item: &str) -> Vec<String> {
    let (of, names) = match item.split_once("::{") {
        Some((of, names)) => (Some(of), names.trim_end_matches('}')),
        None => match item.rsplit_once("::") {
            Some((of, name)) => (Some(of), name),
            None => (None, item),
        },
    };
    let of = of.and_then(|of| of.rsplit("::").next());
    let of = of.map(|of| of.split('<').next().unwrap_or(of));
    let of = of.filter(|of| of.starts_with(char::is_uppercase));
    let names = names.split(',').map(str::trim);
    names
        .map(|name| of.map_or(name.to_owned(), |of| format!("{of}::{name}")))
        .collect()
}

/// The rows of every crate.
fn document() -> BTreeMap<String, Vec<Row>> {
    let mut of_crates = sections(&crates().join("../docs/hostile-callers.md"));
    let mut papers = sections(&folder_of(PAPERS).join("README.md"));
    let rows = papers.remove("What every safe function may be given");
    of_crates.insert(PAPERS.to_owned(), rows.expect("a table"));
    of_crates
}

/// The rows of every section of a document.
fn sections(path: &Path) -> BTreeMap<String, Vec<Row>> {
    let text = fs::read_to_string(path).expect("the document");
    let (mut sections, mut current) = (BTreeMap::<_, Vec<Row>>::new(), String::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            current = name.trim().to_owned();
            sections.entry(current.clone()).or_default();
        }
        let cells: Vec<_> = line.split('|').collect();
        let [_, item, given, tests, _] = cells[..] else {
            continue;
        };
        if quoted(item).next().is_some() {
            assert!(!given.trim().is_empty(), "{line}");
            let items = quoted(item).flat_map(expanded).collect();
            let tests = quoted(tests).map(str::to_owned).collect();
            sections
                .entry(current.clone())
                .or_default()
                .push(Row { items, tests });
        }
    }
    sections
}

/// Whether a test is there: `FILE::name`, the file beside `Cargo.toml` or in `tests`; or a file
/// that must not compile.
fn is_there(name: &str, test: &str) -> bool {
    let folder = folder_of(name);
    if test.ends_with(".rs") {
        return test.contains("/ui/") && folder.join(test).exists();
    }
    let Some((_, function)) = test.rsplit_once("::") else {
        return false;
    };
    let texts = files_of(name, test).into_iter().map(fs::read_to_string);
    texts.flatten().any(|text| {
        let head = format!("fn {function}()");
        let mut before = text.match_indices(&head).map(|(at, _)| &text[..at]);
        before.any(|before| {
            before
                .trim_end_matches(' ')
                .lines()
                .rev()
                .take(8)
                .any(|line| line.trim() == "#[test]")
        })
    })
}

/// Reached by what the tests run, and not by its name.
const UNNAMED: [&str; 4] = ["flush_output", "derive_release", "derive_trace", "visit"];

/// Whether one of the files that a row's tests stand in names the function.
fn is_named(name: &str, item: &str, row: &Row) -> bool {
    let function = item.rsplit("::").next().expect("a part");
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let files = row.tests.iter().flat_map(|test| files_of(name, test));
    let mut texts = files.filter_map(|file| fs::read_to_string(file).ok());
    UNNAMED.contains(&function)
        || texts.any(|text| text.split(|c| !is_part(c)).any(|word| word == function))
}

/// Where a test may stand.
fn files_of(name: &str, test: &str) -> Vec<PathBuf> {
    let folder = folder_of(name);
    let Some((file, _)) = test.rsplit_once("::") else {
        return vec![folder.join(test)];
    };
    let file = file.trim_end_matches(".rs");
    let files = [folder.join(file), folder.join("tests").join(file)];
    files.map(|file| file.with_extension("rs")).into()
}

#[test]
fn every_public_safe_function_is_listed_with_a_test_that_is_there() {
    let document = document();
    let mut wrong = Vec::new();
    for name in LISTED {
        let rows = document.get(name).expect("a section for every crate");
        let sources = Sources::of(name);
        let listed: BTreeSet<_> = rows.iter().flat_map(|row| &row.items).collect();
        let missing = sources
            .required()
            .filter(|function| !listed.contains(function));
        wrong.extend(missing.map(|function| format!("{name}: `{function}` is not listed")));
        let gone = listed.iter().filter(|item| !sources.all.contains(**item));
        wrong.extend(
            gone.map(|item| format!("{name}: `{item}` is listed, but there is no such function")),
        );
        for row in rows {
            if row.tests.is_empty() {
                wrong.push(format!("{name}: {:?} has no test", row.items));
            }
            let unnamed = row.items.iter().filter(|item| !is_named(name, item, row));
            wrong.extend(unnamed.map(|item| format!("{name}: no test of `{item}` names it")));
            let lost = row.tests.iter().filter(|test| !is_there(name, test));
            wrong.extend(lost.map(|test| format!("{name}: there is no test `{test}`")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The judge itself: what it must see, and what it must not.
#[test]
fn the_sources_are_read_as_they_are_meant() {
    let freelist = Sources::of("surefit-freelist");
    let required: BTreeSet<_> = freelist.required().map(String::as_str).collect();
    for seen in [
        "Heap::open_bump_chunk",
        "BumpChunk::granules_for",
        "Jamaica::check_objects",
        "Buddy::new",
        "Fit::is_better",
    ] {
        assert!(required.contains(seen), "{seen}");
    }
    for unseen in [
        "BumpChunk::take",
        "Memory::new",
        "Index::new",
        "Blocks::take",
        "Bitmap::flip_summary",
        "granules_for",
    ] {
        assert!(!required.contains(unseen), "{unseen}");
    }
    assert!(
        Sources::of("surefit").required().next().is_none(),
        "the face adds nothing"
    );
    let all: usize = LISTED
        .iter()
        .map(|name| Sources::of(name).required().count())
        .sum();
    assert!(all > 300, "{all}");
    assert_eq!(expanded("a::Heap<'m>::{b, c}"), ["Heap::b", "Heap::c"]);
    assert_eq!(expanded("certify::certify_shared"), ["certify_shared"]);
    assert_eq!(expanded("zero"), ["zero"]);
    assert!(is_there(
        "surefit-freelist",
        "tests/it/attacks::granules_of_any_request_hold_it"
    ));
    assert!(is_there("surefit-gc", "tests/ui/escapes_the_mutation.rs"));
    assert!(
        !is_there("surefit-freelist", "tests/it/attacks::in_use"),
        "no test"
    );
    assert!(!is_there(
        "surefit-freelist",
        "tests/it/attacks::no_such_test"
    ));
}
