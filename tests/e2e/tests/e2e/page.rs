//! The page as a browser meets it: its files, signing in by the first link, the cookie, and signing out.

use compass_proto::v1::{
    SubscribeCommsRequest, SubscribeCommsResponse, WhoAmIRequest, WhoAmIResponse,
    subscribe_comms_response::Payload,
};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tonic::Code;

use crate::support::{Browser, Process, Storage, World, in_time, on_both, write};

const WHO_AM_I: &str = "CompassService/WhoAmI";

on_both!(
    the_first_sign_in_opens_the_page_for_the_administrator_once,
    a_token_opens_a_session_of_its_own_and_signing_out_leaves_it,
    an_open_stream_brings_each_event_at_once_and_ends_with_its_session,
);

async fn who(browser: &Browser) -> Result<String, Code> {
    let answer: Result<WhoAmIResponse, Code> = browser.ask(WHO_AM_I, &WhoAmIRequest {}).await;
    answer.map(|answer| answer.account_id)
}

/// A browser that has signed in with the person's token.
async fn signed_in(world: &World) -> Browser {
    let mut browser = Browser::open(world);
    let body = serde_json::json!({ "token": world.person_token() }).to_string();
    let opened = browser.send("POST", "/session", &body).await;
    assert_eq!(opened.status, 204, "{opened:?}");
    browser
}

async fn the_first_sign_in_opens_the_page_for_the_administrator_once(world: &mut World) {
    world.ok(&["user", "create", "ana"]).await;
    let made = &world.json(&["token", "sign-in", "ana"]).await[0];
    let secret = made["secret"].as_str().unwrap();
    assert_eq!(made["link"], format!("{}/sign-in#{secret}", world.url()));
    let mut browser = Browser::open(world);
    // What the link opens is the page; only what the page sends then uses the secret up.
    let page = browser.send("GET", "/sign-in", "").await;
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
    assert_eq!(browser.send("GET", "/session", "").await.status, 401);
    assert_eq!(who(&browser).await, Err(Code::Unauthenticated));
    let body = serde_json::json!({ "sign_in": secret }).to_string();
    let opened = browser.send("POST", "/session", &body).await;
    assert_eq!(opened.status, 204, "{opened:?}");
    let set = opened.header("set-cookie").unwrap();
    assert!(
        set.contains("; HttpOnly; SameSite=Strict; Path=/; Max-Age=777") && !set.contains("Secure"),
        "{set}"
    );
    assert_eq!(browser.send("GET", "/session", "").await.status, 204);
    let ana = world.json(&["accounts"]).await.into_iter().find(|row| row["handle"] == "ana").unwrap();
    assert_eq!(who(&browser).await.as_deref(), Ok(ana["id"].as_str().unwrap()));
    let again = Browser::open(world).send("POST", "/session", &body).await;
    assert_eq!(again.status, 401);
    assert!(String::from_utf8_lossy(&again.body).contains("ask an admin for a new one"), "{again:?}");
}

async fn a_token_opens_a_session_of_its_own_and_signing_out_leaves_it(world: &mut World) {
    let mut browser = signed_in(world).await;
    let token = browser.cookie.clone().unwrap();
    assert_ne!(token, world.person_token());
    let admin = who(&browser).await.unwrap();
    for (header, value) in [
        ("x-compass-page", None),
        ("origin", Some("http://evil.example")),
        ("sec-fetch-site", Some("cross-site")),
        ("sec-fetch-site", Some("same-site")),
    ] {
        let foreign = browser.with(header, value);
        assert_eq!(who(&foreign).await, Err(Code::Unauthenticated), "{header} {value:?}");
        let mut foreign = foreign;
        assert_eq!(foreign.send("DELETE", "/session", "").await.status, 403, "{header} {value:?}");
    }
    // A token in the header is the one that counts.
    let bot = browser.with("authorization", Some(&format!("Bearer {}", world.agent_token("bot"))));
    assert_ne!(who(&bot).await.unwrap(), admin);
    assert_eq!(who(&browser).await.as_ref(), Ok(&admin));
    let agents = serde_json::json!({ "token": world.agent_token("bot") }).to_string();
    let refused = Browser::open(world).send("POST", "/session", &agents).await;
    assert_eq!(refused.status, 403);
    assert!(String::from_utf8_lossy(&refused.body).contains("for people"), "{refused:?}");
    let mut of_bot = Browser::open(world);
    of_bot.cookie = Some(world.agent_token("bot"));
    assert_eq!(who(&of_bot).await, Err(Code::Unauthenticated), "no cookie lets an agent in");

    assert_eq!(browser.send("DELETE", "/session", "").await.status, 204);
    assert_eq!(browser.cookie, None);
    browser.cookie = Some(token);
    assert_eq!(who(&browser).await, Err(Code::Unauthenticated));
    assert_eq!(browser.send("DELETE", "/session", "").await.status, 204, "a repeat is fine");
    world.json(&["asks"]).await;
}

