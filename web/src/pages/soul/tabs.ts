/** The parts of the page, and who may open them. */

import type { Access } from "~/access";

export const tabs = [
  { name: "overview", for: () => true },
  { name: "profile", for: (access: Access) => access.isSomebody },
  { name: "memory", for: (access: Access) => access.isSomebody },
  { name: "people", for: (access: Access) => access.isSomebody },
  { name: "inner", for: (access: Access) => access.isOwner },
  { name: "persona", for: (access: Access) => access.isSomebody },
  { name: "usage", for: (access: Access) => access.isOwner },
] as const;

export type TabName = (typeof tabs)[number]["name"];

/** The tab that an address names, if the caller may see it; else the first. */
export function tabOf(name: string | undefined, access: Access): TabName {
  return tabs.find((tab) => tab.name === name && tab.for(access))?.name ?? "overview";
}
