import { expect, it } from "vitest";

import { kindOf, kindOfJson, MOST_BYTES } from "./classify";

it("knows cards of all versions", () => {
  expect(kindOfJson('{"spec": "chara_card_v3", "data": {"name": "A", "character_book": {"entries": []}}}')).toBe("card");
  expect(kindOfJson('\uFEFF{"name": "A", "description": "", "first_mes": "Hi"}')).toBe("card");
});

it("knows lorebooks", () => {
  expect(kindOfJson('{"entries": {"0": {"key": ["a"]}}}')).toBe("lorebook");
  expect(kindOfJson('{"name": "World", "description": "", "entries": []}')).toBe("lorebook");
  expect(kindOfJson('{"spec": "lorebook_v3", "data": {"entries": []}}')).toBe("lorebook");
});

it("knows the files of other programs", () => {
  expect(kindOfJson('{"kind": "character", "name": "Lumen", "persona": {}}')).toBe("card");
  expect(kindOfJson('{"char_name": "Lumen", "char_persona": "Keeps the lighthouse."}')).toBe("card");
  expect(kindOfJson('{"character": {"aiName": "Lumen", "aiPersona": "Keeps the lighthouse."}, "version": 1}')).toBe("card");
  expect(kindOfJson('{"type": "risu", "ver": 1, "data": []}')).toBe("lorebook");
  expect(kindOfJson('{"lorebookVersion": 5, "entries": [{"text": "The reef.", "keys": ["reef"]}]}')).toBe("lorebook");
  expect(kindOfJson('{"scenarioVersion": 2, "title": "T", "description": "D", "lorebook": {"entries": []}}')).toBe("lorebook");
  expect(kindOfJson('{"gamestarted": true, "memory": "", "worldinfo": [{"key": "reef"}]}')).toBe("lorebook");
});

it("knows files with mistakes, which the server mends", async () => {
  expect(kindOfJson('{\n// mine\n"name": "A", "first_mes": "Hi",\n}')).toBe("card");
  expect(kindOfJson("{'entries': {'0': {'key': ['a'],}}}")).toBe("lorebook");
  expect(await kindOf(new Blob(['```json\n{"name": "A", "first_mes": "Hi"}\n```']))).toBe("card");
  const wide = '\uFEFF{"name": "A", "description": "海"}';
  expect(await kindOf(new Blob([Uint16Array.from(wide, (letter) => letter.charCodeAt(0))]))).toBe("card");
});

it("knows nothing else", () => {
  for (const text of ["", "no JSON", "[]", "null", '{"name": "A"}', '{"entries": 3}']) {
    expect(kindOfJson(text)).toBe("unknown");
  }
});

it("looks at the bytes of a file", async () => {
  expect(await kindOf(new Blob([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1])]))).toBe("card");
  expect(await kindOf(new Blob([new Uint8Array([0x50, 0x4b, 3, 4])]))).toBe("card");
  expect(await kindOf(new Blob([new Uint8Array([0xff, 0xd8, 0xff, 0xe0])]))).toBe("card");
  expect(await kindOf(new Blob([new Uint8Array([0x47, 0x49, 0x46, 0x38])]))).toBe("unknown");
  expect(await kindOf(new Blob(["name: Lumen\ncontext: Keeps the lighthouse.\n"]))).toBe("card");
  expect(await kindOf(new Blob(["dear diary\n"]))).toBe("unknown");
  expect(await kindOf({ size: MOST_BYTES + 1 } as Blob)).toBe("too-large");
});
