//! Every tonic door of the server.
