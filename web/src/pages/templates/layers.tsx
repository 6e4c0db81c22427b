/** The modules by layer, between the parts of a prompt that no template can change. */

import { useSortable } from "@dnd-kit/sortable";
import { ActionIcon, Group, Text, Title, Tooltip } from "@mantine/core";
import { IconLock, IconPlus, IconSparkles } from "@tabler/icons-react";

import { Sortable } from "~/parts/sortable";
import { sortableWords } from "~/words/sortable";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { added, addedByItself, type Draft, headOf, type Layer, LAYERS, modulesOf, MOST_MODULES, moved, rows } from "./draft";
import type { Leftovers } from "./leftovers-note";
import type { Mistakes } from "./mistakes";
import type { Editing } from "./module-form";
import { ModuleRow } from "./module-row";
import styles from "./templates.module.css";
import type { Size } from "./use-preview";

interface LayersProps extends Editing {
  mistakes: Mistakes;
  leftovers: Leftovers;
  sizes: Record<string, Size>;
  openKey: string | null;
  onOpen: (key: string | null) => void;
}

export function Layers({ mistakes, leftovers, sizes, openKey, onOpen, ...editing }: LayersProps) {
  const w = useWords(templateWords);
  const { draft, edit } = editing;
  const { placeOf } = useWords(sortableWords);
  const nameOf = useNames(draft);
  return (
    <>
      <Fixed names={[w.fixedBefore]} />
      <Sortable
        ids={rows(draft)}
        nameOf={nameOf}
        placeOf={(id) => placeOf(nameOf(id))}
        onMove={(id, over) => edit(moved(draft, id, over))}
      >
        <ul className={styles.modules} aria-label={w.title}>
          {LAYERS.flatMap((layer) => [
            <Head key={headOf(layer)} layer={layer} {...editing} onOpen={onOpen} />,
            ...modulesOf(draft, layer).map((module) => (
              <ModuleRow
                key={module.key}
                module={module}
                mistakes={mistakes.modules[module.key] ?? []}
                leftovers={leftovers[module.key] ?? []}
                size={sizes[module.key]}
                isOpen={module.key === openKey}
                onOpen={onOpen}
                {...editing}
              />
            )),
          ])}
        </ul>
      </Sortable>
      <Fixed names={[w.fixedContract, w.fixedConversation, w.fixedInput]} />
    </>
  );
}

/** The head of a layer is a row too, so that a module can be moved behind it. */
function Head({ layer, draft, edit, readOnly, onOpen }: { layer: Layer } & Pick<LayersProps, "draft" | "edit" | "readOnly" | "onOpen">) {
  const w = useWords(templateWords);
  const sortable = useSortable({ id: headOf(layer), disabled: { draggable: true } });
  const name = w.layers[layer];
  const full = draft.modules.length >= MOST_MODULES;
  const add = () => {
    const grown = added(draft, layer, w.newModule);
    edit(grown.draft);
    onOpen(grown.key);
  };
  return (
    <li ref={sortable.setNodeRef} className={styles.head}>
      <Group gap="xs" wrap="nowrap" justify="space-between">
        <Title order={2} size="h6" className={styles.layer}>
          <span className={styles.number}>{layer}</span> {name}
        </Title>
        {!readOnly && (
          <Tooltip label={full ? w.tooMany(MOST_MODULES) : w.addModule}>
            <ActionIcon variant="subtle" size="sm" aria-label={w.addModuleTo(name)} aria-disabled={full} onClick={() => !full && add()}>
              <IconPlus size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
      {modulesOf(draft, layer).length === 0 && !readOnly && (
        <Text size="xs" c="dimmed" pb={4}>
          {w.emptyLayer}
        </Text>
      )}
      {addedByItself(draft, layer).map((variable) => (
        <Group key={variable} gap={6} wrap="nowrap" className={styles.byItself}>
          <IconSparkles size={14} aria-hidden />
          <Text size="xs">
            <code>{`{{${variable}}}`}</code> {w.byItself}
          </Text>
        </Group>
      ))}
    </li>
  );
}

function Fixed({ names }: { names: string[] }) {
  const w = useWords(templateWords);
  return names.map((name) => (
    <Tooltip key={name} label={w.fixedHint} position="left">
      <div className={styles.fixed}>
        <IconLock size={14} aria-hidden />
        <Text size="sm">{name}</Text>
        <Text size="xs" ml="auto">
          {w.fixed}
        </Text>
      </div>
    </Tooltip>
  ));
}

/** What a row is called: a module by its name, and the head of a layer by the layer's. */
function useNames(draft: Draft): (id: string) => string {
  const w = useWords(templateWords);
  return (id) => {
    const layer = LAYERS.find((one) => headOf(one) === id);
    if (layer) return w.layerName(layer, w.layers[layer]);
    return draft.modules.find((module) => module.key === id)?.name ?? "";
  };
}
