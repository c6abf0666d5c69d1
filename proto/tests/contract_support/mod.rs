//! Reads the descriptors: a line for everything the contract names, and which messages a message can carry.

pub(crate) mod rules;

use std::collections::{BTreeMap, BTreeSet};

use compass_proto::DESCRIPTOR;
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    OneofDescriptorProto, ServiceDescriptorProto,
};

/// The descriptors that the crate was generated from.
#[expect(clippy::expect_used, reason = "a broken descriptor set fails every test the same way")]
pub(crate) fn contract() -> FileDescriptorSet {
    FileDescriptorSet::decode(DESCRIPTOR).expect("the descriptor set decodes")
}

/// One line for each package, service, RPC, message, field, reservation, enum and enum value, in a fixed order.
pub(crate) fn listing(contract: &FileDescriptorSet) -> Vec<String> {
    let packages: BTreeSet<&str> = contract.file.iter().map(FileDescriptorProto::package).collect();
    let mut lines: Vec<String> = packages.iter().map(|package| format!("package {package}")).collect();

    let services: BTreeMap<_, _> = all(contract, |file| &file.service).map(|it| (it.name(), it)).collect();
    for service in services.values() {
        list_service(service, &mut lines);
    }

    for (name, message) in messages(contract) {
        list_message(&name, message, &mut lines);
    }

    let mut enums: BTreeMap<_, _> =
        all(contract, |file| &file.enum_type).map(|it| (it.name().to_owned(), it)).collect();
    for (name, message) in messages(contract) {
        enums.extend(message.enum_type.iter().map(|it| (format!("{name}.{}", it.name()), it)));
    }
    for (name, one) in enums {
        list_enum(&name, one, &mut lines);
    }
    lines
}

fn list_service(service: &ServiceDescriptorProto, lines: &mut Vec<String>) {
    lines.push(format!("service {}", service.name()));
    let mut rpcs: Vec<String> = service
        .method
        .iter()
        .map(|rpc| {
            let stream = |streams: bool| if streams { "stream " } else { "" };
            format!(
                "rpc {}.{} {}{} -> {}{}",
                service.name(),
                rpc.name(),
                stream(rpc.client_streaming()),
                short(rpc.input_type()),
                stream(rpc.server_streaming()),
                short(rpc.output_type()),
            )
        })
        .collect();
    rpcs.sort();
    lines.append(&mut rpcs);
}

fn list_message(name: &str, message: &DescriptorProto, lines: &mut Vec<String>) {
    lines.push(format!("message {name}"));
    let mut fields: Vec<&FieldDescriptorProto> = message.field.iter().collect();
    fields.sort_by_key(|field| field.number());
    for field in fields {
        let mut line = format!(
            "message {name} {} {} {}{}",
            field.number(),
            field.name(),
            multiplicity(field),
            type_name(field)
        );
        if let Some(oneof) = oneof(message, field) {
            line.extend([" [", oneof, "]"]);
        }
        lines.push(line);
    }
    for range in &message.reserved_range {
        lines.push(format!("message {name} reserves {} to {}", range.start(), range.end() - 1));
    }
    for reserved in &message.reserved_name {
        lines.push(format!("message {name} reserves {reserved}"));
    }
}

fn list_enum(name: &str, one: &EnumDescriptorProto, lines: &mut Vec<String>) {
    lines.push(format!("enum {name}"));
    let mut values: Vec<_> = one.value.iter().collect();
    values.sort_by_key(|value| value.number());
    lines.extend(values.iter().map(|value| format!("enum {name} {}={}", value.name(), value.number())));
    lines.extend(
        one.reserved_range
            .iter()
            .map(|range| format!("enum {name} reserves {} to {}", range.start(), range.end())),
    );
    lines.extend(one.reserved_name.iter().map(|reserved| format!("enum {name} reserves {reserved}")));
}

fn multiplicity(field: &FieldDescriptorProto) -> &'static str {
    match field.label() {
        Label::Repeated => "repeated ",
        Label::Required => "required ",
        Label::Optional if field.proto3_optional() => "optional ",
        Label::Optional => "",
    }
}

fn type_name(field: &FieldDescriptorProto) -> String {
    match field.r#type() {
        Type::Message | Type::Enum | Type::Group => short(field.type_name()).to_owned(),
        scalar => scalar.as_str_name().trim_start_matches("TYPE_").to_lowercase(),
    }
}

/// The oneof a field belongs to, leaving out the ones that stand for `optional`.
pub(crate) fn oneof<'a>(message: &'a DescriptorProto, field: &FieldDescriptorProto) -> Option<&'a str> {
    if field.proto3_optional() {
        return None;
    }
    let index = usize::try_from(field.oneof_index?).ok()?;
    message.oneof_decl.get(index).map(OneofDescriptorProto::name)
}

/// A type's name without the package.
pub(crate) fn short(full: &str) -> &str {
    full.trim_start_matches(".compass.v1.")
}

/// Every message by its name without the package, nested ones as `Outer.Inner`.
pub(crate) fn messages(contract: &FileDescriptorSet) -> BTreeMap<String, &DescriptorProto> {
    fn add<'a>(prefix: &str, of: &'a [DescriptorProto], found: &mut BTreeMap<String, &'a DescriptorProto>) {
        for message in of {
            let name = format!("{prefix}{}", message.name());
            add(&format!("{name}."), &message.nested_type, found);
            found.insert(name, message);
        }
    }
    let mut found = BTreeMap::new();
    for file in &contract.file {
        add("", &file.message_type, &mut found);
    }
    found
}

/// The messages that `root` can carry, itself included.
pub(crate) fn reachable(contract: &FileDescriptorSet, root: &str) -> BTreeSet<String> {
    let messages = messages(contract);
    let mut found = BTreeSet::new();
    let mut todo = vec![root.to_owned()];
    while let Some(name) = todo.pop() {
        let Some(message) = messages.get(&name) else { continue };
        if found.insert(name) {
            let carried = message.field.iter().filter(|field| field.r#type() == Type::Message);
            todo.extend(carried.map(|field| short(field.type_name()).to_owned()));
        }
    }
    found
}

/// Every RPC as `Service.Rpc` with the name of its input.
pub(crate) fn inputs(contract: &FileDescriptorSet) -> BTreeMap<String, String> {
    all(contract, |file| &file.service)
        .flat_map(|service| {
            service.method.iter().map(move |rpc| {
                (format!("{}.{}", service.name(), rpc.name()), short(rpc.input_type()).to_owned())
            })
        })
        .collect()
}

fn all<'a, T: 'a>(
    contract: &'a FileDescriptorSet,
    of: impl Fn(&'a FileDescriptorProto) -> &'a Vec<T>,
) -> impl Iterator<Item = &'a T> {
    contract.file.iter().flat_map(of)
}
