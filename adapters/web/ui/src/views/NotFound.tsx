/** An address that names nothing. */
import type { Component } from "solid-js";
import { inboxPath } from "../router/paths";
import { notFoundText } from "../strings";

const NotFound: Component = () => (
  <div class="page">
    <h1>{notFoundText.title}</h1>
    <p>{notFoundText.help}</p>
    <a class="button" href={inboxPath}>
      {notFoundText.toInbox}
    </a>
  </div>
);

export default NotFound;
