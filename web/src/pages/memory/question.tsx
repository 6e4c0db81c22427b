import { Button, Group, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { type KeyboardEvent, type ReactNode, useEffect, useState } from "react";

interface QuestionProps {
  label: string;
  placeholder: string;
  submit: string;
  value: string;
  onAsk: (question: string) => void;
  children?: ReactNode;
}

/** Enter while a word is still being composed chooses that word and asks nothing. */
export function holdWhileComposing(event: KeyboardEvent): void {
  if (event.key === "Enter" && (event.nativeEvent.isComposing || event.keyCode === 229)) event.preventDefault();
}

export function Question({ label, placeholder, submit, value, onAsk, children }: QuestionProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(text.trim());
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
            if (event.currentTarget.value === "") onAsk("");
          }}
          onKeyDown={holdWhileComposing}
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
