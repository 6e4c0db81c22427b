import { Group, Select, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { FormDialog } from "~/parts/dialog";
import { showProblem } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { planWords } from "~/words/plans";
import { useWords } from "~/words/words";

import { type Plan, useChangePlan } from "./use-plans";

type Kind = Plan["kind"];
type Recurs = Plan["recurs"];

interface PlanDialogProps {
  soulId: string;
  /** None for a new one. */
  plan: Plan | null;
  onClose: () => void;
}

export function PlanDialog({ soulId, plan, onClose }: PlanDialogProps) {
  const w = useWords(planWords);
  const common = useWords(commonWords);
  const known = plan?.local_due.slice(0, 16) ?? "";
  const [content, setContent] = useState(plan?.content ?? "");
  const [at, setAt] = useState(known);
  const [kind, setKind] = useState<Kind>(plan?.kind ?? "reminder");
  const [recurs, setRecurs] = useState<Recurs>(plan?.recurs ?? "");
  const create = useCreatePlan(soulId, onClose);
  const change = useChangePlan(soulId, onClose);
  const moved = at !== known || recurs !== (plan?.recurs ?? "");
  const save = () =>
    plan
      ? change.mutate({ plan, body: { content: content.trim(), ...(moved && { at, recurs }) } })
      : create.mutate({ content: content.trim(), at, kind, recurs });
  return (
    <FormDialog
      title={plan ? w.edit(plan.content) : w.add}
      submit={common.save}
      pending={create.isPending || change.isPending}
      ready={content.trim() !== "" && at !== ""}
      changed={content !== (plan?.content ?? "") || moved}
      onSubmit={save}
      onClose={onClose}
    >
      <Textarea
        label={w.what}
        value={content}
        maxLength={500}
        autosize
        onChange={(event) => setContent(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput type="datetime-local" label={w.at} value={at} onChange={(event) => setAt(event.currentTarget.value)} />
      <Group grow>
        {!plan && <Choice label={w.kindLabel} names={w.kind} value={kind} onChange={setKind} />}
        <Choice label={w.recursLabel} names={w.recurs} value={recurs} onChange={setRecurs} />
      </Group>
      {plan?.zone && (
        <Text size="xs" c="dimmed">
          {w.inZone(plan.zone)}
        </Text>
      )}
    </FormDialog>
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  names: Record<Value, string>;
  value: Value;
  onChange: (value: Value) => void;
}

function Choice<Value extends string>({ label, names, value, onChange }: ChoiceProps<Value>) {
  const data = Object.entries<string>(names).map(([key, name]) => ({ value: key, label: name }));
  return <Select label={label} data={data} value={value} allowDeselect={false} onChange={(key) => onChange(key as Value)} />;
}

interface Wanted {
  content: string;
  at: string;
  kind: Kind;
  recurs: Recurs;
}

function useCreatePlan(soulId: string, onDone: () => void) {
  const { person } = useAccess();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Wanted) => {
      const params = { path: { soul_id: soulId }, query: { user_id: person } };
      return ask(api.POST("/v1/souls/{soul_id}/plans", { params, body: { ...body, grain: "minute", shared_with: [] } }));
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId, "plans") });
      onDone();
    },
    onError: showProblem,
  });
}
