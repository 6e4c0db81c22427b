/** The messages of a prompt by role; the section of the module that is being edited stands out. */

import { Badge, Group, Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";

import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { isSectionOf, type Section, sectionsOf, titlesOf } from "./sections";
import styles from "./templates.module.css";
import type { Prompt, Size } from "./use-preview";

export function PromptMessages({ prompt, edited }: { prompt: Prompt; edited: Size | undefined }) {
  const w = useWords(templateWords);
  const titles = titlesOf(prompt.messages);
  const last = prompt.messages.length - 1;
  return (
    <ol className={styles.messages} aria-label={w.prompt}>
      {prompt.messages.map((message, at) => {
        const whole = [{ title: null, text: message.content }];
        const sections = at === 0 || at === last ? sectionsOf(message.content) : whole;
        return (
          <li key={at} className={styles.message} data-role={message.role}>
            <Group justify="space-between" gap="xs" mb={4}>
              <Title order={3} size="h6">
                {w.roles[message.role as keyof typeof w.roles] ?? message.role}
              </Title>
              <Text size="xs" c="dimmed">
                {w.size(message.tokens, message.characters)}
              </Text>
            </Group>
            {sections.map((section, place) => {
              const isEdited = edited !== undefined && isSectionOf(section, edited, titles);
              return isEdited ? <Edited key={place} section={section} /> : <Plain key={place} section={section} />;
            })}
          </li>
        );
      })}
    </ol>
  );
}

function Plain({ section }: { section: Section }) {
  return <p className={styles.section}>{section.text.trim()}</p>;
}

function Edited({ section }: { section: Section }) {
  const w = useWords(templateWords);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.scrollIntoView({ block: "nearest" });
  }, [section.title]);
  return (
    <div className={styles.section} data-edited ref={box}>
      <Badge size="xs" color="soul" className={styles.badge}>
        {w.edited}
      </Badge>
      {section.text.trim()}
    </div>
  );
}
