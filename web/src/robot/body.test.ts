import { describe, expect, it } from "vitest";

import { catalogOf, SKILLS } from "~/robot/abilities";
import { act, AT_REST, COLOUR_NAMES, settled, use } from "~/robot/body";

const intent = (intent_id: string, parameters: Record<string, unknown> = {}) => ({
  intent_id,
  intent_name: intent_id,
  parameters,
});

describe("what intents do to the body", () => {
  it("switches the lamp", () => {
    const lit = act(AT_REST, intent("lamp_on")).body;
    expect(lit.lamp).toBe(true);
    expect(act(lit, intent("lamp_off")).body.lamp).toBe(false);
  });

  it("gives the lamp a colour by either language, and lights it", () => {
    for (const name of COLOUR_NAMES.blue) {
      expect(act(AT_REST, intent("lamp_colour", { colour: name })).body).toMatchObject({ lamp: true, colour: "blue" });
    }
  });

  it("goes back to where the arm was after it has waved", () => {
    const raised = act(AT_REST, intent("arm_up")).body;
    const waving = act(raised, intent("wave")).body;
    expect(waving.arm).toBe("waving");
    expect(settled(waving).arm).toBe("up");
    expect(settled(act(AT_REST, intent("wave")).body).arm).toBe("down");
  });

  it("changes nothing for what it does not know", () => {
    expect(act(AT_REST, intent("dance"))).toEqual({ body: AT_REST, deed: "unknown" });
    expect(act(AT_REST, intent("lamp_colour", { colour: "plaid" }))).toEqual({ body: AT_REST, deed: "unknown" });
  });

  it("can do every intent that it reports, with every value of its slots", () => {
    for (const reported of catalogOf("en")) {
      const slot = reported.slots[0];
      for (const value of slot?.values ?? [undefined]) {
        const { deed } = act(AT_REST, intent(reported.id, slot ? { [slot.name]: value } : {}));
        expect(deed, `${reported.id} ${value}`).toBe(reported.id);
      }
    }
  });
});

describe("skills", () => {
  it("knows every skill that it reports", () => {
    const given: Record<string, Record<string, unknown>> = {
      set_lamp: { on: true, colour: "red" },
      move_arm: { to: "wave" },
      look: { direction: "left" },
    };
    for (const skill of SKILLS) expect(use(AT_REST, skill.name, given[skill.name] ?? {}).result.ok).toBe(true);
  });

  it("says what is wrong with an argument, and leaves the body as it was", () => {
    const { body, result } = use(AT_REST, "set_lamp", { on: true, colour: "plaid" });
    expect(result).toEqual({ ok: false, error: 'there is no colour "plaid"' });
    expect(body).toBe(AT_REST);
    expect(use(AT_REST, "fly", {}).result.ok).toBe(false);
  });
});
