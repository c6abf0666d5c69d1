//! Tokens: who may issue, list and revoke; what a value is; one-time sign-ins.

use std::sync::Arc;

use compass_comms::{
    ports::{Subject, TokenHash, TokenRow},
    tokens::{
        authenticate::{Principal, authenticate},
        issue::{SIGN_IN_LIFETIME_MS, create_sign_in, issue_account_token, issue_runner_token},
        list::list_tokens,
        revoke::{revoke_by_id, revoke_value},
        sign_in::trade_sign_in,
    },
};
use compass_domain::{AccountId, ErrorKind, Handle, TokenId};
use sha2::{Digest as _, Sha256};
use tokio::sync::Barrier;

use crate::house::{House, kind, text};

const UNKNOWN: AccountId = AccountId::from_bytes([9; 16]);

#[tokio::test]
async fn an_admin_issues_tokens_and_each_stands_for_its_account() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bot = house.agent(&ada, "bot").await;
    for account in [&house.admin, &ada, &bot] {
        let issued = issue_account_token(&house.comms, &house.admin, account.actor.id).await.unwrap();
        let principal = authenticate(&house.comms, &issued.token).await.unwrap();
        assert_eq!(principal, Principal::Account(account.clone()));
    }
}

#[tokio::test]
async fn a_value_is_43_url_safe_characters_and_is_not_stored_or_logged() {
    let house = House::new().await;
    let issued = issue_account_token(&house.comms, &house.admin, house.admin.actor.id).await.unwrap();
    assert_eq!(issued.token.len(), 43);
    assert!(issued.token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
    let rows = list_tokens(&house.comms, &house.admin, None).await.unwrap();
    assert!(!format!("{rows:?} {issued:?}").contains(&issued.token));
}

#[tokio::test]
async fn an_owner_issues_for_its_agent_and_for_nobody_else() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bob = house.user("bob").await;
    let bot = house.agent(&ada, "bot").await;
    assert!(issue_account_token(&house.comms, &ada, bot.actor.id).await.is_ok());
    for account in [ada.actor.id, bob.actor.id] {
        let refused = issue_account_token(&house.comms, &ada, account).await;
        assert_eq!(kind(refused), ErrorKind::PermissionDenied);
    }
}

#[tokio::test]
async fn an_invisible_account_looks_like_an_unknown_one() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bob = house.user("bob").await;
    let bot = house.agent(&ada, "bot").await;
    let unknown = text(issue_account_token(&house.comms, &bob, UNKNOWN).await);
    assert_eq!(text(issue_account_token(&house.comms, &bob, bot.actor.id).await), unknown);
    let unknown = text(list_tokens(&house.comms, &bob, Some(UNKNOWN)).await);
    assert_eq!(text(list_tokens(&house.comms, &bob, Some(bot.actor.id)).await), unknown);
    house.channel(&bob, "both", &[&bot]).await;
    let refused = issue_account_token(&house.comms, &bob, bot.actor.id).await;
    assert_eq!(kind(refused), ErrorKind::PermissionDenied);
}

#[tokio::test]
async fn an_agent_handles_no_tokens() {
    let house = House::new().await;
    let bot = house.agent(&house.admin, "bot").await;
    let own = issue_account_token(&house.comms, &house.admin, bot.actor.id).await.unwrap();
    let comms = &house.comms;
    assert_eq!(kind(issue_account_token(comms, &bot, bot.actor.id).await), ErrorKind::PermissionDenied);
    assert_eq!(kind(issue_account_token(comms, &bot, UNKNOWN).await), ErrorKind::PermissionDenied);
    assert_eq!(kind(issue_runner_token(comms, &bot, "r".into()).await), ErrorKind::PermissionDenied);
    assert_eq!(kind(create_sign_in(comms, &bot, UNKNOWN).await), ErrorKind::PermissionDenied);
    assert_eq!(kind(list_tokens(comms, &bot, None).await), ErrorKind::PermissionDenied);
    assert_eq!(kind(revoke_by_id(comms, &bot, own.id).await), ErrorKind::PermissionDenied);
    assert_eq!(kind(revoke_value(comms, &bot, &own.token).await), ErrorKind::PermissionDenied);
}

