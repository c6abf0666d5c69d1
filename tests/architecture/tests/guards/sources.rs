//! The sources of the house as text, tokens and syntax, with what only tests compile marked.

use std::{
    fs,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Item, spanned::Spanned as _, visit::Visit};

/// One token; a group's delimiters are tokens of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// One source file.
pub(crate) struct Source {
    /// From the top of the checkout, with slashes.
    pub(crate) path: String,
    pub(crate) file: syn::File,
    pub(crate) tokens: Vec<Token>,
    /// Names and lines of functions, outer ones first.
    functions: Vec<(String, RangeInclusive<usize>)>,
}

impl Source {
    /// Parses a file; what only tests compile is left out of its tokens.
    pub(crate) fn parse(path: &str, text: &str) -> Self {
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut lines = Lines::default();
        lines.visit_file(&file);
        let mut tokens = Vec::new();
        flatten(stream, &mut tokens);
        tokens.retain(|token| !lines.of_tests.iter().any(|lines| lines.contains(&token.line)));
        Self { path: path.to_owned(), file, tokens, functions: lines.functions }
    }

    /// The innermost function around a line.
    pub(crate) fn function_at(&self, line: usize) -> Option<&str> {
        let mut around = self.functions.iter().filter(|(_, lines)| lines.contains(&line));
        around.next_back().map(|(name, _)| name.as_str())
    }

    /// The lines at which these tokens stand in a row.
    pub(crate) fn find<'a>(&'a self, row: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        let windows = self.tokens.windows(row.len());
        windows
            .filter(move |found| found.iter().map(|t| t.text.as_str()).eq(row.iter().copied()))
            .map(|found| found[0].line)
    }

    /// String literals with their lines; doc comments are none.
    pub(crate) fn literals(&self) -> impl Iterator<Item = (String, usize)> + '_ {
        self.tokens.iter().enumerate().filter_map(|(index, token)| {
            let value = string_value(&token.text)?;
            let doc =
                index >= 2 && self.tokens[index - 1].text == "=" && self.tokens[index - 2].text == "doc";
            (!doc).then_some((value, token.line))
        })
    }

    /// The string literals of a constant array.
    pub(crate) fn list(&self, constant: &str) -> Vec<String> {
        let mut items = self.file.items.iter();
        let found = items.find_map(|item| match item {
            Item::Const(item) if item.ident == constant => Some(item.span()),
            _ => None,
        });
        let span = found.unwrap_or_else(|| panic!("{}: no constant {constant}", self.path));
        let lines = span.start().line..=span.end().line;
        self.literals().filter(|(_, line)| lines.contains(line)).map(|(text, _)| text).collect()
    }
}

/// The value of a token that is a string literal.
fn string_value(token: &str) -> Option<String> {
    if !token.ends_with(['"', '#']) || !token.starts_with(['"', 'r']) {
        return None;
    }
    syn::parse_str::<syn::LitStr>(token).ok().map(|literal| literal.value())
}

fn flatten(stream: TokenStream, into: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                    proc_macro2::Delimiter::Brace => ("{", "}"),
                    proc_macro2::Delimiter::Bracket => ("[", "]"),
                    proc_macro2::Delimiter::None => ("", ""),
                };
                into.push(Token { text: open.to_owned(), line });
                flatten(group.stream(), into);
                into.push(Token { text: close.to_owned(), line: group.span_close().start().line });
            }
            other => into.push(Token { text: other.to_string(), line }),
        }
    }
}

#[derive(Default)]
struct Lines {
    of_tests: Vec<RangeInclusive<usize>>,
    functions: Vec<(String, RangeInclusive<usize>)>,
}

impl Lines {
    fn note(&mut self, attributes: &[Attribute], span: proc_macro2::Span) {
        if attributes.iter().any(is_for_tests) {
            self.of_tests.push(span.start().line..=span.end().line);
        }
    }

    fn function(&mut self, name: &syn::Ident, span: proc_macro2::Span) {
        self.functions.push((name.to_string(), span.start().line..=span.end().line));
    }
}

impl Visit<'_> for Lines {
    fn visit_item_mod(&mut self, item: &syn::ItemMod) {
        self.note(&item.attrs, item.span());
        syn::visit::visit_item_mod(self, item);
    }

    fn visit_item_fn(&mut self, item: &syn::ItemFn) {
        self.note(&item.attrs, item.span());
        self.function(&item.sig.ident, item.span());
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &syn::ItemImpl) {
        self.note(&item.attrs, item.span());
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &syn::ImplItemFn) {
        self.note(&item.attrs, item.span());
        self.function(&item.sig.ident, item.span());
        syn::visit::visit_impl_item_fn(self, item);
    }
}

