//! A way to the server that can be cut.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf, tcp::OwnedWriteHalf},
    sync::{mpsc, watch},
    task::JoinSet,
};

/// What came from the server over one connection.
type Seen = Arc<Mutex<Vec<u8>>>;

/// Passes bytes on while it is open. While it is cut nothing goes through and nobody is told.
pub(crate) struct Proxy {
    address: SocketAddr,
    open: watch::Sender<bool>,
    seen: Arc<Mutex<Vec<Seen>>>,
    _accepting: JoinSet<()>,
}

impl Proxy {
    /// Starts one before an address.
    pub(crate) async fn start(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (open, watched) = watch::channel(true);
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let connections = Arc::clone(&seen);
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            // They end with the proxy.
            let mut joined = JoinSet::new();
            while let Ok((here, _)) = listener.accept().await {
                let seen = Seen::default();
                connections.lock().unwrap().push(Arc::clone(&seen));
                joined.spawn(join(here, server.clone(), watched.clone(), seen));
            }
        });
        Self { address, open, seen, _accepting: accepting }
    }

    /// Where clients find it.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Cuts the way, or opens it again.
    pub(crate) fn set_open(&self, open: bool) {
        self.open.send_replace(open);
    }

    /// How often these bytes came from the server.
    pub(crate) fn count(&self, bytes: &[u8]) -> usize {
        let seen = self.seen.lock().unwrap();
        let of = |connection: &Seen| {
            let seen = connection.lock().unwrap();
            seen.windows(bytes.len()).filter(|window| *window == bytes).count()
        };
        seen.iter().map(of).sum()
    }
}

async fn join(here: TcpStream, server: String, mut open: watch::Receiver<bool>, seen: Seen) {
    if open.wait_for(|open| *open).await.is_err() {
        return;
    }
    let Ok(there) = TcpStream::connect(server).await else { return };
    let (_, _) = (here.set_nodelay(true), there.set_nodelay(true));
    let (mut from_here, to_here) = here.into_split();
    let (from_there, mut to_there) = there.into_split();
    // Read on even while the way is cut, to know when the client gives this connection up.
    let (queue, mut queued) = mpsc::unbounded_channel();
    let read = async move {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = from_here.read(&mut buffer).await {
            if queue.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    };
    let mut opened = open.clone();
    let up = async move {
        while let Some(bytes) = queued.recv().await {
            if opened.wait_for(|open| *open).await.is_err() || to_there.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        // What the server sent to a client that gave up reaches nobody.
        biased;
        () = read => {}
        () = up => {}
        () = down(from_there, to_here, open, seen) => {}
    }
}

async fn down(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut open: watch::Receiver<bool>, seen: Seen) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if open.wait_for(|open| *open).await.is_err() || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
        seen.lock().unwrap().extend_from_slice(&buffer[..read]);
    }
}
