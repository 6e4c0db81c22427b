/** The items of one field, in order of their priority: dragged by a handle, or moved with the arrow keys. */

import { ActionIcon } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";

import { useAccess } from "~/access";
import { Problem } from "~/api/client";
import { showProblem } from "~/parts/problem";
import { Sortable } from "~/parts/sortable";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { idOf, type Item, textOf, withItems } from "./profile";
import { ItemDialog } from "./profile-dialog";
import { ProfileItem } from "./profile-item";
import { reordered } from "./reorder";
import { Empty, Section } from "./section";
import css from "./soul.module.css";
import { useEditProfile } from "./use-profile";

interface FieldProps {
  soulId: string;
  field: string;
  items: Item[];
}

export function ProfileField({ soulId, field, items }: FieldProps) {
  const w = useWords(soulWords);
  const { isOwner } = useAccess();
  const [edited, setEdited] = useState<Item | "new" | null>(null);
  const title = w.field[field] ?? field.replaceAll("_", " ");
  const add = (
    <ActionIcon variant="subtle" aria-label={w.addItem(title)} onClick={() => setEdited("new")}>
      <IconPlus size={18} aria-hidden />
    </ActionIcon>
  );
  return (
    <Section title={title} actions={isOwner && add}>
      {items.length === 0 && <Empty>{w.emptyField}</Empty>}
      <Items soulId={soulId} field={field} items={items} onEdit={setEdited} />
      {edited && (
        <ItemDialog
          soulId={soulId}
          field={field}
          title={title}
          items={items}
          item={edited === "new" ? null : edited}
          onClose={() => setEdited(null)}
        />
      )}
    </Section>
  );
}

function Items({ soulId, field, items, onEdit }: FieldProps & { onEdit: (item: Item) => void }) {
  const w = useWords(soulWords);
  const edit = useEditProfile(soulId);
  const ids = items.map(idOf);
  const move = (id: string, over: string) => {
    const moved = reordered(items, ids.indexOf(id), ids.indexOf(over));
    if (moved) edit.mutate((state) => withItems(state, field, () => moved));
    else showProblem(new Problem(0, "no_room", w.noRoom));
    return moved !== null;
  };
  const remove = (id: string) =>
    edit.mutate((state) => withItems(state, field, (all) => all.filter((item) => idOf(item) !== id)));
  return (
    <Sortable ids={ids} nameOf={(id) => textOf(items[ids.indexOf(id)] ?? { priority: 0 })} onMove={move}>
      <ol className={css.plain}>
        {items.map((item, place) => (
          <ProfileItem
            key={ids[place]}
            id={ids[place]!}
            item={item}
            onEdit={() => onEdit(item)}
            onDelete={() => remove(ids[place]!)}
          />
        ))}
      </ol>
    </Sortable>
  );
}
