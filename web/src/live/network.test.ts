import { afterEach, expect, test, vi } from "vitest";

import { watchNetwork } from "~/live/network";

afterEach(() => vi.restoreAllMocks());

test("a network that goes and comes is told at once, and so is a page that is looked at again", () => {
  const told: string[] = [];
  const stop = watchNetwork({ lost: () => told.push("lost"), check: () => told.push("check") });
  window.dispatchEvent(new Event("offline"));
  window.dispatchEvent(new Event("online"));
  const visible = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
  document.dispatchEvent(new Event("visibilitychange"));
  expect(told).toEqual(["lost", "check"]);
  visible.mockReturnValue("visible");
  document.dispatchEvent(new Event("visibilitychange"));
  expect(told).toEqual(["lost", "check", "check"]);
  stop();
  window.dispatchEvent(new Event("offline"));
  expect(told).toHaveLength(3);
});
