/** What lies ahead of people, what waits to be settled, and what is past. */

import { ActionIcon, Badge, Button, Group, Text } from "@mantine/core";
import { IconCheck, IconPencil, IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";

import { DeleteButton } from "~/pages/soul/delete-button";
import { Empty, Read, Section } from "~/pages/soul/section";
import { SharedBadge } from "~/pages/soul/sharing";
import css from "~/pages/soul/soul.module.css";
import { useWhen } from "~/pages/soul/when";
import { planWords } from "~/words/plans";
import { useWords } from "~/words/words";

import { PlanDialog } from "./plan-dialog";
import { grouped, type Plan, useChangePlan, useDeletePlan, usePlans } from "./use-plans";
import { useMayChange } from "./view";

export function Plans({ soulId }: { soulId: string }) {
  const w = useWords(planWords);
  const plans = usePlans(soulId);
  const [opened, setOpened] = useState<Plan | "new" | null>(null);
  const add = (
    <Button size="xs" variant="light" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setOpened("new")}>
      {w.add}
    </Button>
  );
  return (
    <Read query={plans}>
      {(data) => {
        const { upcoming, asking, past } = grouped(data);
        return (
          <div className={css.columns}>
            <Part title={w.upcoming} text={w.upcomingText} plans={upcoming} soulId={soulId} onEdit={setOpened} actions={add} />
            {asking.length > 0 && <Part title={w.asking} text={w.askingText} plans={asking} soulId={soulId} onEdit={setOpened} />}
            <Part title={w.past} plans={past} soulId={soulId} onEdit={setOpened} />
            {opened && <PlanDialog soulId={soulId} plan={opened === "new" ? null : opened} onClose={() => setOpened(null)} />}
          </div>
        );
      }}
    </Read>
  );
}

interface PartProps {
  title: string;
  text?: string;
  plans: Plan[];
  soulId: string;
  onEdit: (plan: Plan) => void;
  actions?: React.ReactNode;
}

function Part({ title, text, plans, soulId, onEdit, actions }: PartProps) {
  const w = useWords(planWords);
  return (
    <Section title={title} text={text} actions={actions}>
      {plans.length === 0 && <Empty>{w.nothing}</Empty>}
      <ul className={css.plain}>
        {plans.map((plan) => (
          <OnePlan key={plan.plan_id} soulId={soulId} plan={plan} onEdit={() => onEdit(plan)} />
        ))}
      </ul>
    </Section>
  );
}

/** A whole day as the person has named it, wherever the browser is. */
function dueOf(plan: Plan, due: string, when: ReturnType<typeof useWhen>): string {
  return plan.grain === "minute" || plan.grain === "part" ? when.time(due) : when.day(plan.local_due);
}

function OnePlan({ soulId, plan, onEdit }: { soulId: string; plan: Plan; onEdit: () => void }) {
  const w = useWords(planWords);
  const when = useWhen();
  const mayChange = useMayChange();
  const recurs = plan.recurs && ` · ${w.recurs[plan.recurs]}`;
  return (
    <li className={css.row}>
      <div className={css.grow}>
        <Text size="sm">{plan.content}</Text>
        <Group gap={6}>
          <Text size="xs" c="dimmed">
            {w.kind[plan.kind]} · {plan.due ? dueOf(plan, plan.due, when) : w.noTime}
            {recurs} · {plan.user_id}
          </Text>
          <Badge size="xs" variant="default" tt="none">
            {w.status[plan.status]}
          </Badge>
          <SharedBadge people={plan.shared_with} />
        </Group>
      </div>
      {mayChange(plan.user_id) && <Changes soulId={soulId} plan={plan} onEdit={onEdit} />}
    </li>
  );
}

function Changes({ soulId, plan, onEdit }: { soulId: string; plan: Plan; onEdit: () => void }) {
  const w = useWords(planWords);
  const change = useChangePlan(soulId);
  const remove = useDeletePlan(soulId);
  const isActive = plan.status === "open" || plan.status === "unsure";
  const set = (status: "open" | "cancelled") => change.mutate({ plan, body: { status } });
  return (
    <Group gap={2} wrap="nowrap">
      {plan.status === "unsure" && plan.due && (
        <ActionIcon variant="subtle" aria-label={w.confirm} onClick={() => set("open")}>
          <IconCheck size={16} aria-hidden />
        </ActionIcon>
      )}
      <ActionIcon variant="subtle" color="gray" aria-label={w.edit(plan.content)} onClick={onEdit}>
        <IconPencil size={16} aria-hidden />
      </ActionIcon>
      {isActive ? (
        <ActionIcon variant="subtle" color="gray" aria-label={w.cancel(plan.content)} onClick={() => set("cancelled")}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      ) : (
        <DeleteButton
          question={w.removeAsk}
          label={w.remove(plan.content)}
          loading={remove.isPending}
          onConfirm={() => remove.mutate(plan)}
        />
      )}
    </Group>
  );
}
