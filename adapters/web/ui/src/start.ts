/** Connects to the server, asks it who is signed in, and makes the page of that person. */
import type { Started } from "./Boot";
import { createPage } from "./page";
import { browserWorld, onWake, steady, storage } from "./store/browser";
import { createStore } from "./store/store";
import { ServerTime } from "./model/time";
import type { PageSession } from "./model/client";
import { createClient } from "./wire/client";

/** Rejects with a `Failure`: nothing is shown to somebody the server did not name. */
export const start = async (session: PageSession): Promise<Started> => {
  const time = new ServerTime(steady, () => Date.now());
  const client = createClient({ baseUrl: window.location.origin, time });
  const me = await client.whoAmI();
  const Page = createPage({
    session,
    client,
    me,
    createStore: (over, person) => createStore({ client: over, me: person, world: browserWorld, session: storage("session"), onWake, time }),
  });
  return { Page };
};
