/** The body of the robot in the page, and what intents and skills do to it. */

export const COLOURS = {
  warm: "#ffd59e",
  white: "#f4f6ff",
  red: "#ff5c5c",
  orange: "#ff9d45",
  yellow: "#ffe14d",
  green: "#5be07b",
  cyan: "#4fd8e0",
  blue: "#5b8cff",
  purple: "#b07bff",
  pink: "#ff8fc7",
} as const;
export type Colour = keyof typeof COLOURS;

/** How people say the colours, in both languages. */
export const COLOUR_NAMES: Record<Colour, readonly string[]> = {
  warm: ["暖色", "warm"],
  white: ["白色", "白的", "white"],
  red: ["红色", "红的", "red"],
  orange: ["橙色", "橙的", "orange"],
  yellow: ["黄色", "黄的", "yellow"],
  green: ["绿色", "绿的", "green"],
  cyan: ["青色", "青的", "cyan"],
  blue: ["蓝色", "蓝的", "blue"],
  purple: ["紫色", "紫的", "purple"],
  pink: ["粉色", "粉的", "pink"],
};

export const GAZES = ["ahead", "left", "right", "up", "down"] as const;
export type Gaze = (typeof GAZES)[number];

export const GAZE_NAMES: Record<Gaze, readonly string[]> = {
  ahead: ["我", "前面", "me", "ahead"],
  left: ["左边", "左", "left"],
  right: ["右边", "右", "right"],
  up: ["上面", "上", "up"],
  down: ["下面", "下", "down"],
};

export type Arm = "down" | "up" | "waving";

export interface Body {
  lamp: boolean;
  colour: Colour;
  arm: Arm;
  /** Where the arm goes back to when it has waved. */
  rest: "down" | "up";
  gaze: Gaze;
}

export const AT_REST: Body = { lamp: false, colour: "warm", arm: "down", rest: "down", gaze: "ahead" };

/** What one has seen it do. */
export type Deed = "lamp_on" | "lamp_off" | "lamp_colour" | "arm_up" | "arm_down" | "wave" | "look_at" | "unknown";

export interface IntentCall {
  intent_id: string;
  intent_name: string;
  parameters: Record<string, unknown>;
}

export interface Done {
  body: Body;
  deed: Deed;
}

/** Carry out an intent. One that it does not know, such as of a catalog that somebody edited, changes nothing. */
export function act(body: Body, { intent_id, parameters }: IntentCall): Done {
  switch (intent_id) {
    case "lamp_on":
      return { body: { ...body, lamp: true }, deed: "lamp_on" };
    case "lamp_off":
      return { body: { ...body, lamp: false }, deed: "lamp_off" };
    case "lamp_colour": {
      const colour = named(COLOUR_NAMES, parameters.colour);
      return colour ? { body: { ...body, lamp: true, colour }, deed: "lamp_colour" } : { body, deed: "unknown" };
    }
    case "arm_up":
      return { body: { ...body, arm: "up", rest: "up" }, deed: "arm_up" };
    case "arm_down":
      return { body: { ...body, arm: "down", rest: "down" }, deed: "arm_down" };
    case "wave":
      return { body: { ...body, arm: "waving" }, deed: "wave" };
    case "look_at": {
      const gaze = named(GAZE_NAMES, parameters.direction);
      return gaze ? { body: { ...body, gaze }, deed: "look_at" } : { body, deed: "unknown" };
    }
    default:
      return { body, deed: "unknown" };
  }
}

/** The arm after it has waved. */
export function settled(body: Body): Body {
  return body.arm === "waving" ? { ...body, arm: body.rest } : body;
}

export interface SkillResult {
  ok: boolean;
  output?: unknown;
  error?: string;
}

/** Use a skill: the model hears the result. */
export function use(body: Body, skill: string, given: Record<string, unknown>): { body: Body; result: SkillResult } {
  switch (skill) {
    case "body_state":
      return { body, result: { ok: true, output: report(body) } };
    case "set_lamp": {
      const colour = given.colour === undefined ? body.colour : named(COLOUR_NAMES, given.colour);
      if (!colour) return failed(body, `there is no colour ${JSON.stringify(given.colour)}`);
      return answered({ ...body, lamp: given.on !== false, colour });
    }
    case "move_arm":
      if (given.to === "wave") return answered({ ...body, arm: "waving" });
      if (given.to !== "up" && given.to !== "down") return failed(body, "to must be up, down or wave");
      return answered({ ...body, arm: given.to, rest: given.to });
    case "look": {
      const gaze = named(GAZE_NAMES, given.direction);
      return gaze ? answered({ ...body, gaze }) : failed(body, "direction must be ahead, left, right, up or down");
    }
    default:
      return failed(body, `there is no skill ${JSON.stringify(skill)}`);
  }
}

function answered(body: Body) {
  return { body, result: { ok: true, output: report(body) } };
}

function failed(body: Body, error: string) {
  return { body, result: { ok: false, error } };
}

function report({ lamp, colour, arm, gaze }: Body) {
  return { lamp: lamp ? "on" : "off", colour, arm, looks: gaze };
}

function named<Name extends string>(names: Record<Name, readonly string[]>, said: unknown): Name | null {
  if (typeof said !== "string") return null;
  const word = said.trim().toLowerCase();
  const all = Object.entries(names) as [Name, readonly string[]][];
  return all.find(([name, others]) => name === word || others.includes(word))?.[0] ?? null;
}
