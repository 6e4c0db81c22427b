/** Parts that are not seen at first: their code and styles are not on the first page. */

import { type ComponentType, lazy } from "react";

/** Of what the first page does not show. Styles of our own that come with a part come after them. */
export const moreStyles = () => import("~/mantine-more");

const QUIET_MS = 3_000;

type Load<Props> = () => Promise<ComponentType<Props>>;

async function styled<Props>(load: Load<Props>): Promise<{ default: ComponentType<Props> }> {
  const [, component] = await Promise.all([moreStyles(), load()]);
  return { default: component };
}

/** A component that is fetched when it is wanted. */
export function onDemand<Props extends object>(load: Load<Props>) {
  return lazy(() => styled(load));
}

/** A component that is fetched ahead: it opens at once when it is wanted, also if the server has gone meanwhile. */
export function later<Props extends object>(load: Load<Props>) {
  ahead(() => styled(load));
  return onDemand(load);
}

/** Fetch code before it is wanted, when the browser has nothing else to do. Whoever wants it is told if it fails. */
export function ahead(load: () => Promise<unknown>): void {
  const fetched = () => void load().catch(() => undefined);
  setTimeout(() => globalThis.requestIdleCallback?.(fetched), QUIET_MS);
}
