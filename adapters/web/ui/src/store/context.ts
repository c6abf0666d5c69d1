/** The store of the subtree; reading it outside of one throws. */
import { createContext } from "solid-js";
import type { Store } from "./contract";

export const StoreContext = createContext<Store>();