async fn an_open_stream_brings_each_event_at_once_and_ends_with_its_session(world: &mut World) {
    let mut browser = signed_in(world).await;
    let home = world.home_channel("bot").await;
    let mut stream = browser.call("CommsService/SubscribeComms", &SubscribeCommsRequest::default()).await;
    assert_eq!(stream.headers.get("content-encoding"), None);
    let first: SubscribeCommsResponse = stream.next().await.unwrap();
    assert_eq!((first.seq, first.payload), (0, None));
    for number in 0..5 {
        let text = format!("event {number}");
        world.person().await.post(write(&home, &text)).await.unwrap();
        // Nothing follows this message, so it is not held back for more.
        loop {
            let event: SubscribeCommsResponse = stream.next().await.unwrap();
            let Some(Payload::MessagePosted(posted)) = event.payload else { continue };
            assert!(format!("{posted:?}").contains(&text), "{posted:?}");
            break;
        }
    }
    assert_eq!(browser.send("DELETE", "/session", "").await.status, 204);
    assert_eq!(in_time("the end of the stream", stream.end()).await, Code::Unauthenticated);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_and_its_files_stand_on_the_port_of_the_doors() {
    let world = World::start(Storage::Memory).await.unwrap();
    let mut browser = Browser::open(&world);
    let page = browser.send("GET", "/channel/0a1b", "").await;
    let text = String::from_utf8(page.body.to_vec()).unwrap();
    let assets: Vec<&str> = text.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert!(!assets.is_empty(), "{text}");
    for asset in assets {
        let file = browser.send("GET", asset, "").await;
        assert_eq!(file.status, 200, "{asset}");
        assert!(file.header("cache-control").unwrap().contains("immutable"), "{asset}");
    }
    assert_eq!(browser.send("GET", "/assets/missing.js", "").await.status, 404);
    assert_eq!(browser.send("POST", "/", "").await.status, 405);
    assert_eq!(browser.send("GET", "/other.v1.Service/Call", "").await.status, 404);
    let invented: Result<WhoAmIResponse, Code> = browser.ask("Other/Call", &WhoAmIRequest {}).await;
    assert_eq!(invented, Err(Code::Unimplemented));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_start_says_where_the_page_is_and_its_log_holds_no_secret_however_much_it_holds() {
    let world = World::bare(Storage::Memory).await.unwrap();
    let mut command = world.serve_command("0.0.0.0:0");
    let (mut server, _stdin, stdout) = Process::spawn(command.env("COMPASS_LOG", "trace"));
    let mut lines = BufReader::new(stdout).lines();
    let mut line = async || in_time("a line of the server", lines.next_line()).await.unwrap().unwrap();
    let (listens, page) = (line().await, line().await);
    let port = listens.strip_prefix("Compass listens on http://0.0.0.0:").unwrap();
    assert_eq!(page, format!("Its page is http://localhost:{port}"));

    let secret = std::fs::read_to_string(world.data_dir().join("sign-in")).unwrap();
    let mut browser = Browser::at(format!("http://127.0.0.1:{port}"));
    let sign_in = serde_json::json!({ "sign_in": secret.trim() }).to_string();
    assert_eq!(browser.send("POST", "/session", &sign_in).await.status, 204);
    let first = browser.cookie.clone().unwrap();
    let token = serde_json::json!({ "token": first }).to_string();
    assert_eq!(browser.send("POST", "/session", &token).await.status, 204);
    let second = browser.cookie.clone().unwrap();
    who(&browser).await.unwrap();
    assert_eq!(browser.send("POST", "/session", &sign_in).await.status, 401);
    assert_eq!(browser.send("POST", "/session", &format!("{token} junk")).await.status, 400);
    assert_eq!(browser.send("DELETE", "/session", "").await.status, 204);
    server.signal(rustix::process::Signal::TERM);
    assert!(server.ended().await.success());

    let log = std::fs::read_to_string(world.home().join("server.log")).unwrap();
    assert!(log.contains("TRACE") && log.contains("WhoAmI"), "the log holds everything");
    for value in [secret.trim(), &first, &second] {
        assert!(!log.contains(value), "a secret is in the log");
    }
}
