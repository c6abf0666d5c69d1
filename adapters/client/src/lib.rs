//! Typed gRPC client of people's commands and of AgentDoor.
