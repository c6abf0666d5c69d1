//! What the model side of an agent speaks: JSON lines.
