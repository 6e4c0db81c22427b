/** Where one types. What was typed stays until it was taken. */

import { Button, Text, Textarea } from "@mantine/core";
import { IconPlayerStopFilled, IconSend2 } from "@tabler/icons-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

import { isComposing } from "~/composing";
import { stopTurn, useLive } from "~/live/live";
import { charactersOf, MOST_CHARACTERS } from "~/pages/chat/drafts";
import { setDraft, useDraft } from "~/pages/chat/talk-state";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

/** From here on it is said how much there is. */
const NEARLY = 7000;

interface ComposerProps {
  /** Where the draft is kept. */
  place: string;
  soulName: string;
  sessionId: string | undefined;
  onSend: (text: string) => Promise<boolean>;
  /** Who speaks to whom, where there is a choice. */
  roles: ReactNode;
}

export function Composer({ place, soulName, sessionId, onSend, roles }: ComposerProps) {
  const w = useWords(chatWords);
  const text = useDraft(place);
  const [sending, setSending] = useState(false);
  const length = charactersOf(text);
  const usable = text.trim() !== "" && length <= MOST_CHARACTERS;
  const send = async () => {
    if (!usable || sending) return;
    setSending(true);
    if (await onSend(text.trim())) setDraft(place, "");
    setSending(false);
  };
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.setSelectionRange(field.current.value.length, field.current.value.length), [place]);
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    void send();
  };
  return (
    <div className={c.composer}>
      <div className={c.typing}>
        <Textarea
          ref={field}
          aria-label={w.sayTo(soulName)}
          placeholder={w.sayTo(soulName)}
          value={text}
          onChange={(event) => setDraft(place, event.currentTarget.value)}
          onKeyDown={pressed}
          autosize
          minRows={1}
          maxRows={8}
          size="md"
          style={{ flex: 1, minWidth: 0 }}
          error={length > MOST_CHARACTERS}
          autoFocus={window.matchMedia("(hover: hover)").matches}
        />
        <StopButton sessionId={sessionId} onStopped={() => field.current?.focus()} />
        <Button
          size="md"
          h={42}
          aria-label={w.send}
          onClick={() => void send()}
          loading={sending}
          disabled={!usable}
          className={c.send}
        >
          <span className={c.sendWord}>{w.send}</span>
          <IconSend2 className={c.sendIcon} size={20} aria-hidden />
        </Button>
      </div>
      <Footer roles={roles} length={length} />
    </div>
  );
}

function Footer({ roles, length }: { roles: ReactNode; length: number }) {
  const w = useWords(chatWords);
  const isAway = useLive((state) => state.connection === "down");
  return (
    <div className={c.footer}>
      {roles}
      <span className={c.footerEnd} role="status">
        {isAway && w.queueHint}
        {!isAway && length > MOST_CHARACTERS && (
          <Text span size="xs" c="red">
            {w.tooLong(length - MOST_CHARACTERS, MOST_CHARACTERS)}
          </Text>
        )}
        {!isAway && length > NEARLY && length <= MOST_CHARACTERS && w.length(length, MOST_CHARACTERS)}
        {!isAway && length <= NEARLY && <span className={c.keys}>{w.keysHint}</span>}
      </span>
    </div>
  );
}

function StopButton({ sessionId, onStopped }: { sessionId: string | undefined; onStopped: () => void }) {
  const w = useWords(chatWords);
  const turns = useLive((state) => state.turns);
  // What has not been sent yet would never be: there is nothing to stop.
  const isOpen = useLive((state) => state.connection === "open");
  const running = Object.values(turns).filter(
    (turn) => turn.message.session_id === sessionId && turn.phase !== "failed",
  );
  const stop = () => {
    for (const turn of running) stopTurn(turn.message);
    onStopped();
  };
  if (!running.length || !isOpen) return null;
  return (
    <Button
      size="md"
      h={42}
      variant="default"
      title={w.stopHint}
      leftSection={<IconPlayerStopFilled size={14} aria-hidden />}
      onClick={stop}
    >
      {w.stop}
    </Button>
  );
}
