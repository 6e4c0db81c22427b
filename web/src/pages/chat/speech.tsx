/** One message, whether it is stored or still being spoken. */

import { Loader } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import { type KeyboardEvent, memo, Suspense, useId } from "react";

import { isComposing } from "~/composing";
import { later } from "~/later";
import { useLive } from "~/live/live";
import { EditBox } from "~/pages/chat/edit-box";
import type { SpeechRow } from "~/pages/chat/rows";
import { useScene } from "~/pages/chat/scene";
import { SpeechActions } from "~/pages/chat/speech-actions";
import { BrokenOff, Deeds, Failed, OfflineLabel, SaidNote, Tools, Waiting } from "~/pages/chat/speech-state";
import { toggleWhy, useTalk } from "~/pages/chat/talk-state";
import { dayName, momentOf, timeOf } from "~/pages/chat/times";
import { useTyped } from "~/pages/chat/typewriter";
import { usePreferences } from "~/preferences";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

const Why = later(async () => (await import("~/pages/chat/why-panel")).Why);

export function Day({ at }: { at: number }) {
  const w = useWords(chatWords);
  const lang = usePreferences((state) => state.lang);
  return <div className={c.day}>{dayName(at, Date.now(), lang, w)}</div>;
}

export const Speech = memo(function Speech({ row, isLast }: { row: SpeechRow; isLast: boolean }) {
  const common = useWords(commonWords);
  const whyId = useId();
  const explained = useTalk((state) => state.explained === row.key);
  const edited = useTalk((state) => (row.message ? state.edits[row.message.message_id] : undefined));
  const spoken = row.role === "assistant" ? row.turn : null;
  const hasFailed = spoken?.phase === "failed";
  if (hasFailed && !row.text) return <Failed turn={spoken} />;
  return (
    <div
      className={c.speech}
      data-role={row.role}
      data-proactive={row.message?.proactive || undefined}
      data-incomplete={hasFailed || undefined}
      onKeyDown={explained ? closeWhyOnEscape : undefined}
    >
      <Speaker row={row} />
      <div className={c.line}>
        {row.message && edited !== undefined ? (
          <EditBox message={row.message} words={edited} />
        ) : (
          <>
            <Words row={row} />
            <Meta row={row} whyId={whyId} isLast={isLast} />
          </>
        )}
      </div>
      {row.role === "user" ? <SaidNote row={row} /> : <Deeds row={row} />}
      {spoken && <Tools tools={spoken.tools} />}
      {hasFailed && <Failed turn={spoken} />}
      {spoken && !hasFailed && row.text && <BrokenOff />}
      <Suspense fallback={<Loader size="xs" role="img" aria-label={common.loading} />}>
        {explained && <Why row={row} id={whyId} onClose={closeWhy} />}
      </Suspense>
    </div>
  );
});

/** The reasons under a message go, and the focus is at the button that shows them again. */
function closeWhy(inside: Element): void {
  const key = useTalk.getState().explained;
  if (key !== null) toggleWhy(key);
  inside.closest(`.${c.speech}`)?.querySelector<HTMLElement>("[data-why]")?.focus();
}

/** Not of a menu or a text field, whose Escape it is then. */
function closeWhyOnEscape(event: KeyboardEvent): void {
  const { target, currentTarget } = event;
  if (event.key !== "Escape" || isComposing(event) || !(target instanceof Element)) return;
  if (currentTarget.contains(target) && !target.matches("textarea, input")) closeWhy(currentTarget);
}

/** Who speaks is seen by the side it stands on; it is written where that is not enough, and said aloud always. */
function Speaker({ row }: { row: SpeechRow }) {
  const w = useWords(chatWords);
  const scene = useScene();
  const name = row.role === "user" ? scene.personName(row.speaker) : scene.soulName(row.speaker);
  const proactive = row.message?.proactive ?? false;
  if (!scene.group && !proactive) return <span className="visually-hidden">{name}:</span>;
  return (
    <div className={c.speaker}>
      {scene.group || proactive ? name : null}
      {proactive && (
        <span className={c.proactive}>
          <IconSparkles size={12} aria-hidden /> {w.proactive}
        </span>
      )}
    </div>
  );
}

/** Words that are still coming are read aloud when they are complete: until then they are for the eyes alone. */
function Words({ row }: { row: SpeechRow }) {
  const speaking = row.role === "assistant" && row.turn !== null && row.turn.phase !== "failed";
  const away = useLive((state) => state.connection !== "open");
  const text = useTyped(row.text, speaking);
  const coming = speaking || text !== row.text;
  if (speaking && !text) return away || !row.turn ? null : <Silence turn={row.turn} />;
  return (
    <div className={c.bubble} dir="auto" aria-hidden={coming || undefined} data-coming={coming || undefined}>
      {text}
    </div>
  );
}

function Silence({ turn }: { turn: NonNullable<SpeechRow["turn"]> }) {
  return (
    <div className={c.bubble} aria-hidden data-coming>
      <Waiting turn={turn} />
    </div>
  );
}

function Meta({ row, whyId, isLast }: { row: SpeechRow; whyId: string; isLast: boolean }) {
  const lang = usePreferences((state) => state.lang);
  if (!row.message && row.role === "assistant") return null;
  return (
    <div className={c.meta}>
      <time dateTime={new Date(row.at).toISOString()} title={momentOf(row.at, lang)}>
        {timeOf(row.at, lang)}
      </time>
      {row.role === "assistant" && <OfflineLabel row={row} isLast={isLast} />}
      <SpeechActions row={row} whyId={whyId} isLast={isLast} />
    </div>
  );
}
