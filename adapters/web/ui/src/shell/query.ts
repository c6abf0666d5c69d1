/** Why a search cannot be asked for, or undefined. Pure. */
import { bytesProblem } from "../components/field";
import { searchText } from "../strings";

/** The server refuses longer queries. */
export const SEARCH_BYTES = 1_024;

export const queryProblem = (query: string): string | undefined => bytesProblem(searchText.theSearch, query, SEARCH_BYTES);
