/** Everything a person reads, by area. */
export * from "./ask";
export * from "./composer";
export * from "./message";
export * from "./plural";
export * from "./store";
export * from "./wire";
