/** Where a person was in the topics that the browser's history leads back to. */
import type { StreamPlaces } from "../../components/MessageStream";
import type { Place } from "../../components/stream-layout";
import type { Router } from "../../router/router";

/** By entry of the history. Outlives the views, which are made anew. */
const places = new Map<unknown, Place>();

export const placesOf = (router: Router): StreamPlaces => ({
  back: () => {
    router.moves();
    return router.isBack() ? places.get(router.entry()) : undefined;
  },
  watch: (place) => router.leaving(() => places.set(router.entry(), place())),
});
