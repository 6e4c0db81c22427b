import { Button, Group, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useState } from "react";

import { holdWhileComposing } from "~/composing";

interface QuestionProps {
  label: string;
  placeholder: string;
  submit: string;
  value: string;
  onAsk: (question: string) => void;
  children?: ReactNode;
}

export function Question({ label, placeholder, submit, value, onAsk, children }: QuestionProps) {
  const [text, setText] = useState(value);
  const asked = useRef(value);
  // What was asked elsewhere, as by the back button; what was asked here comes back when the next may be half typed.
  useEffect(() => {
    if (value !== asked.current) setText(value);
    asked.current = value;
  }, [value]);
  const askFor = (question: string) => {
    asked.current = question;
    onAsk(question);
  };
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        askFor(text.trim());
      }}
    >
      <Group gap="xs" align="flex-end">
        <TextInput
          type="search"
          aria-label={label}
          placeholder={placeholder}
          value={text}
          maxLength={1000}
          leftSection={<IconSearch size={16} aria-hidden />}
          onChange={(event) => {
            setText(event.currentTarget.value);
            if (event.currentTarget.value === "") askFor("");
          }}
          onKeyDownCapture={holdWhileComposing}
          style={{ flex: "1 1 220px" }}
        />
        {children}
        <Button type="submit" variant="light">
          {submit}
        </Button>
      </Group>
    </form>
  );
}
