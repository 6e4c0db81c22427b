/** What the robot reports: the intents that need no model, in both languages, and the skills that a model may use. */

import type { Schemas } from "~/api/client";
import { COLOUR_NAMES, COLOURS, GAZE_NAMES, GAZES } from "~/robot/body";
import type { Lang } from "~/words/words";

export const VERSION = 1;

type Intent = Schemas["Intent"];

interface Ability {
  id: string;
  name: Record<Lang, string>;
  any: string[];
  examples: string[];
  /** How alike to an example it must be; what names it is sure anyway. */
  least?: number;
  slot?: { name: string; names: Record<string, readonly string[]>; question: string };
}

const ABILITIES: Ability[] = [
  {
    id: "lamp_on",
    name: { zh: "开灯", en: "turn on the lamp" },
    any: ["开灯", "打开灯", "把灯打开", "turn on the lamp", "turn on the light", "lamp on", "light on"],
    examples: ["太暗了，开一下灯", "把台灯点亮", "it is too dark, some light please", "switch the lamp on"],
  },
  {
    id: "lamp_off",
    name: { zh: "关灯", en: "turn off the lamp" },
    any: ["关灯", "关掉灯", "把灯关", "turn off the lamp", "turn off the light", "lamp off", "light off"],
    examples: ["太亮了，关一下灯", "把台灯熄了", "it is too bright, lights out please", "switch the lamp off"],
  },
  {
    id: "lamp_colour",
    name: { zh: "换灯的颜色", en: "change the colour of the lamp" },
    any: [
      ...["灯变", "灯换", "灯调成", "灯改成", "灯的颜色", "灯光颜色", "make the lamp", "make the light"],
      ...["lamp colour", "lamp color", "light colour", "light color", "lamp to", "light to"],
    ],
    examples: ["把灯变成蓝色", "灯光换成粉色", "make the lamp blue", "set the light to green"],
    slot: { name: "colour", names: COLOUR_NAMES, question: "要什么颜色？ Which colour?" },
  },
  {
    id: "arm_up",
    least: 0.65,
    name: { zh: "举手", en: "raise the arm" },
    any: ["举手", "抬手", "抬起手", "举起手", "手臂抬", "raise your arm", "raise the arm", "arm up", "raise your hand", "hand up"],
    examples: ["把手举起来", "抬起你的胳膊", "lift your arm", "put your hand up"],
  },
  {
    id: "arm_down",
    least: 0.65,
    name: { zh: "放下手", en: "lower the arm" },
    any: ["放下手", "手放下", "手臂放下", "lower your arm", "lower the arm", "arm down", "lower your hand", "hand down"],
    examples: ["把手放下来吧", "胳膊可以放下了", "put your arm down", "you can lower your hand"],
  },
  {
    id: "wave",
    least: 0.65,
    name: { zh: "挥手", en: "wave" },
    any: ["挥手", "挥挥手", "招手", "招招手", "wave your hand", "wave your arm", "wave at me", "wave to me", "give me a wave"],
    examples: ["跟我挥挥手", "向大家招个手", "wave with your hand", "let me see you wave your arm"],
  },
  {
    id: "look_at",
    least: 0.65,
    name: { zh: "看过去", en: "look there" },
    any: [
      ...["看左边", "看右边", "看上面", "看下面", "看着我", "看向我", "往左看", "往右看", "往上看", "往下看"],
      ...["向左看", "向右看", "look left", "look right", "look at me", "look to the", "look up at", "look down at"],
    ],
    examples: ["看看左边", "往右边看", "turn your eyes to the left", "look up at the ceiling", "look down at the floor"],
    slot: { name: "direction", names: GAZE_NAMES, question: "看哪边？ Where to?" },
  },
];

/** The name of an intent is spoken by the soul, so it is in the language of the studio. */
export function catalogOf(lang: Lang): Intent[] {
  return ABILITIES.map(({ id, name, any, examples, least = 0.5, slot }) => ({
    id,
    name: name[lang],
    priority: 0,
    match: {
      keywords_any: any,
      keywords_all: [],
      negative_keywords: [],
      regex_any: [],
      regex_all: [],
      examples,
      min_confidence: least,
    },
    slots: slot
      ? [
          {
            name: slot.name,
            type: "text" as const,
            required: true,
            values: Object.values(slot.names).flat(),
            question: slot.question,
          },
        ]
      : [],
  }));
}

const choice = (description: string, of: readonly string[]) => ({ type: "string", enum: of, description });

export const SKILLS = [
  {
    name: "body_state",
    description: "How the lamp, its colour, the arm and the eyes of this body are now.",
    input_schema: { type: "object", properties: {} },
  },
  {
    name: "set_lamp",
    description: "Switch the lamp on or off, maybe in another colour.",
    input_schema: {
      type: "object",
      properties: { on: { type: "boolean" }, colour: choice("its colour", Object.keys(COLOURS)) },
      required: ["on"],
      additionalProperties: false,
    },
  },
  {
    name: "move_arm",
    description: "Raise or lower the arm, or wave.",
    input_schema: {
      type: "object",
      properties: { to: choice("where to", ["up", "down", "wave"]) },
      required: ["to"],
      additionalProperties: false,
    },
  },
  {
    name: "look",
    description: "Look somewhere; ahead is at the person.",
    input_schema: {
      type: "object",
      properties: { direction: choice("where to", GAZES) },
      required: ["direction"],
      additionalProperties: false,
    },
  },
];
