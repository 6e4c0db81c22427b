import { expect, it } from "vitest";

import { says, wakes } from "./wake";

const entry = (change: object) => ({
  keys: ["reef"], secondary_keys: [], use_regex: false, enabled: true, constant: false, ...change,
});

it("finds whole words of scripts with spaces, without regard to case", () => {
  expect(says("The REEF took them.", "reef")).toBe(true);
  expect(says("reefs", "reef")).toBe(false);
  expect(says("a_reef", "reef")).toBe(false);
  expect(says("去reef看看", "reef")).toBe(true);
  expect(says("C++ (x)", "c++")).toBe(true);
});

it("finds Chinese anywhere", () => {
  expect(says("那片暗礁很危险", "暗礁")).toBe(true);
  expect(says("那片暗 礁", "暗礁")).toBe(false);
});

it("wakes an entry as the server does", () => {
  expect(wakes(entry({}), "the reef")).toBe("woken");
  expect(wakes(entry({}), "the sea")).toBe("asleep");
  expect(wakes(entry({ secondary_keys: ["ship"] }), "the reef")).toBe("secondary");
  expect(wakes(entry({ secondary_keys: ["ship"] }), "a ship on the reef")).toBe("woken");
  expect(wakes(entry({ constant: true }), "")).toBe("constant");
  expect(wakes(entry({ enabled: false, constant: true }), "reef")).toBe("off");
  expect(wakes(entry({ keys: [] }), "reef")).toBe("no-keys");
  expect(wakes(entry({ use_regex: true }), "reef")).toBe("unknown");
});
