//! Which types can hold blocks, found by following fields.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, visit::Visit};

use crate::sources::Source;

/// Where following starts: blocks, asks, and what they are made of before and after; and a job, whose writes are
/// behind a trait.
const SEEDS: [&str; 7] =
    ["MessageBlock", "Ask", "DraftBlock", "AskDraft", "StoredBlock", "StoredAsk", "ErasedJob"];

/// Names of all types that reach a block through their fields.
pub(crate) fn bearing(sources: &[Source]) -> BTreeSet<String> {
    let mut mentions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        collect(&source.file.items, &mut mentions);
    }
    let mut bearing: BTreeSet<String> = SEEDS.iter().map(ToString::to_string).collect();
    loop {
        let found =
            mentions.iter().filter(|(name, inner)| !bearing.contains(*name) && !inner.is_disjoint(&bearing));
        let found: Vec<String> = found.map(|(name, _)| name.clone()).collect();
        if found.is_empty() {
            return bearing;
        }
        bearing.extend(found);
    }
}

fn collect(items: &[Item], into: &mut BTreeMap<String, BTreeSet<String>>) {
    for item in items {
        let (name, names) = match item {
            Item::Struct(item) => {
                (&item.ident, item.fields.iter().flat_map(|field| names_in(&field.ty)).collect())
            }
            Item::Enum(item) => {
                let fields = item.variants.iter().flat_map(|variant| &variant.fields);
                (&item.ident, fields.flat_map(|field| names_in(&field.ty)).collect())
            }
            Item::Type(item) => (&item.ident, names_in(&item.ty)),
            _ => continue,
        };
        // Errors tell about blocks and hold none.
        if !name.to_string().ends_with("Error") {
            into.entry(name.to_string()).or_default().extend::<BTreeSet<String>>(names);
        }
    }
}

/// Every name in a type, those of type parameters and trait objects included.
pub(crate) fn names_in(ty: &syn::Type) -> BTreeSet<String> {
    struct Names(BTreeSet<String>);
    impl Visit<'_> for Names {
        fn visit_path(&mut self, path: &syn::Path) {
            self.0.extend(path.segments.last().map(|segment| segment.ident.to_string()));
            syn::visit::visit_path(self, path);
        }
    }
    let mut names = Names(BTreeSet::new());
    names.visit_type(ty);
    names.0
}

#[test]
fn fields_are_followed_through_structs_enums_and_aliases() {
    let text = "struct Message { blocks: Arc<[MessageBlock]> } enum Event { Posted(Arc<Message>) }
        type Told = Vec<Event>; struct Envelope { inner: Box<Told> } struct Plain { id: u8 }";
    let found = bearing(&[Source::parse("a/src/b.rs", text)]);
    for name in ["Message", "Event", "Told", "Envelope"] {
        assert!(found.contains(name), "{name}");
    }
    assert!(!found.contains("Plain"));
}
