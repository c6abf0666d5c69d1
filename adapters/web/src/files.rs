//! The page's files, as the program holds them: their types, their tags, and their compressed twins.

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt,
    io::Write as _,
    sync::{Arc, OnceLock},
};

use axum::body::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::HeaderValue;
use rust_embed::RustEmbed;
use sha2::{Digest as _, Sha256};

use crate::encoding::Encoding;

/// The file that every view of the page starts with.
const INDEX: &str = "index.html";
/// Files below this have the hash of their content in their name.
const LASTING: &str = "assets/";
/// Fewer bytes are not worth compressing: they fit into one packet with their headers.
const SMALL: usize = 1024;

#[derive(RustEmbed)]
#[folder = "assets"]
struct Embedded;

/// The program was built without a page.
#[derive(Debug, thiserror::Error)]
#[error("the page has no index.html, so the program was built wrongly")]
pub struct NoPage;

/// All files of a page. Cloning is cheap.
#[derive(Clone)]
pub struct Files {
    by_path: Arc<HashMap<String, File>>,
    index: Arc<File>,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("files", &self.by_path.len()).finish_non_exhaustive()
    }
}

impl Files {
    /// The page that is built into the program.
    ///
    /// # Errors
    ///
    /// [`NoPage`] if there is none.
    pub fn embedded() -> Result<Self, NoPage> {
        let named = |path: Cow<'static, str>| {
            let content = Embedded::get(&path)?.data;
            let content = match content {
                Cow::Borrowed(bytes) => Bytes::from_static(bytes),
                Cow::Owned(bytes) => bytes.into(),
            };
            Some((path.into_owned(), content))
        };
        Self::new(Embedded::iter().filter_map(named))
    }

    /// A page of these files, by their paths below `/`. A file beside another one with `.br` or `.gz` at the end is
    /// the other one compressed.
    ///
    /// # Errors
    ///
    /// [`NoPage`] if no file is `index.html`.
    pub fn new(files: impl IntoIterator<Item = (String, Bytes)>) -> Result<Self, NoPage> {
        let mut content: HashMap<String, Bytes> = files.into_iter().collect();
        let mut twins = HashMap::new();
        for (path, bytes) in &content {
            for encoding in Encoding::ALL {
                let of = path.strip_suffix(encoding.ending());
                if let Some(of) = of.filter(|of| content.contains_key(*of)) {
                    twins.insert((of.to_owned(), encoding), (path.clone(), bytes.clone()));
                }
            }
        }
        for (twin, _) in twins.values() {
            content.remove(twin);
        }
        let mut take = |path: &str, encoding| twins.remove(&(path.to_owned(), encoding)).map(|twin| twin.1);
        let mut by_path: HashMap<String, File> = content
            .into_iter()
            .map(|(path, bytes)| {
                let (brotli, gzip) = (take(&path, Encoding::Brotli), take(&path, Encoding::Gzip));
                let file = File::new(&path, bytes, brotli, gzip);
                (path, file)
            })
            .collect();
        let index = Arc::new(by_path.remove(INDEX).ok_or(NoPage)?);
        Ok(Self { by_path: Arc::new(by_path), index })
    }

    /// What is answered at a path: a file, the start of the page for the page's own routes, or nothing.
    pub(crate) fn find(&self, path: &str) -> Option<&File> {
        let path = path.strip_prefix('/').unwrap_or(path);
        if path == INDEX || is_route(path) {
            return Some(&self.index);
        }
        self.by_path.get(path)
    }
}

/// True for what the page itself shows. Files have a dot in their names, and services of gRPC in theirs.
fn is_route(path: &str) -> bool {
    let mut parts = path.split('/');
    let (first, last) = (parts.next().unwrap_or_default(), parts.next_back().unwrap_or_default());
    !first.contains('.') && !last.contains('.') && !path.starts_with(LASTING) && path != "assets"
}

/// One file.
pub(crate) struct File {
    /// Its type.
    pub(crate) kind: HeaderValue,
    /// True if its name changes with its content.
    pub(crate) is_lasting: bool,
    /// As it is.
    pub(crate) plain: Variant,
    brotli: Option<Variant>,
    /// Made when it is asked for first, unless it came with the page.
    gzip: OnceLock<Option<Variant>>,
    is_text: bool,
}

impl File {
    fn new(path: &str, content: Bytes, brotli: Option<Bytes>, gzip: Option<Bytes>) -> Self {
        let (kind, is_text) = kind(path);
        let cell = OnceLock::new();
        if let Some(gzip) = gzip {
            // A cell that was just made is empty.
            drop(cell.set(Some(Variant::new(gzip))));
        }
        Self {
            kind: HeaderValue::from_static(kind),
            is_lasting: path.starts_with(LASTING),
            plain: Variant::new(content),
            brotli: brotli.map(Variant::new),
            gzip: cell,
            is_text,
        }
    }

