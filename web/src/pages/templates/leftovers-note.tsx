/** Names what is left in double braces, each with what becomes of it: of all modules, or beside the text of one. */

import { Anchor, Text } from "@mantine/core";

import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import type { Draft } from "./draft";
import type { Leftover } from "./leftovers";
import styles from "./templates.module.css";

/** By the key of the module. */
export type Leftovers = Record<string, Leftover[]>;

interface LeftoversNoteProps {
  draft: Draft;
  leftovers: Leftovers;
  onOpen: (key: string) => void;
}

export function LeftoversNote({ draft, leftovers, onOpen }: LeftoversNoteProps) {
  const w = useWords(templateWords);
  const found = draft.modules.flatMap((module) => (leftovers[module.key] ?? []).map((leftover) => ({ module, leftover })));
  return (
    <div role="status" data-testid="leftovers">
      {found.length > 0 && (
        <div className={styles.leftovers}>
          <Text size="sm" fw={600}>
            {w.leftovers}
          </Text>
          <ul>
            {found.map(({ module, leftover }) => (
              <li key={`${module.key} ${leftover.text}`}>
                <code>{leftover.text}</code>{" "}
                <Anchor component="button" type="button" size="xs" onClick={() => onOpen(module.key)}>
                  {w.inModule(module.name)}
                </Anchor>{" "}
                <Verdict {...leftover} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

export function LeftoversOfModule({ leftovers }: { leftovers: Leftover[] }) {
  if (leftovers.length === 0) return null;
  return (
    <ul className={styles.leftovers}>
      {leftovers.map((leftover) => (
        <li key={leftover.text}>
          <code>{leftover.text}</code> <Verdict {...leftover} />
        </li>
      ))}
    </ul>
  );
}

function Verdict({ verdict, instead }: Leftover) {
  const w = useWords(templateWords);
  return [w.verdicts[verdict], instead && w.writeInstead(`{{${instead}}}`)].filter(Boolean).join(" ");
}
