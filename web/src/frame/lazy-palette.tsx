/** Ctrl-K opens the palette, which is loaded when it is wanted for the first time. */

import { useHotkeys } from "@mantine/hooks";
import { Suspense } from "react";
import { create } from "zustand";

import { onDemand } from "~/later";

const Palette = onDemand(async () => (await import("~/frame/palette")).Palette);

/** How often it was asked for. */
export const usePalette = create(() => ({ asked: 0 }));

export function openPalette(): void {
  usePalette.setState(({ asked }) => ({ asked: asked + 1 }));
}

export function LazyPalette() {
  const asked = usePalette((state) => state.asked);
  useHotkeys([["mod+K", openPalette]], []);
  return asked > 0 && (
    <Suspense>
      <Palette />
    </Suspense>
  );
}
