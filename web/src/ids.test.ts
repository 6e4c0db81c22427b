import { expect, it, vi } from "vitest";

import { newId } from "./ids";

it("makes ids that differ, also where a page came without TLS", () => {
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const ids = new Set(Array.from({ length: 100 }, () => newId()));
  vi.unstubAllGlobals();
  expect(ids.size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^studio-[0-9a-f]{32}$/);
  expect(newId("lore_")).toMatch(/^lore_[0-9a-f]{32}$/);
});
