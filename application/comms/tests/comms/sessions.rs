//! Sessions of browsers: what opens one, how long it lasts, and that it goes alone.

use compass_comms::tokens::{
    authenticate::{Principal, authenticate},
    issue::{issue_account_token, issue_runner_token},
    revoke::revoke_value,
    session::{SESSION_LIFETIME_MS, Session, close, open_with_sign_in, open_with_token},
};
use compass_domain::ErrorKind;

use crate::house::{House, kind, text};

/// A session of the admin, and the token it was opened with.
async fn opened(house: &House) -> (Session, String) {
    let token = issue_account_token(&house.comms, &house.admin, house.admin.actor.id).await.unwrap().token;
    (open_with_token(&house.comms, &token).await.unwrap(), token)
}

#[tokio::test]
async fn a_session_stands_for_its_person_for_ninety_days() {
    let house = House::new().await;
    let (session, token) = opened(&house).await;
    house.clock.advance_ms(SESSION_LIFETIME_MS - 1);
    let principal = authenticate(&house.comms, &session.token).await.unwrap();
    assert_eq!(principal, Principal::Account(house.admin.clone()));
    house.clock.advance_ms(1);
    assert_eq!(kind(authenticate(&house.comms, &session.token).await), ErrorKind::Unauthenticated);
    assert!(authenticate(&house.comms, &token).await.is_ok(), "the token has no end");
}

#[tokio::test]
async fn a_session_ends_no_later_than_the_one_it_was_opened_with() {
    let house = House::new().await;
    let (session, _) = opened(&house).await;
    house.clock.advance_ms(1000);
    let second = open_with_token(&house.comms, &session.token).await.unwrap();
    assert_eq!(second.expires_at, session.expires_at);
    house.clock.advance_ms(SESSION_LIFETIME_MS);
    let late = open_with_token(&house.comms, &session.token).await;
    assert_eq!(kind(late), ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn signing_out_ends_the_session_alone_and_revoking_the_token_leaves_it() {
    let house = House::new().await;
    let (session, token) = opened(&house).await;
    close(&house.comms, &session.token).await.unwrap();
    assert!(authenticate(&house.comms, &session.token).await.is_err());
    assert!(authenticate(&house.comms, &token).await.is_ok());
    let session = open_with_token(&house.comms, &token).await.unwrap();
    revoke_value(&house.comms, &house.admin, &token).await.unwrap();
    assert!(authenticate(&house.comms, &session.token).await.is_ok());
    assert_eq!(kind(open_with_token(&house.comms, &token).await), ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn signing_out_without_a_session_changes_nothing() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let agents = issue_account_token(&house.comms, &house.admin, bot.actor.id).await.unwrap().token;
    let runners = issue_runner_token(&house.comms, &house.admin, "lab".into()).await.unwrap().token;
    for other in ["", "junk", &"A".repeat(43), &agents, &runners, &house.sign_in] {
        close(&house.comms, other).await.unwrap();
    }
    assert!(authenticate(&house.comms, &agents).await.is_ok());
    assert!(authenticate(&house.comms, &runners).await.is_ok());
    assert!(open_with_sign_in(&house.comms, &house.sign_in).await.is_ok());
}

#[tokio::test]
async fn agents_and_runners_are_told_that_the_page_is_for_people() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let agents = issue_account_token(&house.comms, &house.admin, bot.actor.id).await.unwrap().token;
    let runners = issue_runner_token(&house.comms, &house.admin, "lab".into()).await.unwrap().token;
    for token in [agents, runners] {
        let refused = open_with_token(&house.comms, &token).await;
        assert_eq!(kind(refused), ErrorKind::PermissionDenied);
        assert!(text(open_with_token(&house.comms, &token).await).contains("for people"));
    }
}

#[tokio::test]
async fn a_sign_in_opens_one_session_and_is_no_token() {
    let house = House::new().await;
    assert_eq!(
        kind(open_with_token(&house.comms, &house.sign_in).await),
        ErrorKind::Unauthenticated,
        "and it still works"
    );
    let session = open_with_sign_in(&house.comms, &house.sign_in).await.unwrap();
    assert_eq!(session.account, house.admin.actor.id);
    assert!(!format!("{session:?}").contains(&session.token));
    let again = open_with_sign_in(&house.comms, &house.sign_in).await;
    assert_eq!(kind(again), ErrorKind::Unauthenticated);
    house.clock.advance_ms(SESSION_LIFETIME_MS);
    assert!(authenticate(&house.comms, &session.token).await.is_err());
}
