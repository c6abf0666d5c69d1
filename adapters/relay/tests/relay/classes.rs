//! The table of doors against the descriptors of the contract.

use std::collections::BTreeSet;

use compass_comms::Caller;
use compass_domain::{AccountId, Actor, ActorKind, TenantId, UserRole};
use compass_proto::DESCRIPTOR;
use compass_relay::{
    DoorError,
    auth::Principal,
    doors::{self, Class, RPCS, SERVED_BY_RUNNERS, Shape, admit},
    pending,
};
use compass_testkit::contract::converging;
use prost::Message as _;
use prost_types::{FileDescriptorSet, MethodDescriptorProto};

/// Every RPC of the contract: its service with the package, and its description.
pub(crate) fn contract() -> Vec<(String, MethodDescriptorProto)> {
    let files = FileDescriptorSet::decode(DESCRIPTOR).unwrap().file;
    let services = files.into_iter().flat_map(|file| {
        let package = file.package().to_owned();
        file.service.into_iter().map(move |service| (format!("{package}.{}", service.name()), service))
    });
    services.flat_map(|(name, service)| service.method.into_iter().map(move |m| (name.clone(), m))).collect()
}

#[test]
fn every_rpc_of_the_contract_has_exactly_one_class_and_no_other_has_one() {
    let described: BTreeSet<_> =
        contract().into_iter().map(|(service, method)| (service, method.name().to_owned())).collect();
    let ours = RPCS.iter().filter(|rpc| rpc.service.starts_with("compass."));
    let classed: Vec<_> = ours.map(|rpc| (rpc.service.to_owned(), rpc.method.to_owned())).collect();
    assert_eq!(classed.len(), described.len());
    assert_eq!(classed.into_iter().collect::<BTreeSet<_>>(), described);
}

#[test]
fn every_offered_write_to_the_conversation_is_among_those_whose_events_make_the_later_snapshot() {
    let covered = converging::covered();
    let services = [".CommsService", ".PeopleService"];
    for rpc in RPCS.iter().filter(|rpc| rpc.shape == Shape::Write) {
        let name = format!("{}/{}", rpc.service.trim_start_matches("compass.v1."), rpc.method);
        if services.iter().any(|service| rpc.service.ends_with(service)) && !pending::RPCS.contains(&&*name) {
            assert!(covered.contains(&*name), "{name} has no row");
        }
    }
}

#[test]
fn exactly_the_streaming_rpcs_have_no_deadline() {
    for (service, method) in contract() {
        let rpc = doors::find(&format!("/{service}/{}", method.name())).unwrap();
        let streams = method.client_streaming() || method.server_streaming();
        assert_eq!(rpc.shape == Shape::Stream, streams, "{service}/{}", method.name());
    }
}

#[test]
fn services_of_people_agents_and_runners_hold_no_rpc_of_another_class() {
    let classes = |service: &str| {
        let of = RPCS.iter().filter(|rpc| rpc.service.ends_with(service));
        of.map(|rpc| (rpc.method, rpc.class)).collect::<Vec<_>>()
    };
    for service in [".InboxService", ".PeopleService"] {
        assert!(classes(service).iter().all(|(_, class)| *class == Class::Person), "{service}");
    }
    for (method, class) in classes(".SessionService") {
        let expected: &[Class] =
            if method == "TradeSignIn" { &[Class::Open] } else { &[Class::Person, Class::Admin] };
        assert!(expected.contains(&class), "{method}");
    }
    assert!(classes(".AgentDoor").iter().all(|(_, class)| *class == Class::Agent));
    assert!(classes(".RunnerService").iter().all(|(_, class)| *class == Class::Runner));
}

#[test]
fn nothing_but_signing_in_and_health_is_open() {
    let open: Vec<_> =
        RPCS.iter().filter(|rpc| rpc.class == Class::Open).map(|rpc| (rpc.service, rpc.method)).collect();
    let expected = [
        ("compass.v1.SessionService", "TradeSignIn"),
        ("grpc.health.v1.Health", "Check"),
        ("grpc.health.v1.Health", "Watch"),
    ];
    assert_eq!(open, expected);
}

#[test]
fn answering_is_for_people() {
    let answering = doors::find("/compass.v1.CommsService/RespondToAsk").unwrap();
    assert_eq!(answering.class, Class::Person);
}

#[test]
fn no_rpc_outside_the_relayed_union_takes_a_cancel() {
    for (service, method) in contract() {
        assert_ne!(method.input_type(), ".compass.v1.CancelAskRequest", "{service}/{}", method.name());
    }
}

#[test]
fn each_class_admits_exactly_whom_it_names() {
    use DoorError::{Forbidden, Unauthenticated};
    let owner = AccountId::from_bytes([1; 16]);
    let account = |kind| {
        let actor = Actor { id: AccountId::from_bytes([2; 16]), kind };
        Principal::Account(Caller { tenant: TenantId::default_tenant(), actor })
    };
    let admin = account(ActorKind::User { role: UserRole::Admin });
    let member = account(ActorKind::User { role: UserRole::Member });
    let agent = account(ActorKind::Agent { owner });
    let runner = Principal::Runner { tenant: TenantId::default_tenant(), runner: "r".into() };
    let none = || Err(Unauthenticated);
    let table = [
        (Some(Class::Open), [Ok(()), Ok(()), Ok(()), Ok(())]),
        (Some(Class::Member), [Ok(()), Ok(()), Ok(()), none()]),
        (Some(Class::Person), [Ok(()), Ok(()), Err(Forbidden("people")), none()]),
        (
            Some(Class::Admin),
            [Ok(()), Err(Forbidden("administrators")), Err(Forbidden("administrators")), none()],
        ),
        (Some(Class::Agent), [Err(Forbidden("agents")), Err(Forbidden("agents")), Ok(()), none()]),
        (Some(Class::Runner), [none(), none(), Ok(()), Ok(())]),
        (
            None,
            [
                Err(Forbidden("nobody")),
                Err(Forbidden("nobody")),
                Err(Forbidden("nobody")),
                Err(Forbidden("nobody")),
            ],
        ),
    ];
    for (class, expected) in table {
        for (who, expected) in [&admin, &member, &agent, &runner].into_iter().zip(expected) {
            assert_eq!(admit(class, who), expected, "{class:?} {who:?}");
        }
        assert_eq!(
            admit(class, &account(ActorKind::System)),
            none(),
            "the built-in sender cannot sign in: {class:?}"
        );
    }
}

#[test]
fn a_path_that_is_no_rpc_of_ours_has_no_class() {
    for path in [
        "/compass.v1.CommsService/Invented",
        "/CommsService/PostMessage",
        "/",
        "",
        "/compass.v1.CommsService",
    ] {
        assert_eq!(doors::find(path), None, "{path}");
    }
}

#[test]
fn the_server_serves_every_service_but_that_of_runners() {
    let described: BTreeSet<_> = contract().into_iter().map(|(service, _)| service).collect();
    let served: Vec<_> = doors::served().map(str::to_owned).chain([SERVED_BY_RUNNERS.to_owned()]).collect();
    assert_eq!(served.len(), described.len());
    assert_eq!(served.into_iter().collect::<BTreeSet<_>>(), described);
}
