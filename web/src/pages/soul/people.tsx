/** Whom a soul knows, and what they are to each other. */

import { Badge, Button, Group, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { FormDialog } from "~/parts/dialog";
import { LimitedInput } from "~/parts/limited";
import { excessOf } from "~/parts/limits";
import { showProblem } from "~/parts/problem";
import { usePreferences } from "~/preferences";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { ForgetPerson } from "./forget-dialog";
import { useRelations } from "./person";
import { Empty, Read } from "./section";
import type { OfSoul } from "./soul";
import css from "./soul.module.css";
import { useWhen } from "./when";

type Relation = Schemas["RelationOut"];
type Open = { person: Relation; what: "edit" | "forget" } | null;

export function People({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const relations = useRelations(soul.soul_id);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {w.relationsText}
      </Text>
      <Read query={relations}>
        {(data) =>
          data.length === 0 ? (
            <Empty>{w.noRelations}</Empty>
          ) : (
            <div className={css.columns}>
              {data.map((person) => (
                <Person key={person.user_id} person={person} onOpen={(what) => setOpen({ person, what })} />
              ))}
            </div>
          )
        }
      </Read>
      {open?.what === "edit" && <EditRelation soulId={soul.soul_id} person={open.person} onClose={close} />}
      {open?.what === "forget" && (
        <ForgetPerson soulId={soul.soul_id} userId={open.person.user_id} onClose={close} />
      )}
    </>
  );
}

interface PersonProps {
  person: Relation;
  onOpen: (what: "edit" | "forget") => void;
}

function Person({ person, onOpen }: PersonProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const when = useWhen();
  const { actsForAnybody, userId } = useAccess();
  const setUserId = usePreferences((state) => state.setUserId);
  const facts = [
    { name: w.address, value: person.address ?? w.addressUnknown },
    { name: w.bond, value: person.bond || w.bondNone },
    { name: w.since, value: when.day(person.since) },
    ...(person.inner_state ? [{ name: w.feels, value: person.inner_state }] : []),
  ];
  return (
    <section className="panel" aria-label={person.user_id}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5" style={{ overflowWrap: "anywhere" }}>
          {person.user_id}
        </Title>
        {userId === person.user_id && <Badge variant="light">{w.shown}</Badge>}
      </Group>
      {facts.map(({ name, value }) => (
        <Text key={name} size="sm" lineClamp={4}>
          <Text span c="dimmed" size="sm">
            {name}:
          </Text>{" "}
          {value}
        </Text>
      ))}
      <Group gap="xs" mt="sm">
        {actsForAnybody && userId !== person.user_id && (
          <Button size="compact-sm" variant="light" onClick={() => setUserId(person.user_id)}>
            {w.choosePerson}
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="default"
          aria-label={w.editRelation(person.user_id)}
          onClick={() => onOpen("edit")}
        >
          {common.edit}
        </Button>
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          aria-label={w.forgetNamed(person.user_id)}
          onClick={() => onOpen("forget")}
        >
          {w.forget}
        </Button>
      </Group>
    </section>
  );
}

const MOST_OF_ADDRESS = 80;
const MOST_OF_BOND = 200;

interface EditProps {
  soulId: string;
  person: Relation;
  onClose: () => void;
}

function EditRelation({ soulId, person, onClose }: EditProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const client = useQueryClient();
  const [address, setAddress] = useState(person.address ?? "");
  const [bond, setBond] = useState(person.bond);
  const params = { path: { soul_id: soulId, user_id: person.user_id } };
  const body = { address: address.trim() || null, bond: bond.trim() };
  const save = useMutation({
    mutationFn: () => ask(api.PUT("/v1/souls/{soul_id}/relations/{user_id}", { params, body })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId) });
      onClose();
    },
    onError: showProblem,
  });
  return (
    <FormDialog
      title={w.editRelation(person.user_id)}
      submit={common.save}
      pending={save.isPending}
      ready={excessOf(address, MOST_OF_ADDRESS) + excessOf(bond, MOST_OF_BOND) === 0}
      changed={address !== (person.address ?? "") || bond !== person.bond}
      onSubmit={save.mutate}
      onClose={onClose}
    >
      <LimitedInput
        label={w.address}
        value={address}
        most={MOST_OF_ADDRESS}
        onChange={(event) => setAddress(event.currentTarget.value)}
        data-autofocus
      />
      <LimitedInput
        label={w.bond}
        value={bond}
        most={MOST_OF_BOND}
        onChange={(event) => setBond(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
