/** Lists in an order of one's own: dragged by a handle, moved with the arrow keys, and told to those who do not see it. */

import {
  closestCenter,
  DndContext,
  type DndContextProps,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from "@dnd-kit/core";
import { restrictToParentElement, restrictToVerticalAxis } from "@dnd-kit/modifiers";
import { SortableContext, sortableKeyboardCoordinates, useSortable, verticalListSortingStrategy } from "@dnd-kit/sortable";
import { CSS } from "@dnd-kit/utilities";
import { ActionIcon, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconGripVertical } from "@tabler/icons-react";
import { createContext, type CSSProperties, type KeyboardEvent, type ReactNode, useContext, useState } from "react";

import { sortableWords } from "~/words/sortable";
import { useWords } from "~/words/words";

import styles from "./sortable.module.css";

interface SortableProps {
  ids: string[];
  nameOf: (id: string) => string;
  /** What the place of an item is called; its number if this is left out. */
  placeOf?: (id: string) => string;
  /** Put an item to where another one is; false if that cannot be. */
  onMove: (id: string, over: string) => boolean | void;
  /** Told of what is being dragged, and of null when it is put down. */
  onDrag?: (id: string | null) => void;
  children: ReactNode;
}

interface Steps {
  ids: string[];
  step: (id: string, by: -1 | 1) => void;
}

const StepsContext = createContext<Steps>({ ids: [], step: () => undefined });

export function Sortable({ ids, nameOf, onMove, onDrag, children, ...places }: SortableProps) {
  const w = useWords(sortableWords);
  const [said, setSaid] = useState("");
  const placeOf = places.placeOf ?? ((id: string) => w.place(ids.indexOf(id) + 1, ids.length));
  const accessibility = useAnnouncements(nameOf, placeOf);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const drop = ({ active, over }: DragEndEvent) => {
    onDrag?.(null);
    if (over && over.id !== active.id) onMove(String(active.id), String(over.id));
  };
  const step = (id: string, by: -1 | 1) => {
    const over = ids[ids.indexOf(id) + by];
    if (over !== undefined && onMove(id, over) !== false) setSaid(w.end(nameOf(id), placeOf(over)));
  };
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      modifiers={[restrictToVerticalAxis, restrictToParentElement]}
      accessibility={accessibility}
      onDragStart={({ active }) => onDrag?.(String(active.id))}
      onDragEnd={drop}
      onDragCancel={() => onDrag?.(null)}
    >
      <SortableContext items={ids} strategy={verticalListSortingStrategy}>
        <StepsContext value={{ ids, step }}>{children}</StepsContext>
      </SortableContext>
      <div className="visually-hidden" role="status">
        {said}
      </div>
    </DndContext>
  );
}

function useAnnouncements(
  nameOf: (id: string) => string,
  placeOf: (id: string) => string,
): DndContextProps["accessibility"] {
  const w = useWords(sortableWords);
  const name = ({ active }: Pick<DragEndEvent, "active">) => nameOf(String(active.id));
  return {
    screenReaderInstructions: { draggable: w.help },
    announcements: {
      onDragStart: (event) => w.start(name(event)),
      onDragOver: (event) => (event.over ? w.over(name(event), placeOf(String(event.over.id))) : undefined),
      onDragEnd: (event) =>
        event.over ? w.end(name(event), placeOf(String(event.over.id))) : w.cancel(name(event)),
      onDragCancel: (event) => w.cancel(name(event)),
    },
  };
}

export type SortableRow = ReturnType<typeof useSortable>;

/** A row of the list. Whoever draws it spreads `rowOf` on its element. */
export function useSortableRow(id: string, disabled = false): SortableRow {
  const w = useWords(sortableWords);
  return useSortable({ id, disabled, attributes: { roleDescription: w.draggable } });
}

export function rowOf(row: SortableRow) {
  const lifted: CSSProperties = { position: "relative", zIndex: 2, boxShadow: "var(--mantine-shadow-md)" };
  const moved = { transform: CSS.Translate.toString(row.transform), transition: row.transition };
  return {
    ref: row.setNodeRef,
    style: { ...moved, ...(row.isDragging && lifted) },
    "data-dragging": row.isDragging || undefined,
  };
}

interface HandleProps {
  row: SortableRow;
  id: string;
  name: string;
}

export function DragHandle({ row, id, name }: HandleProps) {
  const w = useWords(sortableWords);
  const { step } = useContext(StepsContext);
  const pressed = (event: KeyboardEvent<HTMLButtonElement>) => {
    const by = ({ ArrowUp: -1, ArrowDown: 1 } as const)[event.key];
    if (!by || row.active) return row.listeners?.onKeyDown?.(event);
    event.preventDefault();
    step(id, by);
  };
  return (
    <UnstyledButton
      ref={row.setActivatorNodeRef}
      className={styles.handle}
      {...row.attributes}
      {...row.listeners}
      onKeyDown={pressed}
      aria-label={w.move(name)}
    >
      <IconGripVertical size={16} aria-hidden />
    </UnstyledButton>
  );
}

/** The same for those who neither drag nor use keys. */
export function MoveButtons({ id, name }: Omit<HandleProps, "row">) {
  const w = useWords(sortableWords);
  const { ids, step } = useContext(StepsContext);
  return (
    <>
      <ActionIcon variant="subtle" color="gray" aria-label={w.up(name)} disabled={id === ids[0]} onClick={() => step(id, -1)}>
        <IconArrowUp size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={w.down(name)}
        disabled={id === ids.at(-1)}
        onClick={() => step(id, 1)}
      >
        <IconArrowDown size={16} aria-hidden />
      </ActionIcon>
    </>
  );
}
