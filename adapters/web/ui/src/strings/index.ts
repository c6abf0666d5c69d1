/** Everything a person reads, by area. */
export * from "./ask";
export * from "./composer";
export * from "./failure";
export * from "./message";
export * from "./plural";
export * from "./settings";
export * from "./shell";
export * from "./store";
export * from "./views";
export * from "./wire";
