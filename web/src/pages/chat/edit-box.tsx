/** The words of a message while they are edited, in its place. */

import { Button, Group, Text, Textarea } from "@mantine/core";
import type { KeyboardEvent } from "react";

import { isComposing } from "~/composing";
import { MOST_CHARACTERS } from "~/pages/chat/drafts";
import { replaceMessage, useCorrect } from "~/pages/chat/message-actions";
import { useScene } from "~/pages/chat/scene";
import { editMessage } from "~/pages/chat/talk-state";
import type { Message } from "~/pages/chat/transcript";
import { DiscardQuestion, useDiscard } from "~/parts/discard";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

export function EditBox({ message, words }: { message: Message; words: string }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const scene = useScene();
  const correct = useCorrect();
  const text = words.trim();
  const usable = text !== "" && [...text].length <= MOST_CHARACTERS;
  const close = () => editMessage(message.message_id, null);
  const discard = useDiscard(words !== message.content, close);
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !isComposing(event)) discard.leave();
  };
  const sendAnew = () => {
    close();
    replaceMessage(message, scene, text);
  };
  return (
    <div className={c.edit} onKeyDown={pressed}>
      <Textarea
        aria-label={w.editWords}
        value={words}
        onChange={(event) => editMessage(message.message_id, event.currentTarget.value)}
        autosize
        minRows={2}
        maxRows={12}
        autoFocus
      />
      {message.role === "user" && (
        <Text size="xs" c="dimmed" ta="right">
          {w.sayAnew}: {w.sayAnewHint}
        </Text>
      )}
      {discard.asking && <DiscardQuestion onStay={discard.stay} onDiscard={close} />}
      <Group gap="xs" justify="flex-end">
        <Button size="xs" variant="subtle" color="gray" onClick={close}>
          {common.cancel}
        </Button>
        <Button
          size="xs"
          variant="default"
          title={w.correctHint}
          loading={correct.isPending}
          disabled={!usable || text === message.content}
          onClick={() => correct.mutate({ message, content: text })}
        >
          {w.correct}
        </Button>
        {message.role === "user" && (
          <Button size="xs" disabled={!usable || text === message.content} onClick={sendAnew}>
            {w.sayAnew}
          </Button>
        )}
      </Group>
    </div>
  );
}
