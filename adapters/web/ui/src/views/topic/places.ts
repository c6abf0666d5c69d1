/** Where a person was in the topics that the browser's history leads back to. */
import type { StreamPlaces } from "../../components/MessageStream";
import type { App } from "../../shell/app";

/** Kept by the page: the views are made anew. */
export const placesOf = ({ router, places }: Pick<App, "router" | "places">): StreamPlaces => ({
  back: () => {
    router.moves();
    return places.back();
  },
  watch: (place) => router.leaving(() => places.keep(place())),
});
