//! The agent core: lanes, injected ids, tools, with ports below, above and beside.
