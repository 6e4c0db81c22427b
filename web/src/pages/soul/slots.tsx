/** What a soul keeps of a person in its hundred slots, by kind. */

import { ActionIcon, Group, Stack, Text, Title, Tooltip } from "@mantine/core";
import { IconPencil, IconPlus } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { showProblem } from "~/parts/problem";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { DeleteButton } from "./delete-button";
import { Empty, Read, Section } from "./section";
import { SharedBadge } from "./sharing";
import { SlotDialog } from "./slot-dialog";
import { freeSlot, KINDS, type Slot, type SlotKind } from "./slot-numbers";
import css from "./soul.module.css";
import { useWhen } from "./when";

export function useSlots(soulId: string) {
  const { person } = useAccess();
  const query = { user_id: person };
  return useQuery({
    queryKey: keys.soul(soulId, "slots", person),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/slots", { params: { path: { soul_id: soulId }, query } })),
  });
}

/** The slot that is open in the dialog: its number, and what it holds. */
interface Opened {
  n: number;
  slot: Slot | null;
}

export function Slots({ soulId }: { soulId: string }) {
  const w = useWords(soulWords);
  const { userId } = useAccess();
  const slots = useSlots(soulId);
  const [opened, setOpened] = useState<Opened | null>(null);
  return (
    <Section title={w.slots} text={w.slotsText(userId)}>
      <Read query={slots}>
        {(data) => (
          <Stack gap="md">
            {KINDS.map(({ kind }) => (
              <OfKind key={kind} soulId={soulId} kind={kind} slots={data} onOpen={setOpened} />
            ))}
          </Stack>
        )}
      </Read>
      {opened && <SlotDialog soulId={soulId} {...opened} onClose={() => setOpened(null)} />}
    </Section>
  );
}

interface OfKindProps {
  soulId: string;
  kind: SlotKind;
  slots: Slot[];
  onOpen: (opened: Opened) => void;
}

function OfKind({ soulId, kind, slots, onOpen }: OfKindProps) {
  const w = useWords(soulWords);
  const { first, last } = KINDS.find((one) => one.kind === kind)!;
  const held = slots.filter((slot) => slot.kind === kind);
  const free = freeSlot(kind, held.map((slot) => slot.n));
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Title order={3} size="h6">
          {w.kind[kind]}{" "}
          <Text span size="xs" c="dimmed" fw={400}>
            {w.count(held.length, last - first + 1)}
          </Text>
        </Title>
        {free === undefined ? (
          <Empty>{w.slotsFull}</Empty>
        ) : (
          <ActionIcon variant="subtle" aria-label={w.addSlot(w.kind[kind])} onClick={() => onOpen({ n: free, slot: null })}>
            <IconPlus size={16} aria-hidden />
          </ActionIcon>
        )}
      </Group>
      <ul className={css.plain}>
        {held.map((slot) => (
          <OneSlot key={slot.n} soulId={soulId} slot={slot} onEdit={() => onOpen({ n: slot.n, slot })} />
        ))}
      </ul>
    </div>
  );
}

function OneSlot({ soulId, slot, onEdit }: { soulId: string; slot: Slot; onEdit: () => void }) {
  const w = useWords(soulWords);
  const when = useWhen();
  const remove = useDeleteSlot(soulId);
  return (
    <li className={css.row}>
      <Tooltip label={`${w.slotNumber} ${slot.n}`}>
        <span className={css.level}>{slot.n}</span>
      </Tooltip>
      <div className={css.grow}>
        <Text size="sm">{slot.content}</Text>
        <Group gap={6}>
          <Text size="xs" c="dimmed">
            {w.updated(when.time(slot.updated_at))}
          </Text>
          <SharedBadge people={slot.shared_with} />
        </Group>
      </div>
      <ActionIcon variant="subtle" color="gray" aria-label={w.editSlot(slot.n)} onClick={onEdit}>
        <IconPencil size={16} aria-hidden />
      </ActionIcon>
      <DeleteButton
        question={w.deleteSlotAsk}
        label={w.deleteSlot(slot.n)}
        loading={remove.isPending}
        onConfirm={() => remove.mutate(slot.n)}
      />
    </li>
  );
}

function useDeleteSlot(soulId: string) {
  const { person } = useAccess();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (n: number) => {
      const params = { path: { soul_id: soulId, n }, query: { user_id: person } };
      return ask(api.DELETE("/v1/souls/{soul_id}/slots/{n}", { params }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keys.soul(soulId) }),
    onError: showProblem,
  });
}
