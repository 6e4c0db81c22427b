export const tabs = ["recall", "episodes", "told", "facts", "plans", "events", "shared"] as const;

export type TabName = (typeof tabs)[number];

/** The tab that an address names, else the first. */
export function tabOf(name: string | undefined): TabName {
  return tabs.find((tab) => tab === name) ?? "recall";
}