#[tokio::test]
async fn the_built_in_sender_gets_no_token_and_unknown_accounts_are_not_found() {
    let house = House::new().await;
    let mut unit = house.comms.storage.read(&house.tenant).await.unwrap();
    let system = unit.find_account_by_handle(&Handle::system()).await.unwrap().unwrap();
    let refused = issue_account_token(&house.comms, &house.admin, system.id).await;
    assert_eq!(kind(refused), ErrorKind::PermissionDenied);
    let refused = create_sign_in(&house.comms, &house.admin, system.id).await;
    assert_eq!(kind(refused), ErrorKind::PermissionDenied);
    let refused = issue_account_token(&house.comms, &house.admin, UNKNOWN).await;
    assert_eq!(kind(refused), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_runner_token_stands_for_its_runner_and_only_an_admin_issues_it() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let issued = issue_runner_token(&house.comms, &house.admin, "lab-1".into()).await.unwrap();
    let principal = authenticate(&house.comms, &issued.token).await.unwrap();
    let runner = "lab-1".to_owned();
    assert_eq!(principal, Principal::Runner { tenant: house.tenant.clone(), runner });
    let refused = issue_runner_token(&house.comms, &ada, "lab-1".into()).await;
    assert_eq!(kind(refused), ErrorKind::PermissionDenied);
    let account = ada.actor.id.to_string();
    for bad in [String::new(), "x".repeat(65), "a\0b".into(), account] {
        let refused = issue_runner_token(&house.comms, &house.admin, bad).await;
        assert_eq!(kind(refused), ErrorKind::InvalidArgument);
    }
}

#[tokio::test]
async fn every_credential_that_does_not_work_gets_the_same_answer() {
    let house = House::new().await;
    let issued = issue_account_token(&house.comms, &house.admin, house.admin.actor.id).await.unwrap();
    revoke_by_id(&house.comms, &house.admin, issued.id).await.unwrap();
    let unknown = "A".repeat(43);
    let not_canonical = format!("{}B", "A".repeat(42));
    let refused = ["", "short", "with space", &unknown, &not_canonical, &issued.token, &house.sign_in];
    for token in refused {
        let error = authenticate(&house.comms, token).await;
        assert_eq!(text(error), "the token is missing or does not work", "{token:?}");
        assert_eq!(kind(authenticate(&house.comms, token).await), ErrorKind::Unauthenticated);
    }
}

#[tokio::test]
async fn a_token_of_the_built_in_sender_or_of_nobody_does_not_work() {
    let house = House::new().await;
    let mut reads = house.comms.storage.read(&house.tenant).await.unwrap();
    let system = reads.find_account_by_handle(&Handle::system()).await.unwrap().unwrap();
    for (number, account) in [(1, system.id), (2, UNKNOWN)] {
        let token = format!("{}A", char::from(b'a' + number).to_string().repeat(42));
        let row = TokenRow {
            id: TokenId::from_bytes([number; 16]),
            hash: TokenHash(Sha256::digest(&token).into()),
            subject: Subject::Account(account),
            created_at: house.comms.clock.now(),
            expires_at: None,
            revoked_at: None,
        };
        let mut unit = house.comms.storage.begin(&house.tenant).await.unwrap();
        unit.tokens().insert(&row).await.unwrap();
        unit.commit().await.unwrap();
        assert_eq!(kind(authenticate(&house.comms, &token).await), ErrorKind::Unauthenticated);
    }
}

#[tokio::test]
async fn a_token_is_kept_as_the_sha_256_of_its_text() {
    let house = House::new().await;
    let issued = issue_account_token(&house.comms, &house.admin, house.admin.actor.id).await.unwrap();
    let hash = TokenHash(Sha256::digest(&issued.token).into());
    let (tenant, row) = house.comms.storage.find_token(&hash).await.unwrap().unwrap();
    assert_eq!((tenant, row.id), (house.tenant.clone(), issued.id));
}

#[tokio::test]
async fn two_tokens_of_one_account_are_revoked_one_by_one() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let one = issue_account_token(&house.comms, &house.admin, ada.actor.id).await.unwrap();
    let two = issue_account_token(&house.comms, &house.admin, ada.actor.id).await.unwrap();
    assert_ne!(one.token, two.token);
    revoke_value(&house.comms, &ada, &one.token).await.unwrap();
    assert!(authenticate(&house.comms, &one.token).await.is_err());
    assert!(authenticate(&house.comms, &two.token).await.is_ok());
    // A repeat stays as it is.
    revoke_value(&house.comms, &ada, &one.token).await.unwrap();
    let ids: Vec<TokenId> =
        list_tokens(&house.comms, &ada, None).await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(ids, [two.id]);
}

