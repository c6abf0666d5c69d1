//! Runner policy: control retention and redelivery, publish sequencing.
