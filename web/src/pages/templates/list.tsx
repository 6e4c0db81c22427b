/** The templates: those that ship, then one's own. A narrow screen has them in a select. */

import { Button, Group, Select, Stack, Text, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";

import { useAccess } from "~/access";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import type { Stored } from "./draft";
import { NewTemplate } from "./new-template";
import { pathOf } from "./queries";
import styles from "./templates.module.css";

export function TemplateList({ all, chosen }: { all: Stored[]; chosen: string | undefined }) {
  const w = useWords(templateWords);
  const groups = [
    { title: w.shippedOnes, templates: all.filter((one) => one.shipped), empty: "" },
    { title: w.ownOnes, templates: all.filter((one) => !one.shipped), empty: w.noOwn },
  ];
  return (
    <nav className={styles.list} aria-label={w.list}>
      <NewButton all={all} />
      {groups.map(({ title, templates, empty }) => (
        <Stack key={title} gap={2}>
          <Title order={2} size="xs" c="dimmed" px={10} py={4}>
            {title}
          </Title>
          {templates.map((one) => (
            <Link
              key={one.id}
              to={pathOf(one.id)}
              className={styles.link}
              aria-current={one.id === chosen ? "page" : undefined}
            >
              <Text size="sm" truncate>
                {one.name}
              </Text>
              <Text size="xs" c="dimmed" truncate>
                {w.voices[one.voice]} · {one.modules.length}
              </Text>
            </Link>
          ))}
          {templates.length === 0 && (
            <Text size="xs" c="dimmed" px={10}>
              {empty}
            </Text>
          )}
        </Stack>
      ))}
    </nav>
  );
}

export function TemplateSelect({ all, chosen }: { all: Stored[]; chosen: string | undefined }) {
  const w = useWords(templateWords);
  const navigate = useNavigate();
  return (
    <Group gap="xs" wrap="nowrap">
      <Select
        aria-label={w.list}
        style={{ flex: 1 }}
        data={[
          { group: w.shippedOnes, items: options(all.filter((one) => one.shipped)) },
          { group: w.ownOnes, items: options(all.filter((one) => !one.shipped)) },
        ]}
        value={chosen ?? null}
        allowDeselect={false}
        onChange={(id) => id && void navigate(pathOf(id))}
      />
      <NewButton all={all} />
    </Group>
  );
}

const options = (templates: Stored[]) => templates.map((one) => ({ value: one.id, label: one.name }));

function NewButton({ all }: { all: Stored[] }) {
  const w = useWords(templateWords);
  const access = useAccess();
  const [asked, setAsked] = useState(false);
  if (!access.isServerOwner) return null;
  return (
    <>
      <Button size="xs" variant="light" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setAsked(true)} className={styles.keep}>
        {w.newTemplate}
      </Button>
      {asked && <NewTemplate all={all} onClose={() => setAsked(false)} />}
    </>
  );
}
