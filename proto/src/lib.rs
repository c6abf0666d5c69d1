//! The wire contract `compass.v1`: generated message types, gRPC clients and servers, and their descriptors.
//!
//! The contract itself, with its comments for client developers, is `compass/v1/*.proto`.

pub mod code;
pub mod contact;

/// Messages, enums, clients and servers of the package `compass.v1`.
#[expect(
    clippy::pedantic,
    reason = "the code is generated; what a client needs to know is in the comments of the .proto files"
)]
pub mod v1 {
    tonic::include_proto!("compass.v1");
}

/// The encoded `FileDescriptorSet` of `compass.v1`, for server reflection and for checks of the contract.
pub const DESCRIPTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptor.bin"));
