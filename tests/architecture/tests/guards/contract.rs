//! The contract as descriptors, and which messages can be reached from which.

use std::collections::{BTreeMap, BTreeSet};

use compass_proto::DESCRIPTOR;
use prost::Message as _;
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto,
    ServiceDescriptorProto,
};

/// Messages and RPCs of one or several files.
pub(crate) struct Contract {
    /// By full name with the leading dot.
    messages: BTreeMap<String, DescriptorProto>,
    /// As `service/method`, with the full name of what it takes.
    pub(crate) rpcs: Vec<(String, String)>,
}

impl Contract {
    /// The contract of this checkout.
    pub(crate) fn ours() -> Self {
        let set = FileDescriptorSet::decode(DESCRIPTOR).expect("the descriptors decode");
        let files = set.file.into_iter().filter(|file| file.package() == "compass.v1");
        Self::of(files.collect())
    }

    pub(crate) fn of(files: Vec<FileDescriptorProto>) -> Self {
        let mut contract = Self { messages: BTreeMap::new(), rpcs: Vec::new() };
        for file in files {
            for message in file.message_type {
                contract.messages.insert(format!(".compass.v1.{}", message.name()), message);
            }
            for service in file.service {
                for method in &service.method {
                    let name = format!("{}/{}", service.name(), method.name());
                    contract.rpcs.push((name, method.input_type().to_owned()));
                }
            }
        }
        contract
    }

    /// The fields of a message, by name without the package.
    pub(crate) fn fields(&self, message: &str) -> &[FieldDescriptorProto] {
        self.messages.get(&format!(".compass.v1.{message}")).map_or(&[], |found| &found.field)
    }

    /// A message and everything that can stand inside it, without the package.
    pub(crate) fn reach(&self, from: &str) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut next = vec![from.trim_start_matches(".compass.v1.").to_owned()];
        while let Some(name) = next.pop() {
            if reached.insert(name.clone()) {
                let inner = self.fields(&name).iter().filter(|field| field.type_name.is_some());
                next.extend(
                    inner.map(|field| field.type_name().trim_start_matches(".compass.v1.").to_owned()),
                );
            }
        }
        reached.retain(|name| self.messages.contains_key(&format!(".compass.v1.{name}")));
        reached
    }

    /// The arms of a union, by name, with their messages.
    pub(crate) fn arms(&self, union: &str) -> Vec<(String, String)> {
        let arms = self.fields(union).iter().filter(|field| field.oneof_index.is_some());
        arms.map(|field| {
            (field.name().to_owned(), field.type_name().trim_start_matches(".compass.v1.").to_owned())
        })
        .collect()
    }
}

/// A field's name, the name of its message or nothing, and whether it is an arm of a union.
type PlantedField<'a> = (&'a str, &'a str, bool);

/// A message's name and fields.
type PlantedMessage<'a> = (&'a str, &'a [PlantedField<'a>]);

/// A contract to plant violations in; an RPC is its service, its method and what it takes.
pub(crate) fn planted(messages: &[PlantedMessage<'_>], rpcs: &[(&str, &str, &str)]) -> Contract {
    let field = |&(name, of, in_union): &PlantedField<'_>| FieldDescriptorProto {
        name: Some(name.to_owned()),
        type_name: (!of.is_empty()).then(|| format!(".compass.v1.{of}")),
        oneof_index: in_union.then_some(0),
        ..Default::default()
    };
    let message = |(name, fields): &PlantedMessage<'_>| DescriptorProto {
        name: Some((*name).to_owned()),
        field: fields.iter().map(field).collect(),
        ..Default::default()
    };
    let service = |(service, method, input): &(&str, &str, &str)| ServiceDescriptorProto {
        name: Some((*service).to_owned()),
        method: vec![MethodDescriptorProto {
            name: Some((*method).to_owned()),
            input_type: Some(format!(".compass.v1.{input}")),
            ..Default::default()
        }],
        ..Default::default()
    };
    let file = FileDescriptorProto {
        message_type: messages.iter().map(message).collect(),
        service: rpcs.iter().map(service).collect(),
        ..Default::default()
    };
    Contract::of(vec![file])
}
