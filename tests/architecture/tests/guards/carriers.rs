//! Block writers among the ports: blocks get into storage through two methods, and a closed list moves them.

use std::collections::BTreeSet;

use syn::{FnArg, ImplItem, Item, Signature, TraitItem, Visibility};

use crate::{
    accept,
    block_types::{bearing, names_in},
    reported,
    sources::{Source, production},
};

/// The only methods that store blocks.
const WRITERS: &[&str] = &["Writes::append", "Writes::close"];

/// Methods that are handed blocks and cannot store them, each with the reason.
const CARRIERS: &[(&str, &str)] = &[
    ("EventBus::publish", "tells subscribers what was committed"),
    ("Lanes::dispatch", "sends a stored message to a live session"),
    ("Gateway::call", "sends drafts to the server, which checks them"),
    ("Writer::enqueue", "takes a job, whose decision is put in writes"),
    ("Writes::tell", "adds an event, which is published after the commit"),
    ("WriteJob::decide", "reads locked rows and yields writes"),
    ("ErasedJob::decide", "reads locked rows and yields writes"),
    ("Audience::labels", "reads the names that travel with a message"),
];

const ADVICE: &str = "a new block-rewrite path needs a decision record that defines its ask rule; what only moves \
                      blocks goes on the list of carriers";

fn check(sources: &[Source], bearing: &BTreeSet<String>) -> Vec<String> {
    let mut violations = Vec::new();
    let mut found = BTreeSet::new();
    for source in sources {
        for (method, signature) in methods(&source.file.items) {
            let held: Vec<String> = parameters(signature).filter(|name| bearing.contains(name)).collect();
            if held.is_empty() {
                continue;
            }
            let known =
                WRITERS.contains(&method.as_str()) || CARRIERS.iter().any(|(name, _)| *name == method);
            if !known {
                violations.push(format!(
                    "{}: {method} is handed blocks ({}): {ADVICE}",
                    source.path,
                    held.join(", ")
                ));
            }
            found.insert(method);
        }
        violations.extend(open_fields(source));
    }
    let listed = WRITERS.iter().copied().chain(CARRIERS.iter().map(|(name, _)| *name));
    for method in listed.filter(|method| !found.contains(*method)) {
        violations.push(format!("{method} is listed and is handed no blocks"));
    }
    violations
}

/// The methods of every trait, and those of `Writes`.
fn methods(items: &[Item]) -> Vec<(String, &Signature)> {
    let mut methods = Vec::new();
    for item in items {
        match item {
            Item::Trait(item) => {
                let of = item.items.iter().filter_map(|inner| match inner {
                    TraitItem::Fn(method) => Some(&method.sig),
                    _ => None,
                });
                methods.extend(of.map(|sig| (format!("{}::{}", item.ident, sig.ident), sig)));
            }
            Item::Impl(item) if item.trait_.is_none() && names_in(&item.self_ty).contains("Writes") => {
                let of = item.items.iter().filter_map(|inner| match inner {
                    ImplItem::Fn(method) => Some(&method.sig),
                    _ => None,
                });
                methods.extend(of.map(|sig| (format!("Writes::{}", sig.ident), sig)));
            }
            Item::Mod(item) => {
                methods
                    .extend(item.content.as_ref().map(|(_, items)| self::methods(items)).unwrap_or_default());
            }
            _ => {}
        }
    }
    methods
}

fn parameters(signature: &Signature) -> impl Iterator<Item = String> + '_ {
    let typed = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(input) => Some(names_in(&input.ty)),
        FnArg::Receiver(_) => None,
    });
    typed.flatten()
}

/// A public field would be a third way in.
fn open_fields(source: &Source) -> Vec<String> {
    let structs = source.file.items.iter().filter_map(|item| match item {
        Item::Struct(item) if item.ident == "Writes" => Some(item),
        _ => None,
    });
    let fields =
        structs.flat_map(|item| &item.fields).filter(|field| matches!(field.vis, Visibility::Public(_)));
    fields
        .map(|field| {
            let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{}: field {name} of Writes is public: {ADVICE}", source.path)
        })
        .collect()
}

#[test]
fn blocks_are_stored_by_two_methods_and_moved_by_a_closed_list() {
    let types = bearing(&production(&["domain", "application"]));
    for name in ["Message", "NewMessage", "ClosedAsk", "OpenAsk", "AskAnswer", "Content", "Event", "Dispatch"]
    {
        assert!(types.contains(name), "{name} holds blocks");
    }
    accept(&check(&production(&["application"]), &types));
}

#[test]
fn a_method_that_is_handed_blocks_is_reported() {
    let types = BTreeSet::from(["Message", "Content"].map(str::to_owned));
    let planted = "pub trait TopicRepository { async fn move_messages(&mut self, to: &[Arc<Message>]); }
        pub struct Writes { pub appended: Vec<Message> }
        impl Writes { pub fn replace(&mut self, content: Content) {} }
        mod inner { trait Deep { fn put(&self, many: Option<Vec<Content>>); } }";
    let violations = check(&[Source::parse("application/x/src/ports.rs", planted)], &types);
    reported(&violations, &["TopicRepository::move_messages", "Message", "decision record"]);
    reported(&violations, &["Writes::replace", "decision record"]);
    reported(&violations, &["Deep::put"]);
    reported(&violations, &["field appended of Writes is public"]);
    reported(&violations, &["Writes::append is listed"]);
}