#[tokio::test]
async fn a_token_of_somebody_else_looks_unknown_to_who_may_not_revoke_it() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bob = house.user("bob").await;
    let bot = house.agent(&ada, "bot").await;
    let comms = &house.comms;
    let bots = issue_account_token(comms, &ada, bot.actor.id).await.unwrap();
    let runner = issue_runner_token(comms, &house.admin, "lab".into()).await.unwrap();
    let unknown = text(revoke_by_id(comms, &bob, TokenId::from_bytes([1; 16])).await);
    assert_eq!(text(revoke_by_id(comms, &bob, bots.id).await), unknown);
    assert_eq!(text(revoke_value(comms, &bob, &bots.token).await), unknown);
    assert_eq!(text(revoke_by_id(comms, &ada, runner.id).await), unknown);
    assert_eq!(text(revoke_value(comms, &ada, "junk").await), unknown);
    revoke_by_id(comms, &ada, bots.id).await.unwrap();
    revoke_by_id(comms, &house.admin, runner.id).await.unwrap();
    assert!(authenticate(comms, &bots.token).await.is_err());
    assert!(authenticate(comms, &runner.token).await.is_err());
}

#[tokio::test]
async fn a_sign_in_is_traded_once_for_a_token_of_its_person() {
    let house = House::new().await;
    let signed = trade_sign_in(&house.comms, &house.sign_in).await.unwrap();
    assert_eq!(signed.account, house.admin.actor.id);
    assert!(!format!("{signed:?}").contains(&signed.token));
    let principal = authenticate(&house.comms, &signed.token).await.unwrap();
    assert_eq!(principal, Principal::Account(house.admin.clone()));
    let again = trade_sign_in(&house.comms, &house.sign_in).await;
    assert_eq!(kind(again), ErrorKind::Unauthenticated);
    // An account's token is no sign-in.
    assert_eq!(kind(trade_sign_in(&house.comms, &signed.token).await), ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn a_sign_in_expires_and_can_be_revoked() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let late = create_sign_in(&house.comms, &house.admin, ada.actor.id).await.unwrap();
    house.clock.advance_ms(SIGN_IN_LIFETIME_MS);
    assert_eq!(kind(trade_sign_in(&house.comms, &late).await), ErrorKind::Unauthenticated);
    let revoked = create_sign_in(&house.comms, &house.admin, ada.actor.id).await.unwrap();
    let rows = list_tokens(&house.comms, &ada, None).await.unwrap();
    assert_eq!(rows[0].subject, Subject::SignIn(ada.actor.id));
    revoke_by_id(&house.comms, &ada, rows[0].id).await.unwrap();
    assert_eq!(kind(trade_sign_in(&house.comms, &revoked).await), ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn sign_ins_are_for_people_and_minted_by_admins() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let bot = house.agent(&ada, "bot").await;
    let refused = create_sign_in(&house.comms, &ada, ada.actor.id).await;
    assert_eq!(kind(refused), ErrorKind::PermissionDenied);
    let refused = create_sign_in(&house.comms, &house.admin, bot.actor.id).await;
    assert_eq!(kind(refused), ErrorKind::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_that_trade_one_sign_in_at_once_one_gets_a_token() {
    for _ in 0..20 {
        let house = House::new().await;
        let barrier = Arc::new(Barrier::new(2));
        let trades: Vec<_> = (0..2)
            .map(|_| {
                let (comms, secret) = (house.comms.clone(), house.sign_in.clone());
                let barrier = Arc::clone(&barrier);
                house.comms.tasks.spawn(async move {
                    barrier.wait().await;
                    trade_sign_in(&comms, &secret).await.is_ok()
                })
            })
            .collect();
        let mut won = 0;
        for trade in trades {
            won += usize::from(trade.await.unwrap());
        }
        assert_eq!(won, 1);
    }
}

#[tokio::test]
async fn a_token_that_has_an_end_works_until_then_and_is_listed_until_then() {
    let house = House::new().await;
    let ada = house.user("ada").await;
    let token = format!("{}A", "e".repeat(42));
    let end = compass_domain::UnixMillis(house.comms.clock.now().0 + 1000);
    let row = TokenRow {
        id: TokenId::from_bytes([7; 16]),
        hash: TokenHash(Sha256::digest(&token).into()),
        subject: Subject::Account(ada.actor.id),
        created_at: house.comms.clock.now(),
        expires_at: Some(end),
        revoked_at: None,
    };
    let mut unit = house.comms.storage.begin(&house.tenant).await.unwrap();
    unit.tokens().insert(&row).await.unwrap();
    unit.commit().await.unwrap();
    house.clock.advance_ms(999);
    assert_eq!(authenticate(&house.comms, &token).await.unwrap(), Principal::Account(ada.clone()));
    assert_eq!(list_tokens(&house.comms, &ada, None).await.unwrap(), [row]);
    house.clock.advance_ms(1);
    assert_eq!(kind(authenticate(&house.comms, &token).await), ErrorKind::Unauthenticated);
    assert_eq!(list_tokens(&house.comms, &ada, None).await.unwrap(), []);
}
