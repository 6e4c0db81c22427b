/** What the browser knows of the network before any connection does. */

export interface NetworkHandlers {
  /** The device has no network. */
  lost: () => void;
  /** It has one again, or the page is looked at again after it slept: what was open may be dead. */
  check: () => void;
}

/** Tells of it until the answer is called. */
export function watchNetwork({ lost, check }: NetworkHandlers): () => void {
  const looked = () => {
    if (document.visibilityState === "visible") check();
  };
  window.addEventListener("offline", lost);
  window.addEventListener("online", check);
  document.addEventListener("visibilitychange", looked);
  return () => {
    window.removeEventListener("offline", lost);
    window.removeEventListener("online", check);
    document.removeEventListener("visibilitychange", looked);
  };
}
