/** What is not saved yet. If two people have changed the same thing, it is said, and whoever saves last decides. */

import { Badge, Button, Group, Text } from "@mantine/core";

import { Dialog } from "~/parts/dialog";
import { leaveWords } from "~/words/leave";
import { useWords } from "~/words/words";

/** Something that is edited here and stored there. */
interface Editing {
  unsaved: boolean;
  discard: () => void;
  overwrite: () => Promise<unknown>;
  takeTheirs: () => Promise<unknown>;
  saving: { conflict: boolean; isPending: boolean; settle: () => void };
}

/** Says that there is something to save, and lets it be taken back. */
export function Unsaved({ editing: { unsaved, discard } }: { editing: Pick<Editing, "unsaved" | "discard"> }) {
  const w = useWords(leaveWords);
  return unsaved && (
    <>
      <Badge color="orange" variant="light" data-testid="unsaved">
        {w.unsaved}
      </Badge>
      <Button size="compact-xs" variant="subtle" color="gray" onClick={discard}>
        {w.discard}
      </Button>
    </>
  );
}

export function Conflict({ editing: { saving, overwrite, takeTheirs } }: { editing: Editing }) {
  const w = useWords(leaveWords);
  return (
    <Dialog opened={saving.conflict} onClose={saving.settle} title={w.conflictTitle}>
      <Text size="sm" mb="md">
        {w.conflict}
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => void takeTheirs()}>
          {w.takeTheirs}
        </Button>
        <Button onClick={() => void overwrite()} loading={saving.isPending}>
          {w.keepMine}
        </Button>
      </Group>
    </Dialog>
  );
}

export function ChangedElsewhere({ shown }: { shown: boolean }) {
  const w = useWords(leaveWords);
  return (
    <div role="status">
      {shown && (
        <Text size="xs" c="orange">
          {w.elsewhere}
        </Text>
      )}
    </div>
  );
}
