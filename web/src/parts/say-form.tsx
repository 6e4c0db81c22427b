/** One line to say something, and a button that sends it. */

import { ActionIcon, Group, TextInput } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";

import { holdWhileComposing } from "~/composing";

interface SayFormProps {
  label: string;
  hint: string;
  send: string;
  /** Whether there is somebody who hears it. */
  heard?: boolean;
  onSay: (text: string) => void;
}

/** The most that the server takes. */
const LONGEST = 8000;

export function SayForm({ label, hint, send, heard = true, onSay }: SayFormProps) {
  const [text, setText] = useState("");
  const usable = heard && text.trim() !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!usable) return;
    onSay(text.trim());
    setText("");
  };
  return (
    <form onSubmit={submit}>
      <Group gap="xs" wrap="nowrap">
        <TextInput
          aria-label={label}
          placeholder={hint}
          value={text}
          maxLength={LONGEST}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDownCapture={holdWhileComposing}
          style={{ flex: 1 }}
        />
        <ActionIcon type="submit" size={36} variant="filled" aria-label={send} disabled={!usable}>
          <IconSend size={18} aria-hidden />
        </ActionIcon>
      </Group>
    </form>
  );
}