    /// The file in a compression, if there is one and it is worth it.
    pub(crate) fn compressed(&self, encoding: Encoding) -> Option<&Variant> {
        match encoding {
            Encoding::Brotli => self.brotli.as_ref(),
            Encoding::Gzip => self.gzip.get_or_init(|| self.zipped()).as_ref(),
        }
    }

    fn zipped(&self) -> Option<Variant> {
        let content = &self.plain.content;
        if !self.is_text || content.len() < SMALL {
            return None;
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let zipped = encoder.write_all(content).and_then(|()| encoder.finish()).ok()?;
        (zipped.len() < content.len()).then(|| Variant::new(zipped.into()))
    }
}

/// The bytes of a file in one form.
pub(crate) struct Variant {
    pub(crate) content: Bytes,
    /// Its strong entity tag.
    pub(crate) tag: HeaderValue,
}

impl Variant {
    fn new(content: Bytes) -> Self {
        let hash = Sha256::digest(&content);
        let half = u128::from_be_bytes(*hash.first_chunk().unwrap_or(&[0; 16]));
        let tag = HeaderValue::try_from(format!("\"{half:032x}\""));
        Self { content, tag: tag.unwrap_or(HeaderValue::from_static("\"\"")) }
    }
}

/// The type of a file by the end of its name, and whether it is text, which compresses well.
fn kind(path: &str) -> (&'static str, bool) {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "html" => ("text/html; charset=utf-8", true),
        "js" | "mjs" => ("text/javascript; charset=utf-8", true),
        "css" => ("text/css; charset=utf-8", true),
        "svg" => ("image/svg+xml", true),
        "json" | "map" => ("application/json", true),
        "webmanifest" => ("application/manifest+json", true),
        "txt" => ("text/plain; charset=utf-8", true),
        "woff2" => ("font/woff2", false),
        "png" => ("image/png", false),
        "ico" => ("image/x-icon", false),
        _ => ("application/octet-stream", false),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    fn embedded() -> (Files, String) {
        let files = Files::embedded().unwrap();
        let index = String::from_utf8(files.index.plain.content.to_vec()).unwrap();
        (files, index)
    }

    #[test]
    fn the_embedded_page_names_only_files_that_it_has() {
        let (files, index) = embedded();
        let named = ["src=\"/", "href=\"/"].into_iter().flat_map(|attribute| index.split(attribute).skip(1));
        let named: Vec<&str> = named.filter_map(|rest| rest.split('"').next()).collect();
        assert!(!named.is_empty(), "{index}");
        for path in named {
            assert!(files.by_path.contains_key(path), "/{path} is not there");
        }
    }

    #[test]
    fn the_embedded_page_holds_nothing_that_its_policy_forbids() {
        let (_, index) = embedded();
        for script in index.split("<script").skip(1) {
            let (tag, rest) = script.split_once('>').unwrap();
            assert!(
                tag.contains(" src=\"/") && rest.starts_with("</script>"),
                "a script in the page: {script}"
            );
        }
        let inline = [" style=\"", "<style", "javascript:", "<base", "<iframe", "<form action", "http-equiv"];
        for forbidden in inline {
            assert!(!index.contains(forbidden), "{forbidden} in {index}");
        }
    }

    #[test]
    fn every_embedded_file_that_lasts_has_a_hash_in_its_name() {
        let (files, _) = embedded();
        for path in files.by_path.keys().filter(|path| path.starts_with(LASTING)) {
            let (stem, _) = path.rsplit_once('.').unwrap();
            let hash = stem.len().checked_sub(9).and_then(|at| stem.get(at..)).unwrap_or_default();
            assert!(hash.starts_with('-'), "{path} has no hash of eight characters");
        }
    }

    #[test]
    fn embedded_twins_are_the_files_that_they_stand_beside() {
        let (files, _) = embedded();
        for (path, file) in files.by_path.iter().chain([(&INDEX.to_owned(), &*files.index)]) {
            if let Some(zipped) = file.compressed(Encoding::Gzip) {
                let mut plain = Vec::new();
                GzDecoder::new(&zipped.content[..]).read_to_end(&mut plain).unwrap();
                assert!(plain == file.plain.content, "{path}.gz is another file");
            }
        }
    }

    #[test]
    fn a_page_without_a_start_is_none() {
        let error = Files::new([("assets/a-12345678.js".to_owned(), Bytes::new())]).unwrap_err();
        assert!(error.to_string().contains("index.html"));
    }
}
