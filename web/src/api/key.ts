/** The API key of this tab. It is kept in session storage and sent as a bearer token, never in an address. */

import { create } from "zustand";

const PLACE = "soulgraph.key";

interface KeyState {
  key: string | null;
  /** Whether the server has refused this key, or asks for one. */
  wanted: boolean;
  use: (key: string) => void;
  refused: () => void;
}

export const useKey = create<KeyState>((set) => ({
  key: keyFromFragment() ?? sessionStorage.getItem(PLACE),
  wanted: false,
  use: (key) => {
    sessionStorage.setItem(PLACE, key);
    set({ key, wanted: false });
  },
  refused: () => {
    sessionStorage.removeItem(PLACE);
    set({ wanted: true });
  },
}));

/** `soulgraph studio` opens `…/studio/#key=…`: a fragment is never sent, and it is taken out of the address at once. */
function keyFromFragment(): string | null {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (!key) return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  sessionStorage.setItem(PLACE, key);
  return key;
}
