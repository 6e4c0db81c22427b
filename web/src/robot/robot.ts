/**
 * The robot on the broker. There is one in a tab, and it goes on while pages change: it says that it is there, reports
 * what it can do, does what it hears, and answers. If the tab is closed, the broker tells of it (its last will).
 */

import type { MqttClient } from "mqtt";

import type { Schemas } from "~/api/client";
import { useKey } from "~/api/key";
import { keys, queryClient } from "~/api/queries";
import { newId } from "~/ids";
import { usePreferences } from "~/preferences";
import { catalogOf, SKILLS, VERSION } from "~/robot/abilities";
import { settled } from "~/robot/body";
import { connectBroker } from "~/robot/broker";
import { hear, NEWBORN, type RobotState } from "~/robot/hearing";
import { useRobot } from "~/robot/store";
import { HEARD, jsonOf, placeOf, RETAINED, topicOf } from "~/robot/topics";

const HEARTBEAT_MS = 10_000;
const WAVE_MS = 2_400;
const MOST_LINES = 300;
const LONGEST = 4_000;

class Robot {
  private client: MqttClient | null = null;
  private beating: ReturnType<typeof setInterval> | undefined;
  private waving: ReturnType<typeof setTimeout> | undefined;
  private lastBeat = 0;
  /** What was said to it and not answered yet, by input id: it is said again if the connection was lost meanwhile. */
  private readonly unanswered = new Map<string, Record<string, unknown>>();
  private ended = false;

  constructor(readonly terminalId: string) {}

  async start(): Promise<void> {
    useRobot.setState({ connection: "connecting", online: false, state: NEWBORN, lines: [] });
    const will = { topic: topicOf(this.terminalId, "online"), payload: "offline", qos: 1, retain: true } as const;
    const client = await connectBroker({ will, refused: (problem) => change({ problem }) });
    if (this.ended) return void client.end(true);
    this.client = client;
    client.on("connect", () => void this.connected(client));
    client.on("message", (topic, payload) => this.received(topic, payload));
    client.on("close", () => this.lost());
    client.on("error", (error) => change({ problem: error.message }));
    this.beating = setInterval(() => this.beat(), HEARTBEAT_MS);
  }

  stop(): void {
    this.ended = true;
    clearInterval(this.beating);
    clearTimeout(this.waving);
    const client = this.client;
    this.client = null;
    if (client?.connected) {
      const farewell = { qos: 1, retain: true } as const;
      client.publish(topicOf(this.terminalId, "online"), "offline", farewell, () => client.end());
    } else client?.end(true);
    useRobot.setState({ connection: "off", online: false });
  }

  say(levels: string[], payload: Record<string, unknown> | string): void {
    const text = typeof payload === "string" ? payload : JSON.stringify({ terminal_id: this.terminalId, ...payload });
    const retain = RETAINED.includes(levels[0] ?? "");
    this.client?.publish(topicOf(this.terminalId, ...levels), text, { qos: 1, retain });
    note("out", levels.join("/"), text);
  }

  sayInput(inputId: string, payload: Record<string, unknown>): void {
    this.unanswered.set(inputId, payload);
    this.say(["input"], payload);
  }

  report(): void {
    const { lang } = usePreferences.getState();
    this.say(["skills"], { skill_version: VERSION, skills: SKILLS, soul_hint: soulHint() });
    this.say(["intent_catalog"], { catalog_version: VERSION, intent_catalog: catalogOf(lang) });
  }

  /** Everything is said again on every connection: the broker may have forgotten it. */
  private async connected(client: MqttClient): Promise<void> {
    const topics = HEARD.map((kind) => topicOf(this.terminalId, kind === "invoke" ? "invoke/+" : kind));
    try {
      await client.subscribeAsync(topics, { qos: 1 });
    } catch (error) {
      return change({ problem: String(error) });
    }
    change({ problem: null });
    this.say(["online"], "online");
    this.report();
    this.beat();
    for (const payload of this.unanswered.values()) this.say(["input"], payload);
    useRobot.setState({ connection: "online", online: true });
  }

  private received(topic: string, bytes: Uint8Array): void {
    const place = placeOf(topic);
    if (!place || place.terminalId !== this.terminalId || !HEARD.includes(place.kind)) return;
    const text = new TextDecoder().decode(bytes);
    note("in", place.rest ? `${place.kind}/${place.rest}` : place.kind, text);
    const payload = jsonOf(text);
    if (!payload) return;
    const heard = hear(useRobot.getState().state, place, payload);
    useRobot.setState({ state: heard.state });
    if (place.kind === "reply") this.unanswered.delete(String(payload.input_id));
    // The server has taken in what it reported: whoever shows the terminals shows it at once.
    if (place.kind === "status") void queryClient.invalidateQueries({ queryKey: keys.terminals });
    for (const { levels, payload } of heard.answers) this.say(levels, payload);
    if (heard.state.body.arm === "waving") this.settleSoon();
    // Timers of a tab in the background are slowed down; what it hears keeps it beating.
    if (Date.now() - this.lastBeat > HEARTBEAT_MS) this.beat();
  }

  private beat(): void {
    if (!this.client?.connected) return;
    this.lastBeat = Date.now();
    this.client.publish(topicOf(this.terminalId, "heartbeat"), "1", { qos: 0 });
  }

  private lost(): void {
    if (!this.ended) useRobot.setState({ connection: "down", online: false });
  }

  private settleSoon(): void {
    clearTimeout(this.waving);
    this.waving = setTimeout(() => change({ body: settled(useRobot.getState().state.body) }), WAVE_MS);
  }
}

/** The chosen soul, else the first, for a robot that has none yet; only one that this key may see. */
function soulHint(): string | undefined {
  const souls = queryClient.getQueryData<Schemas["SoulOut"][]>(keys.souls) ?? [];
  const { soulId } = usePreferences.getState();
  return (souls.find((soul) => soul.soul_id === soulId) ?? souls[0])?.soul_id;
}

let robot: Robot | null = null;

/** Be on the broker under this id; a robot that is there already stays. */
export function startRobot(terminalId: string): void {
  if (robot?.terminalId === terminalId) return;
  stopRobot();
  robot = new Robot(terminalId);
  void robot.start();
}

export function stopRobot(): void {
  robot?.stop();
  robot = null;
}

/** What one key has opened is not another's. */
useKey.subscribe((now, before) => {
  if (now.key !== before.key) stopRobot();
});

/** Report again, such as in another language. */
export function reportAgain(): void {
  if (useRobot.getState().online) robot?.report();
}

/** Say something to the robot: it goes over the broker and not over HTTP. */
export function tell(text: string, userId?: string): void {
  const inputId = newId();
  change({ waiting: [...useRobot.getState().state.waiting, inputId], bubble: null });
  const ts = Date.now() / 1000;
  robot?.sayInput(inputId, { input_id: inputId, type: "keyboard_text", text, ts, user_id: userId });
}

function change(changes: Partial<RobotState>): void {
  useRobot.setState(({ state }) => ({ state: { ...state, ...changes } }));
}

let lineNumber = 0;

function note(direction: "in" | "out", kind: string, text: string): void {
  const line = { n: lineNumber++, at: Date.now(), direction, kind, text: text.slice(0, LONGEST) };
  useRobot.setState(({ lines }) => ({ lines: [...lines, line].slice(-MOST_LINES) }));
}
