/** Starts the page. */
import { render } from "@solidjs/web";
import { Boot } from "./Boot";
import { inboxPath, signInPath } from "./router/paths";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/late.css";
import { takeSecret } from "./views/sign-in/credential";
import { createPageSession } from "./wire/page-session";

const secret = takeSecret(window);
const session = createPageSession({ baseUrl: window.location.origin });
// Asked for at once, so that it arrives while the session is looked up.
const page = import("./start");
const isSignIn = () => window.location.pathname === signInPath;

document.getElementById("late")?.remove();
const root = document.getElementById("root");
if (root)
  render(
    () => (
      <Boot
        session={session}
        secret={secret}
        asksToSignIn={isSignIn()}
        start={async () => (await page).start(session)}
        onSignedIn={() => {
          if (isSignIn()) window.history.replaceState(null, "", inboxPath);
        }}
      />
    ),
    root,
  );
