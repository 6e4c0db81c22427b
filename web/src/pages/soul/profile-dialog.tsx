import { NumberInput, Select } from "@mantine/core";
import { useState } from "react";

import { FormDialog } from "~/parts/dialog";
import { LimitedTextarea } from "~/parts/limited";
import { excessOf } from "~/parts/limits";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { usePeople } from "./person";
import {
  idOf,
  type Item,
  LEAST_PRIORITY,
  MOST_PRIORITY,
  OPTIONAL_WORDS,
  type State,
  withItems,
  wordKeys,
  wordsOf,
} from "./profile";
import { SharingInput } from "./sharing";
import { useEditProfile } from "./use-profile";

interface ItemDialogProps {
  soulId: string;
  field: string;
  title: string;
  items: Item[];
  /** Null: a new one. */
  item: Item | null;
  onClose: () => void;
}

const MIDDLE = 5;
/** How many characters each text of an item may have. */
const MOST = 500;

export function ItemDialog({ soulId, field, title, items, item, onClose }: ItemDialogProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const people = usePeople(soulId);
  const edit = useEditProfile(soulId);
  const keys = item && Object.keys(wordsOf(item)).length > 0 ? withOptional(field, item) : wordKeys(field, items);
  const known = item ? wordsOf(item) : {};
  const [texts, setTexts] = useState<Record<string, string>>(known);
  const [priority, setPriority] = useState(item?.priority ?? MIDDLE);
  const [person, setPerson] = useState(item?.user_id ?? null);
  const [shared, setShared] = useState(item?.shared_with ?? []);
  const isMissing = (key: string) => !OPTIONAL_WORDS.has(key) && !texts[key]?.trim();
  const ready = keys.every((key) => !isMissing(key) && excessOf(texts[key] ?? "", MOST) === 0);
  const save = () => {
    const written = edited(item, keys, texts, { priority, user_id: person, shared_with: shared });
    edit.mutate(replacing(field, item, written), { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={item ? w.editItem(title) : w.addItem(title)}
      submit={common.save}
      pending={edit.isPending}
      ready={ready}
      changed={keys.some((key) => (texts[key] ?? "") !== (known[key] ?? ""))}
      onSubmit={save}
      onClose={onClose}
    >
      {keys.map((key, place) => (
        <LimitedTextarea
          key={key}
          label={w.word[key] ?? key}
          description={OPTIONAL_WORDS.has(key) ? w.optional : undefined}
          value={texts[key] ?? ""}
          most={MOST}
          error={item && isMissing(key) && w.itemEmptied}
          minRows={1}
          onChange={(event) => setTexts({ ...texts, [key]: event.currentTarget.value })}
          data-autofocus={place === 0 || undefined}
        />
      ))}
      <NumberInput
        label={w.priority}
        description={w.priorityHint}
        value={priority}
        min={LEAST_PRIORITY}
        max={MOST_PRIORITY}
        clampBehavior="strict"
        allowDecimal={false}
        onChange={(value) => setPriority(Number(value) || LEAST_PRIORITY)}
      />
      <Select
        label={w.ownerOf}
        description={w.ownerHint}
        placeholder={w.own}
        data={people}
        value={person}
        onChange={setPerson}
        clearable
      />
      {person !== null && <SharingInput soulId={soulId} value={shared} onChange={setShared} except={person} />}
    </FormDialog>
  );
}

function withOptional(field: string, item: Item): string[] {
  return [...new Set([...wordKeys(field, [item]), ...Object.keys(wordsOf(item))])];
}

interface Bookkeeping {
  priority: number;
  user_id: string | null;
  shared_with: string[];
}

/** Its time stays, so that an edit does not make it younger. */
function edited(item: Item | null, keys: string[], texts: Record<string, string>, book: Bookkeeping): Item {
  const words = keys.map((key) => [key, texts[key]?.trim() ?? ""] as const).filter(([, text]) => text);
  return {
    ...(item?.timestamp && { timestamp: item.timestamp }),
    ...(item?.aged_at && { aged_at: item.aged_at }),
    ...Object.fromEntries(words),
    priority: book.priority,
    ...(book.user_id !== null && { user_id: book.user_id, shared_with: book.shared_with }),
  };
}

function replacing(field: string, item: Item | null, written: Item): (state: State) => State {
  const old = item && idOf(item);
  const young = idOf(written);
  return (state) =>
    withItems(state, field, (all) => [...all.filter((one) => ![old, young].includes(idOf(one))), written]);
}
