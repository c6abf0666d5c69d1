//! Token rows: lookup across tenants, uniqueness, single use.

use compass_comms::{
    Comms,
    ports::{Subject, TokenHash, TokenRow},
    tokens::{
        authenticate::{Principal, authenticate},
        issue::{create_sign_in, issue_account_token},
        session::{self, SESSION_LIFETIME_MS, Session, open_with_sign_in, open_with_token},
    },
};
use compass_domain::{Account, Classified as _, ErrorKind, UnixMillis};
use compass_ports::StorageError;

use crate::{Fixture, Scene};

/// AC-22: the kinds do not collide.
pub async fn a_token_is_found_by_its_hash_with_its_tenant(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let subjects = [Subject::Account(ana.id), Subject::Runner("build box".into()), Subject::SignIn(ana.id)];
    let mut tokens = Vec::new();
    for (seed, subject) in (1..).zip(subjects) {
        let token = TokenRow { expires_at: Some(UnixMillis(seed.into())), ..scene.token(subject, seed) };
        scene.put_token(&token).await.unwrap();
        let found = scene.storage.find_token(&token.hash).await.unwrap();
        assert_eq!(found, Some((scene.tenant.clone(), token.clone())));
        tokens.push(token);
    }
    let unknown = TokenHash([99; 32]);
    assert_eq!(scene.storage.find_token(&unknown).await.unwrap(), None);
    let wanted = [tokens[2].hash, unknown, tokens[0].hash];
    let mut found = scene.storage.find_tokens(&wanted).await.unwrap();
    found.sort_by_key(|(_, token)| token.expires_at);
    let expected = [tokens[0].clone(), tokens[2].clone()].map(|token| (scene.tenant.clone(), token));
    assert_eq!(found, expected, "those that were asked for and exist");
    assert_eq!(scene.storage.find_tokens(&[]).await.unwrap(), []);
}

/// AC-23.
pub async fn a_hash_is_taken_once(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    scene.put_token(&scene.token(Subject::Account(ana.id), 1)).await.unwrap();
    let refused = scene.put_token(&scene.token(Subject::Runner("r".into()), 1)).await;
    assert!(matches!(refused, Err(StorageError::Conflict(_))), "{refused:?}");
}

/// AC-23 and 1.8-23: one token goes, the other stays; a sign-in works once.
pub async fn a_token_is_revoked_once_and_alone(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let ana = scene.user("ana").await;
    let (one, other) = (scene.token(Subject::Account(ana.id), 1), scene.token(Subject::Account(ana.id), 2));
    scene.put_token(&one).await.unwrap();
    scene.put_token(&other).await.unwrap();
    let at = scene.now();
    for expected in [true, false] {
        let mut unit = scene.begin().await;
        assert_eq!(unit.tokens().revoke(one.id, at).await.unwrap(), expected);
        unit.commit().await.unwrap();
    }
    let (_, revoked) = scene.storage.find_token(&one.hash).await.unwrap().expect("the row stays");
    assert_eq!(revoked.revoked_at, Some(at));
    assert!(!revoked.works_at(at));
    let (_, kept) = scene.storage.find_token(&other.hash).await.unwrap().expect("the row stays");
    assert!(kept.works_at(at));
    let mut unit = scene.begin().await;
    let unknown = scene.token(Subject::Account(ana.id), 3).id;
    assert!(!unit.tokens().revoke(unknown, at).await.unwrap(), "an unknown one cannot be revoked");
}

/// Revoked and expired ones are left out.
pub async fn working_tokens_are_listed_newest_first(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (ana, ben) = (scene.user("ana").await, scene.user("ben").await);
    let now = scene.now();
    let issued = |seed: u8, age_ms: i64| TokenRow {
        created_at: UnixMillis(now.0 - age_ms),
        ..scene.token(Subject::Account(ana.id), seed)
    };
    let (old, new, middle) = (issued(1, 300), issued(2, 100), issued(3, 200));
    let expired = TokenRow { expires_at: Some(now), ..issued(4, 50) };
    let lasting = TokenRow { expires_at: Some(UnixMillis(now.0 + 1)), ..issued(5, 40) };
    let revoked = TokenRow { revoked_at: Some(now), ..issued(6, 30) };
    let foreign = scene.token(Subject::Account(ben.id), 7);
    for token in [&old, &new, &middle, &expired, &lasting, &revoked, &foreign] {
        scene.put_token(token).await.unwrap();
    }
    let listed = scene.read().await.list_tokens(ana.id, now).await.unwrap();
    assert_eq!(listed, [lasting, new, middle, old]);
}

/// I4: a person signs in with a token, an agent does not; signing out leaves the token alone.
pub async fn a_token_opens_a_session_that_ends_alone_and_not_after_it(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (comms, root) = (scene.comms(), scene.admin("root").await);
    let ana = scene.user("ana").await;
    let bot = scene.agent("bot", &ana).await;
    let root = scene.caller(&root);
    let token = issue_account_token(&comms, &root, ana.id).await.unwrap().token;
    let before = scene.now();
    let opened = open_with_token(&comms, &token).await.unwrap();
    assert_lasts(&scene, &opened, &ana, before);
    assert_ne!(opened.token, token);
    assert_eq!(works(&comms, &opened.token).await, Some(Principal::Account(scene.caller(&ana))));
    let again = open_with_token(&comms, &opened.token).await.unwrap();
    assert!(again.expires_at <= opened.expires_at, "no session outlives the token it was opened with");
    session::close(&comms, &opened.token).await.unwrap();
    session::close(&comms, &opened.token).await.unwrap();
    assert_eq!(works(&comms, &opened.token).await, None);
    assert!(works(&comms, &again.token).await.is_some() && works(&comms, &token).await.is_some());
    let refused = open_with_token(&comms, &opened.token).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unauthenticated);
    let agents = issue_account_token(&comms, &root, bot.id).await.unwrap().token;
    assert_eq!(open_with_token(&comms, &agents).await.unwrap_err().kind(), ErrorKind::PermissionDenied);
    session::close(&comms, &agents).await.unwrap();
    assert!(works(&comms, &agents).await.is_some(), "an agent's token is no session");
}

/// I4: the secret is used up, and what it was traded for ends by itself.
pub async fn a_sign_in_opens_one_session(fixture: &Fixture) {
    let scene = Scene::new(fixture);
    let (comms, root) = (scene.comms(), scene.admin("root").await);
    let ana = scene.user("ana").await;
    let secret = create_sign_in(&comms, &scene.caller(&root), ana.id).await.unwrap();
    let before = scene.now();
    let opened = open_with_sign_in(&comms, &secret).await.unwrap();
    assert_lasts(&scene, &opened, &ana, before);
    assert_eq!(works(&comms, &opened.token).await, Some(Principal::Account(scene.caller(&ana))));
    let refused = open_with_sign_in(&comms, &secret).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unauthenticated);
}

fn assert_lasts(scene: &Scene, session: &Session, of: &Account, opened_after: UnixMillis) {
    assert_eq!(session.account, of.id);
    let opened = session.expires_at.0 - SESSION_LIFETIME_MS;
    assert!((opened_after.0..=scene.now().0).contains(&opened), "{session:?}");
}

async fn works(comms: &Comms, token: &str) -> Option<Principal> {
    authenticate(comms, token).await.ok()
}
