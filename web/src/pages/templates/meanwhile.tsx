/** Somebody else has saved or deleted the template meanwhile. What is different is shown, and whoever saves last decides. */

import { Badge, Button, Group, Text } from "@mantine/core";
import { useNavigate } from "react-router";

import { Dialog } from "~/parts/dialog";
import { UNGUARDED } from "~/parts/leave";
import { leaveWords } from "~/words/leave";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { type Difference, differences } from "./differences";
import { bodyOf, draftOf, type Layer, type Stored } from "./draft";
import { useCreate } from "./queries";
import styles from "./templates.module.css";
import type { Drafting } from "./use-draft";

export function Meanwhile({ drafting }: { drafting: Drafting }) {
  const { meanwhile } = drafting.saving;
  if (!meanwhile) return null;
  return meanwhile.theirs ? <Changed drafting={drafting} theirs={meanwhile.theirs} /> : <Deleted drafting={drafting} />;
}

function Changed({ drafting, theirs }: { drafting: Drafting; theirs: Stored }) {
  const w = useWords(templateWords);
  const leave = useWords(leaveWords);
  const { draft, untouched, saving } = drafting;
  const found = differences(untouched, draft, draftOf(theirs));
  return (
    <Dialog opened onClose={() => saving.settle()} title={leave.conflictTitle} size="lg">
      <Text size="sm">{found.length > 0 ? w.changedMeanwhile : w.changedUnseen}</Text>
      <ul className={styles.differences}>
        {found.map((one) => (
          <DifferenceRow key={`${one.field} ${one.of}`} difference={one} />
        ))}
      </ul>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => drafting.takeTheirs(theirs)}>
          {leave.takeTheirs}
        </Button>
        <Button onClick={() => saving.save(draft, theirs.revision)} loading={saving.isPending}>
          {leave.keepMine}
        </Button>
      </Group>
    </Dialog>
  );
}

function DifferenceRow({ difference: { field, of, mine, theirs, by } }: { difference: Difference }) {
  const w = useWords(templateWords);
  const layerName = (layer: string) => w.layerName(Number(layer), w.layers[Number(layer) as Layer]);
  const said = (value: string | null): string => {
    if (value === null) return w.notThere;
    if (field === "enabled") return value === "true" ? w.isOn : w.off;
    if (field === "kind") return value === "template" ? w.withVariables : w.asIs;
    if (field === "voice") return w.voices[value as Stored["voice"]];
    return field === "layer" ? layerName(value) : value;
  };
  return (
    <li>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {[field === "order" ? layerName(of) : of, w.fields[field]].filter(Boolean).join(" · ")}
        </Text>
        <Badge size="sm" variant="light" color="gray" tt="none">
          {w.changedBy[by]}
        </Badge>
      </Group>
      <dl>
        {[[w.mine, mine] as const, [w.theirs, theirs] as const].map(([whose, value]) => (
          <div key={whose}>
            <dt>{whose}</dt>
            <dd>{said(value)}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

function Deleted({ drafting: { draft, saving } }: { drafting: Drafting }) {
  const w = useWords(templateWords);
  const navigate = useNavigate();
  const create = useCreate(() => saving.settle(), UNGUARDED);
  return (
    <Dialog opened onClose={() => saving.settle()} title={w.deletedTitle}>
      <Text size="sm" mb="md">
        {w.deletedMeanwhile}
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => void navigate("/prompt-templates", UNGUARDED)}>
          {w.leaveDeleted}
        </Button>
        <Button onClick={() => create.mutate(bodyOf(draft))} loading={create.isPending}>
          {w.saveAsNew}
        </Button>
      </Group>
    </Dialog>
  );
}
