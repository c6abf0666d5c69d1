/** An address that names nothing. */
import type { Component } from "solid-js";
import { inboxPath } from "../router/paths";
import { shellText } from "../strings";

const NotFound: Component = () => (
  <div class="page">
    <h1>{shellText.unknownPage}</h1>
    <p>{shellText.unknownPageHelp}</p>
    <a class="button" href={inboxPath}>
      {shellText.toInbox}
    </a>
  </div>
);

export default NotFound;
