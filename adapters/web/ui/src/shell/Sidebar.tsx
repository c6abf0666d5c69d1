/** The left column: inbox, channels by group, direct messages, agents. */
import { createMemo, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { group } from "../keyboard/group";
import { rail } from "../model/select";
import { browsePath, inboxPath, newChannelPath, newDirectPath } from "../router/paths";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";
import { AppContext } from "./app";
import { Badge, Section } from "./Section";
import { SidebarAgents } from "./SidebarAgents";
import { ChannelGroups, ChannelRows } from "./SidebarChannels";
import "./Sidebar.css";

export const Sidebar: Component = () => {
  const store = useContext(StoreContext);
  const { router } = useContext(AppContext);
  const parts = createMemo(() => rail(store.state()));
  const waiting = () => store.state().openAsks.size;
  const at = (kind: string) => (router.route().kind === kind ? "page" : undefined);
  return (
    <nav id="rail" class="rail" aria-label={shellText.navigation} data-zone="rail">
      <div class="rail-scroll" ref={group()}>
        <a class="rail-row inbox" href={inboxPath} aria-current={at("inbox")} data-stop tabindex="-1">
          <span class="rail-name">{shellText.inbox}</span>
          <Badge kind="asks" count={waiting()} label={shellText.waiting(waiting())} />
        </a>
        <Section name="channels" title={shellText.channels} link={{ path: newChannelPath, label: shellText.newChannel }}>
          <ChannelGroups groups={parts().groups} ungrouped={parts().ungrouped} />
          <Show when={store.state().ready && parts().groups.length === 0 && parts().ungrouped.length === 0}>
            <p class="rail-note">{shellText.noChannels}</p>
          </Show>
          <a class="rail-row quiet" href={browsePath} aria-current={at("browse")} data-stop tabindex="-1">
            <span class="rail-name">{shellText.browse}</span>
            <Show when={parts().browse.length > 0}>
              <span class="rail-count">{parts().browse.length}</span>
            </Show>
          </a>
        </Section>
        <Section name="direct" title={shellText.direct} link={{ path: newDirectPath, label: shellText.newDirect }}>
          <ChannelRows channels={parts().direct} />
        </Section>
        <SidebarAgents />
      </div>
    </nav>
  );
};