/// True for `#[cfg(test)]` and `#[test]`.
pub(crate) fn is_for_tests(attribute: &Attribute) -> bool {
    let path = attribute.path();
    if path.is_ident("cfg") {
        return attribute.parse_args::<syn::Path>().is_ok_and(|inner| inner.is_ident("test"));
    }
    path.segments.last().is_some_and(|last| last.ident == "test")
}

/// The top of the checkout.
pub(crate) fn root() -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    top.canonicalize().expect("the checkout is where the crate is")
}

/// Every file of the checkout below `folder` with this ending, by path; build output is none of it.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let top = root();
    let mut found = Vec::new();
    walk(&top, &top.join(folder), ending, &mut found);
    found.sort();
    found
}

fn walk(top: &Path, folder: &Path, ending: &str, into: &mut Vec<(String, String)>) {
    const NOT_OURS: [&str; 4] = ["target", ".git", ".tools", "node_modules"];
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder is read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !NOT_OURS.contains(&name.as_str()) {
                walk(top, &path, ending, into);
            }
        } else if name.ends_with(ending)
            && let Ok(text) = fs::read_to_string(&path)
        {
            let path = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            into.push((path, text));
        }
    }
}

/// One file of the checkout.
pub(crate) fn read(path: &str) -> Source {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    Source::parse(path, &text)
}

/// The sources below these folders that a server or a client is built of, tests left out.
pub(crate) fn production(folders: &[&str]) -> Vec<Source> {
    let all = folders.iter().flat_map(|folder| files(folder, ".rs"));
    let all = all.filter(|(path, _)| path.contains("/src/"));
    let all: Vec<Source> = all.map(|(path, text)| Source::parse(&path, &text)).collect();
    let tests: Vec<String> = all.iter().flat_map(modules_of_tests).collect();
    let is_test = |path: &str| {
        tests.iter().any(|module| path == format!("{module}.rs") || path.starts_with(&format!("{module}/")))
    };
    all.into_iter().filter(|source| !is_test(&source.path)).collect()
}

/// The sources of tests below a folder.
pub(crate) fn tests_of(folder: &str) -> Vec<Source> {
    let all = files(folder, ".rs").into_iter().filter(|(path, _)| path.contains("/tests/"));
    all.map(|(path, text)| Source::parse(&path, &text)).collect()
}

/// The paths, without ending, of the modules that a file declares for tests only.
fn modules_of_tests(source: &Source) -> Vec<String> {
    let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let own = match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        other => format!("{folder}/{}", other.trim_end_matches(".rs")),
    };
    let modules = source.file.items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() && module.attrs.iter().any(is_for_tests) => {
            Some(module)
        }
        _ => None,
    });
    let paths = modules.map(|module| match module.attrs.iter().find_map(path_attribute) {
        Some(path) => format!("{folder}/{}", path.trim_end_matches(".rs")),
        None => format!("{own}/{}", module.ident),
    });
    paths.collect()
}

fn path_attribute(attribute: &Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(literal) = &pair.value else { return None };
    match &literal.lit {
        syn::Lit::Str(path) if pair.path.is_ident("path") => Some(path.value()),
        _ => None,
    }
}

/// True if a test function of this name is among the sources.
pub(crate) fn has_test(sources: &[Source], name: &str) -> bool {
    sources.iter().any(|source| test_names(source).iter().any(|found| found == name))
}

fn test_names(source: &Source) -> Vec<String> {
    struct Tests(Vec<String>);
    impl Visit<'_> for Tests {
        fn visit_item_fn(&mut self, item: &syn::ItemFn) {
            let is_test = item
                .attrs
                .iter()
                .any(|attribute| !attribute.path().is_ident("cfg") && is_for_tests(attribute));
            if is_test {
                self.0.push(item.sig.ident.to_string());
            }
        }
    }
    let mut tests = Tests(Vec::new());
    tests.visit_file(&source.file);
    tests.0
}

#[test]
fn what_only_tests_compile_is_no_production_code() {
    let source = Source::parse(
        "a/src/lib.rs",
        "fn real() { \"kept\"; }\n#[cfg(test)]\nmod tests {\n fn x() { \"dropped\"; }\n}\n#[cfg(test)] mod more;",
    );
    assert_eq!(source.literals().map(|(text, _)| text).collect::<Vec<_>>(), ["kept"]);
    assert_eq!(modules_of_tests(&source), ["a/src/more"]);
    assert_eq!(source.function_at(1), Some("real"));
}
