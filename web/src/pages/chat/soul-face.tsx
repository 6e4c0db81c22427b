/** The face of a soul as it feels now, wherever the mood itself has no room. */

import { Face } from "~/parts/face";
import { useEmotion } from "~/parts/mood";
import { usePreferences } from "~/preferences";
import { useAccess } from "~/access";
import { readerOf } from "~/pages/chat/sessions";
import { moodWords } from "~/words/mood";
import { useWords } from "~/words/words";

export function SoulFace({ soulId, size }: { soulId: string; size: number }) {
  const w = useWords(moodWords);
  const lang = usePreferences((state) => state.lang);
  const emotion = useEmotion(soulId, readerOf(useAccess()));
  const { p, a, d } = emotion?.soul_emotion ?? { p: 0, a: 0, d: 0 };
  return <Face p={p} a={a} d={d} size={size} label={emotion ? w.face(emotion.mood[lang]) : w.unknown} />;
}
