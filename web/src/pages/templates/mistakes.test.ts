import { expect, it } from "vitest";

import { Problem } from "~/api/client";
import { draftOf } from "./draft";
import { mistakesOf } from "./mistakes";

const module = (name: string) => ({ name, layer: 2, priority: 1, enabled: true, content: "x" });
const draft = draftOf({
  id: "t", name: "T", voice: "companion", shipped: false, revision: "", created_at: null, updated_at: null,
  modules: [module("One"), module("Two"), module("two ")],
});
const refused = (errors: { where: string; message: string }[]) => new Problem(422, "invalid_input", "no", { errors });
const [one, two, three] = draft.modules.map((made) => made.key) as [string, string, string];

it("puts an objection at its module", () => {
  const problem = refused([
    { where: "body.template.modules.0", message: "mode belongs to layer 4" },
    { where: "body.modules.1.content", message: "too short" },
    { where: "body.template.modules", message: "Tuple should have at least 1 item" },
  ]);
  expect(mistakesOf(problem, draft)).toEqual({
    modules: { [one]: ["mode belongs to layer 4"], [two]: ["content: too short"] },
    others: [],
  });
});

it("marks both modules of one name", () => {
  const problem = refused([{ where: "body.template", message: "two modules are called two: rename one" }]);
  expect(Object.keys(mistakesOf(problem, draft).modules)).toEqual([two, three]);
});

it("keeps what is about the whole", () => {
  const problem = refused([{ where: "body.template.name", message: "too long" }]);
  expect(mistakesOf(problem, draft)).toEqual({ modules: {}, others: ["too long"] });
  expect(mistakesOf(new Problem(404, "not_found", "no such soul"), draft).others).toEqual(["no such soul"]);
});
