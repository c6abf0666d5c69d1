//! A proxy that speaks TLS before a server that does not, as one of a network would, and a private authority.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

/// Signs certificates; nobody trusts it who is not told to.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    /// A new one, whose certificate lies in `folder` under its name.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let file = folder.join(format!("{name}.pem"));
        fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }

    /// Where its certificate is.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    fn server_config(&self) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder().with_no_client_auth();
        let mut config = config.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        config
    }
}

/// Takes TLS off and passes on what is in it; ends with its value.
pub(crate) struct TlsProxy {
    address: SocketAddr,
    agreed: Arc<Mutex<Vec<Option<Vec<u8>>>>>,
    _accepting: JoinSet<()>,
}

impl TlsProxy {
    /// Starts one before an address, with a certificate for 127.0.0.1 from an authority.
    pub(crate) async fn start(server: String, authority: &Authority) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(authority.server_config()));
        let agreed: Arc<Mutex<Vec<Option<Vec<u8>>>>> = Arc::default();
        let seen = Arc::clone(&agreed);
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut joined = JoinSet::new();
            while let Ok((here, _)) = listener.accept().await {
                let (acceptor, server, seen) = (acceptor.clone(), server.clone(), Arc::clone(&seen));
                joined.spawn(async move {
                    // A client that does not trust the certificate ends the handshake.
                    let Ok(mut here) = acceptor.accept(here).await else { return };
                    seen.lock().unwrap().push(here.get_ref().1.alpn_protocol().map(<[u8]>::to_vec));
                    let Ok(mut there) = TcpStream::connect(server).await else { return };
                    // Either side may hang up in the middle of anything.
                    let _ = copy_bidirectional(&mut here, &mut there).await;
                });
            }
        });
        Self { address, agreed, _accepting: accepting }
    }

    /// Where clients find it.
    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Where a client looks that does not know of TLS.
    pub(crate) fn plain_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The protocol inside of each connection whose handshake ended well.
    pub(crate) fn agreed(&self) -> Vec<Option<Vec<u8>>> {
        self.agreed.lock().unwrap().clone()
    }
}
