/** A corner of the screen in which it is told what was done and what failed. */

import type { NotificationData } from "@mantine/notifications";
import type { ComponentType } from "react";
import { create } from "zustand";

import { ahead } from "~/later";

const load = () => import("~/parts/corner-notes");
ahead(load);

const useCorner = create<{ Notes: ComponentType | null }>(() => ({ Notes: null }));

export async function tell(note: NotificationData): Promise<void> {
  const corner = await load().catch(() => null);
  if (!corner) return; // the server is gone, which is told elsewhere
  useCorner.setState({ Notes: corner.Notes });
  corner.show(note);
}

export function Corner() {
  const Notes = useCorner((state) => state.Notes);
  return Notes && <Notes />;
}
