import { expect, it } from "vitest";

import { oneByOne } from "./one-by-one";

function saver(outcomes: boolean[]) {
  const saved: string[] = [];
  const save = oneByOne(async (value: string) => {
    await Promise.resolve();
    saved.push(value);
    return outcomes.shift() ?? true;
  });
  return { save, saved };
}

it("loses none of several quick changes, and saves the newest for all that waited", async () => {
  const { save, saved } = saver([]);
  expect(await Promise.all([save("a"), save("ab"), save("abc")])).toEqual([true, true, true]);
  expect(saved).toEqual(["a", "abc"]);
  expect(await save("abcd")).toBe(true);
  expect(saved).toEqual(["a", "abc", "abcd"]);
});

it("saves nothing that was built on what could not be saved", async () => {
  const { save, saved } = saver([false]);
  expect(await Promise.all([save("a"), save("ab")])).toEqual([false, false]);
  expect(saved).toEqual(["a"]);
});
