import { expect, it } from "vitest";

import { Problem } from "~/api/client";
import { type Character, characterBody, characterFields, mistakesByField, profileMistake, withoutNulls } from "./fields";

const character = {
  id: "c", name: "C", description: "", revision: "r", created_at: "", updated_at: "", avatar: "x.png",
  lore: [{ id: "l", keys: [], secondary_keys: [], use_regex: false, content: "x", enabled: true, priority: 1, constant: false }],
  extensions: { card: 1 }, base_persona: "who", greetings: ["hi"], style_examples: [], inner_state: "", mbti_type: null,
  images: ["avatar"],
  initial_profile: { dynamic_state: { emotions: { items: [{ content: "Calm", priority: 5, user_id: null }] } }, core_identity: {} },
} as unknown as Character;

it("sends what it shows, and keeps what it does not show", () => {
  const body = characterBody({ ...characterFields(character), greetings: ["hi", " "] }, character);
  expect(body).toMatchObject({ revision: "r", avatar: "x.png", extensions: { card: 1 }, greetings: ["hi"] });
  expect(body.lore).toEqual(character.lore);
  expect(body.initial_profile.dynamic_state?.emotions?.items[0]).toEqual({ content: "Calm", priority: 5 });
  expect(characterBody({ ...characterFields(character), profile: " " }, character).initial_profile).toEqual({});
});

it("sees whether a profile is a JSON object", () => {
  expect(profileMistake("{}")).toBeNull();
  expect(profileMistake("")).toBeNull();
  expect(profileMistake("{")).toBe("json");
  expect(profileMistake("[]")).toBe("object");
});

it("drops fields that say nothing, at any depth", () => {
  expect(withoutNulls({ a: null, b: [{ c: null, d: 0 }], e: "" })).toEqual({ b: [{ d: 0 }], e: "" });
});

it("puts objections at their fields", () => {
  const errors = [
    { where: "body.greetings.1", message: "too long" },
    { where: "body.name", message: "too short" },
  ];
  expect(mistakesByField(new Problem(422, "invalid_input", "", { errors }))).toEqual({
    greetings: "1: too long",
    name: "too short",
  });
  expect(mistakesByField(new Error("x"))).toEqual({});
});
