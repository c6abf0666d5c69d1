//! The runner's half: dial-out client, control retention, journal files.
