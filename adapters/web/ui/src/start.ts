/** Connects to the server, asks it who is signed in, and makes the page of that person. */
import type { Started } from "./Boot";
import { createPage } from "./page";
import { browserWorld, onNetwork, steady, storage } from "./store/browser";
import { createStore } from "./store/store";
import { ServerTime } from "./model/time";
import type { PageSession } from "./model/client";
import { createWireClient } from "./wire/client";

/** Rejects with a `Failure`: nothing is shown to somebody the server did not name. */
export const start = async (session: PageSession): Promise<Started> => {
  const time = new ServerTime(steady, () => Date.now());
  // What of the stream cannot be read goes the store's way, once there is a store.
  let report: (error: unknown) => void = () => undefined;
  const client = createWireClient({ baseUrl: window.location.origin, stamped: (at) => time.observe(at), report: (error) => report(error) });
  const me = await client.whoAmI();
  const Page = createPage({
    session,
    client,
    me,
    createStore: (over, person) => {
      const store = createStore({ client: over, me: person, world: browserWorld, session: storage("session"), onNetwork, time });
      report = (error) => store.report("stream", error);
      return store;
    },
  });
  return { Page };
};
