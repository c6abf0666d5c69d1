//! Speed scenarios and their floors.
