import { describe, expect, it } from "vitest";

import { catalogOf, defaultOf, draftsIn, draftsOf, moved, newIntent, NoCatalog, sameCatalog, textOf, wordsIn } from "./catalog";
import { mistakesIn } from "./catalog-mistakes";

const LAMP = {
  id: "light_on",
  name: "开灯",
  match: { keywords_any: ["开灯", "light on"], min_confidence: 0.6 },
  slots: [{ name: "room", required: true, values: ["客厅", "卧室"], question: "哪个房间？" }],
};

describe("a catalog as a form and as JSON", () => {
  it("comes back as it was, with what was left out filled in", () => {
    const [intent] = catalogOf(draftsOf([LAMP]));
    expect(intent).toEqual({
      id: "light_on",
      name: "开灯",
      priority: 0,
      match: {
        keywords_any: ["开灯", "light on"],
        keywords_all: [],
        negative_keywords: [],
        examples: [],
        regex_any: [],
        regex_all: [],
        min_confidence: 0.6,
      },
      slots: [{ name: "room", type: "text", required: true, values: ["客厅", "卧室"], question: "哪个房间？" }],
    });
  });

  it("is written as shortly as it was read, and means the same", () => {
    const drafts = draftsOf([LAMP]);
    expect(JSON.parse(textOf(drafts))).toEqual([LAMP]);
    expect(sameCatalog(drafts, draftsIn(textOf(drafts)))).toBe(true);
  });

  it("says where JSON is no catalog", () => {
    const place = (catalog: unknown) => {
      try {
        draftsOf(catalog);
      } catch (error) {
        return error instanceof NoCatalog ? [error.path, error.expected] : null;
      }
    };
    expect(place({})).toEqual(["", "list"]);
    expect(place([LAMP, { id: 1, name: "x" }])).toEqual(["[1].id", "text"]);
    expect(place([{ ...LAMP, match: { keywords_any: "开灯" } }])).toEqual(["[0].match.keywords_any", "texts"]);
    expect(place([{ ...LAMP, slots: [{ name: "x", type: "colour" }] }])).toEqual(["[0].slots[0].type", "type"]);
    expect(() => draftsIn("[{")).toThrow(NoCatalog);
  });

  it("keeps a default of nought and of false", () => {
    const slots = [
      { name: "level", type: "percent", default: 0 },
      { name: "loud", default: false },
    ];
    const drafts = draftsOf([{ ...LAMP, slots }]);
    expect(catalogOf(drafts)[0]?.slots.map((slot) => slot.default)).toEqual([0, false]);
    expect(sameCatalog(drafts, draftsIn(textOf(drafts)))).toBe(true);
  });

  it("reads a default as its type wants it", () => {
    expect(defaultOf("percent", "30")).toBe(30);
    expect(defaultOf("text", "30")).toBe("30");
    expect(defaultOf("number", "")).toBeNull();
    expect(defaultOf("number", "many")).toBe("many");
  });

  it("takes words apart at commas, and each once", () => {
    expect(wordsIn(["dance, jig", "跳舞，jig", " "])).toEqual(["dance", "jig", "跳舞"]);
  });

  it("gives a new intent an id that is free", () => {
    const drafts = draftsOf([LAMP, { ...LAMP, id: "intent_3" }]);
    expect(newIntent(drafts).id).toBe("intent_4");
  });

  it("moves an intent, and nothing beyond the ends", () => {
    expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
    expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
    expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
    expect(moved(["a", "b"], 1, 2)).toEqual(["a", "b"]);
  });
});

describe("mistakes in a catalog", () => {
  const codes = (catalog: unknown) => mistakesIn(draftsOf(catalog)).map(({ field, code }) => `${field}:${code}`);

  it("finds none in a good one", () => {
    expect(codes([LAMP])).toEqual([]);
  });

  it("finds ids that are missing or given twice, and intents that nothing can mean", () => {
    expect(codes([LAMP, LAMP])).toEqual(["id:twice", "id:twice"]);
    expect(codes([{ id: " ", name: "", match: { negative_keywords: ["x"] } }])).toEqual([
      "id:missing",
      "name:missing",
      "match:nothingMatches",
    ]);
  });

  it("finds slots that contradict their type", () => {
    const slots = [
      { name: "a", type: "number", values: ["x"] },
      { name: "b", min: 1 },
      { name: "c", type: "percent", default: 101 },
      { name: "d", type: "number", min: 2, max: 1 },
      { name: "e", type: "duration", default: "long" },
      { name: "f", type: "time", default: "soon" },
    ];
    expect(codes([{ ...LAMP, slots }])).toEqual([
      "values:valuesAreForText",
      "min:noBounds",
      "default:outside",
      "min:minAboveMax",
      "default:notANumber",
      "default:notATime",
    ]);
  });
});
