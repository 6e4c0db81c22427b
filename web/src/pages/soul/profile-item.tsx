import { ActionIcon, Group, Text, Tooltip } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";

import { useAccess } from "~/access";
import { DragHandle, rowOf, useSortableRow } from "~/parts/sortable";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { DeleteButton } from "./delete-button";
import { type Item, RETIRES_BELOW, textOf, wordsOf } from "./profile";
import { SharedBadge } from "./sharing";
import css from "./soul.module.css";
import { useWhen } from "./when";

interface ItemProps {
  id: string;
  item: Item;
  onEdit: () => void;
  onDelete: () => void;
}

export function ProfileItem({ id, item, onEdit, onDelete }: ItemProps) {
  const w = useWords(soulWords);
  const { isOwner } = useAccess();
  const row = useSortableRow(id, !isOwner);
  const text = textOf(item);
  return (
    <li {...rowOf(row)} className={css.row} data-chosen={row.isDragging || undefined}>
      {isOwner && <DragHandle row={row} id={id} name={text} />}
      <Tooltip label={w.priorityOf(item.priority)}>
        <span className={css.level} data-fading={item.priority < RETIRES_BELOW || undefined}>
          <span className="visually-hidden">{w.priority} </span>
          {item.priority}
        </span>
      </Tooltip>
      <div className={css.grow}>
        <Words item={item} />
        <Provenance item={item} />
      </div>
      {isOwner && (
        <Group gap={2} wrap="nowrap">
          <ActionIcon variant="subtle" color="gray" aria-label={w.editNamed(text)} onClick={onEdit}>
            <IconPencil size={16} aria-hidden />
          </ActionIcon>
          <DeleteButton question={w.deleteItem} label={w.deleteNamed(text)} onConfirm={onDelete} />
        </Group>
      )}
    </li>
  );
}

function Words({ item }: { item: Item }) {
  const [first, ...others] = Object.values(wordsOf(item));
  return (
    <>
      <Text size="sm">{first}</Text>
      {others.map((text) => (
        <Text key={text} size="xs" c="dimmed">
          {text}
        </Text>
      ))}
    </>
  );
}

function Provenance({ item }: { item: Item }) {
  const w = useWords(soulWords);
  const when = useWhen();
  return (
    <Group gap={6}>
      <Text size="xs" c="dimmed">
        {item.user_id === undefined ? w.own : w.belongsTo(item.user_id)}
        {item.timestamp && ` · ${when.time(item.timestamp)}`}
      </Text>
      {item.shared_with && <SharedBadge people={item.shared_with} />}
    </Group>
  );
}
