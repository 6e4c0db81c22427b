/** The state of the robot in words: everything that is drawn is said, too. */

import type { Body } from "~/robot/body";
import type { RobotState } from "~/robot/hearing";
import { robotWords } from "~/words/robot";

type Words = (typeof robotWords)["en"];

export function bodySentences(w: Words, { lamp, colour, arm, gaze }: Body): string[] {
  return [lamp ? w.lampOn(w.colour[colour]) : w.lampOff, w.arm[arm], w.gaze[gaze]];
}

/** The server has words for moods; until they come there are the numbers. */
export function moodSentence(w: Words, mood: RobotState["mood"], inWords: string | undefined): string {
  if (!mood) return w.feelsUnknown;
  if (inWords) return w.feels(inWords);
  return w.feelsNumbers(mood.p.toFixed(2), mood.a.toFixed(2), mood.d.toFixed(2));
}

/** What it did last; empty if nothing. */
export function deedSentence(w: Words, deeds: RobotState["deeds"]): string {
  const unknown = deeds.filter(({ deed }) => deed === "unknown").map(({ name }) => w.cannot(name));
  const known = deeds.filter(({ deed }) => deed !== "unknown").map(({ name }) => name);
  return [...(known.length ? [w.did(known.join(", "))] : []), ...unknown].join(" · ");
}
