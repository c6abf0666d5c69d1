//! The connection: address, bearer token, keepalive, limits, deadlines and the server's clock.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

use compass_proto::{
    contact::{Contact, of_connecting},
    v1::{
        agent_door_client::AgentDoorClient, comms_service_client::CommsServiceClient,
        compass_service_client::CompassServiceClient, inbox_service_client::InboxServiceClient,
        operator_service_client::OperatorServiceClient, people_service_client::PeopleServiceClient,
        session_service_client::SessionServiceClient,
    },
};
use tonic::{
    Request, Response, Status,
    metadata::{Ascii, MetadataMap, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::{Channel, ClientTlsConfig, Endpoint},
};

use crate::ClientError;

/// The most one message may take on the wire, in bytes.
pub const MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// How long one call may take.
pub const DEADLINE: Duration = Duration::from_secs(30);
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(20);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) type Carrier = InterceptedService<Contact<Channel>, Bearer>;

/// A connection to one server as one account.
#[derive(Clone, Debug)]
pub struct Client {
    carrier: Carrier,
    server_time: Arc<AtomicI64>,
}

impl Client {
    /// Connects to `url` and sends `token`, if any, with every call.
    ///
    /// # Errors
    ///
    /// [`ClientError::Address`] and [`ClientError::Token`] before anything is sent, [`ClientError::Unreachable`]
    /// if nothing listens there within five seconds.
    pub async fn connect(url: &str, token: Option<&str>) -> Result<Self, ClientError> {
        let endpoint = endpoint(url)?;
        let bearer = Bearer::new(token)?;
        let channel = endpoint.connect().await.map_err(|error| unreachable(url, &error))?;
        let contact = Contact::new(channel, endpoint.uri().scheme_str());
        let carrier = InterceptedService::new(contact, bearer);
        Ok(Self { carrier, server_time: Arc::new(AtomicI64::new(0)) })
    }

    /// The server's time of the latest reply, in milliseconds since 1970, to the second; `None` before the first.
    pub fn server_time_unix_ms(&self) -> Option<i64> {
        match self.server_time.load(Ordering::Relaxed) {
            0 => None,
            known => Some(known),
        }
    }

    /// Takes a reply's message and notes the server's time that came with it.
    pub(crate) fn take<T>(&self, response: Response<T>) -> T {
        if let Some(time) = date(response.metadata()) {
            self.server_time.fetch_max(time, Ordering::Relaxed);
        }
        response.into_inner()
    }

    pub(crate) fn note_server_time(&self, unix_ms: i64) {
        self.server_time.fetch_max(unix_ms, Ordering::Relaxed);
    }

    pub(crate) fn comms(&self) -> CommsServiceClient<Carrier> {
        CommsServiceClient::new(self.carrier.clone())
            .max_decoding_message_size(MESSAGE_BYTES)
            .max_encoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn inbox(&self) -> InboxServiceClient<Carrier> {
        InboxServiceClient::new(self.carrier.clone()).max_decoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn operator(&self) -> OperatorServiceClient<Carrier> {
        OperatorServiceClient::new(self.carrier.clone()).max_decoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn people(&self) -> PeopleServiceClient<Carrier> {
        PeopleServiceClient::new(self.carrier.clone()).max_decoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Carrier> {
        SessionServiceClient::new(self.carrier.clone()).max_decoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn compass(&self) -> CompassServiceClient<Carrier> {
        CompassServiceClient::new(self.carrier.clone()).max_decoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn agent_door(&self) -> AgentDoorClient<Carrier> {
        AgentDoorClient::new(self.carrier.clone())
            .max_decoding_message_size(MESSAGE_BYTES)
            .max_encoding_message_size(MESSAGE_BYTES)
    }
}

/// A request that both sides give up after [`DEADLINE`].
pub(crate) fn within_deadline<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(DEADLINE);
    request
}

/// Adds the account's token to every request.
#[derive(Clone, Debug)]
pub(crate) struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    fn new(token: Option<&str>) -> Result<Self, ClientError> {
        let Some(token) = token else { return Ok(Self(None)) };
        let mut value: MetadataValue<Ascii> =
            format!("Bearer {token}").parse().map_err(|_| ClientError::Token)?;
        value.set_sensitive(true);
        Ok(Self(Some(value)))
    }
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

fn endpoint(url: &str) -> Result<Endpoint, ClientError> {
    let wrong = |reason: String| ClientError::Address { url: url.to_owned(), reason };
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(wrong("it must start with http:// or https://".to_owned()));
    }
    let endpoint = Endpoint::from_shared(url.to_owned())
        .map_err(|error| wrong(error.to_string()))?
        .connect_timeout(CONNECT_DEADLINE)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .keep_alive_while_idle(true);
    if url.starts_with("https://") {
        let tls = ClientTlsConfig::new().with_native_roots();
        return endpoint.tls_config(tls).map_err(|error| wrong(error.to_string()));
    }
    Ok(endpoint)
}

fn unreachable(url: &str, error: &tonic::transport::Error) -> ClientError {
    if let Some(other) = of_connecting(error) {
        return ClientError::unreachable(&format_args!("{url}: {other}"));
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    ClientError::unreachable(&format_args!("{url}: {cause}"))
}

fn date(metadata: &MetadataMap) -> Option<i64> {
    let text = metadata.get("date")?.to_str().ok()?;
    let since = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_without_a_scheme_is_named_before_anything_is_sent() {
        let error = Client::connect("localhost:7420", None).await.unwrap_err();
        assert!(matches!(&error, ClientError::Address { url, .. } if url == "localhost:7420"), "{error}");
    }

    #[tokio::test]
    async fn a_token_that_cannot_be_a_header_is_refused_without_showing_it() {
        let error = Client::connect("http://127.0.0.1:1", Some("secret\n")).await.unwrap_err();
        assert_eq!(error, ClientError::Token);
        assert!(!error.to_string().contains("secret"));
    }

    #[tokio::test]
    async fn nothing_listening_is_unreachable_and_names_the_address() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = Client::connect(&format!("http://{free}"), None).await.unwrap_err();
        assert!(
            matches!(&error, ClientError::Unreachable(text) if text.contains(&free.to_string())),
            "{error}"
        );
    }

    #[test]
    fn the_server_time_is_the_date_of_the_reply() {
        let mut metadata = MetadataMap::new();
        metadata.insert("date", "Thu, 01 Jan 1970 00:01:00 GMT".parse().unwrap());
        assert_eq!(date(&metadata), Some(60_000));
        assert_eq!(date(&MetadataMap::new()), None);
    }
}
