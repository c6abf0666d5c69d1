//! The socket of one agent: a directory only its user enters, a file only its user opens.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{UnixListener, UnixStream},
    task::JoinHandle,
};
use tokio_stream::{StreamExt as _, wrappers::UnixListenerStream};
use tokio_util::{
    sync::{CancellationToken, WaitForCancellationFutureOwned},
    task::TaskTracker,
};
use tonic::transport::{Server, server::Connected};

use super::{process::Owner, service::SocketService};

/// Bytes of a socket's path that the system takes, its end mark not counted.
pub(super) const PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
/// Name of the socket in its directory.
const FILE: &str = "agent.sock";
/// How long calls in flight have when a socket closes.
const GRACE: Duration = Duration::from_secs(5);

/// Why a socket could not be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum SocketError {
    #[error(
        "the socket's path {path} has {length} bytes, the system takes {PATH_BYTES}; use a shorter --state-dir, or \
         set socket_dir in the runner's configuration"
    )]
    TooLong { path: PathBuf, length: usize },
    #[error("{path} is in the way and is not a socket of this user; it was left as it is")]
    InTheWay { path: PathBuf },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

/// An open socket. Dropping it without [`AgentSocket::close`] leaves the file behind.
#[derive(Debug)]
pub(super) struct AgentSocket {
    path: PathBuf,
    stop: CancellationToken,
    cut: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

/// Where the socket of an agent is, below the directory of sockets.
pub(super) fn path(sockets: &Path, account: &str) -> PathBuf {
    sockets.join(account).join(FILE)
}

impl AgentSocket {
    /// Opens the socket at `path` and serves `door` on it.
    ///
    /// # Errors
    ///
    /// [`SocketError`]; nothing was made if the path is too long, and nothing foreign is ever touched.
    pub(super) fn open(
        path: PathBuf,
        door: SocketService,
        owner: Option<Owner>,
        tasks: &TaskTracker,
    ) -> Result<Self, SocketError> {
        let listener = listen(&path, owner)?;
        let (stop, cut) = (CancellationToken::new(), CancellationToken::new());
        let (stopping, cutting) = (stop.clone(), cut.clone());
        let incoming = UnixListenerStream::new(listener)
            .map(move |stream| stream.map(|stream| Cuttable::new(stream, &cutting)));
        let shown = path.clone();
        let serving = tasks.spawn(async move {
            let server = Server::builder().add_service(door);
            let served = server.serve_with_incoming_shutdown(incoming, stopping.cancelled_owned()).await;
            if let Err(error) = served {
                tracing::error!(socket = %shown.display(), %error, "the socket of an agent failed");
            }
        });
        Ok(Self { path, stop, cut, serving: Some(serving) })
    }

    /// Stops accepting, lets calls in flight end for five seconds, cuts the rest, and removes the file.
    pub(super) async fn close(&mut self) {
        self.stop.cancel();
        if let Some(mut serving) = self.serving.take() {
            if tokio::time::timeout(GRACE, &mut serving).await.is_err() {
                self.cut.cancel();
                // Connections that are cut end at once; a second is for a machine that is busy.
                let _ = tokio::time::timeout(Duration::from_secs(1), serving).await;
            }
            self.cut.cancel();
        }
        match fs::remove_file(&self.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(socket = %self.path.display(), %error, "a socket was not removed"),
        }
    }
}

/// Refuses a path that the system does not take.
pub(super) fn check_length(path: &Path) -> Result<(), SocketError> {
    let length = path.as_os_str().len();
    if length > PATH_BYTES {
        return Err(SocketError::TooLong { path: path.to_owned(), length });
    }
    Ok(())
}

fn listen(path: &Path, owner: Option<Owner>) -> Result<UnixListener, SocketError> {
    check_length(path)?;
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| SocketError::Io { path, source }
    };
    if let Some(directory) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(at(directory))?;
        // Ours while we work in it, so that nobody can put a link where we change modes and owners.
        if owner.is_some() {
            give(directory, Some(Owner::own())).map_err(at(directory))?;
        }
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).map_err(at(directory))?;
    }
    reclaim(path, owner)?;
    let listener = UnixListener::bind(path).map_err(at(path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(at(path))?;
    give(path, owner).map_err(at(path))?;
    if let Some(directory) = path.parent() {
        give(directory, owner).map_err(at(directory))?;
    }
    Ok(listener)
}

/// Gives a file to the user an agent runs as, if that is another one.
pub(super) fn give(path: &Path, owner: Option<Owner>) -> io::Result<()> {
    match owner {
        Some(owner) => std::os::unix::fs::chown(path, Some(owner.uid), Some(owner.gid)),
        None => Ok(()),
    }
}

/// Removes a socket that an earlier runner left, for itself or for the agent's user.
fn reclaim(path: &Path, owner: Option<Owner>) -> Result<(), SocketError> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(SocketError::Io { path: path.to_owned(), source }),
    };
    let users = [Some(Owner::own().uid), owner.map(|owner| owner.uid)];
    if !found.file_type().is_socket() || !users.contains(&Some(found.uid())) {
        return Err(SocketError::InTheWay { path: path.to_owned() });
    }
    fs::remove_file(path).map_err(|source| SocketError::Io { path: path.to_owned(), source })
}

/// A connection that can be cut from this side.
struct Cuttable {
    stream: UnixStream,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Cuttable {
    fn new(stream: UnixStream, cut: &CancellationToken) -> Self {
        Self { stream, cut: Box::pin(cut.clone().cancelled_owned()) }
    }
}

impl Connected for Cuttable {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Cuttable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.cut.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Cuttable {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
