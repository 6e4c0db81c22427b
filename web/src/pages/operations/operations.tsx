import { Alert, Button, Stack, Tabs, Title } from "@mantine/core";
import { Link, useNavigate, useParams } from "react-router";

import { useAccess } from "~/access";
import { Doctor } from "~/pages/operations/doctor";
import { Jobs } from "~/pages/operations/jobs";
import { Keys } from "~/pages/operations/keys";
import { Overview } from "~/pages/operations/overview";
import { SettingsTable } from "~/pages/operations/settings";
import { commonWords } from "~/words/common";
import { operationsWords } from "~/words/operations";
import { useWords } from "~/words/words";

const TABS = { overview: Overview, jobs: Jobs, doctor: Doctor, settings: SettingsTable, keys: Keys } as const;

export default function Operations() {
  const w = useWords(operationsWords);
  const common = useWords(commonWords);
  const { isServerOwner } = useAccess();
  const { tab = "overview" } = useParams();
  const navigate = useNavigate();
  return (
    <Stack p="md" gap="md">
      <Title order={1} size="h3">
        {w.title}
      </Title>
      {isServerOwner ? (
        <Tabs value={tab in TABS ? tab : "overview"} onChange={(name) => void navigate(`/operations/${name}`)} keepMounted={false}>
          <Tabs.List mb="md">
            {(Object.keys(TABS) as (keyof typeof TABS)[]).map((name) => (
              <Tabs.Tab key={name} value={name}>
                {w[name]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {Object.entries(TABS).map(([name, Panel]) => (
            <Tabs.Panel key={name} value={name}>
              <Panel />
            </Tabs.Panel>
          ))}
        </Tabs>
      ) : (
        <Alert color="yellow">
          <Stack gap="xs" align="flex-start">
            {w.notAllowed}
            <Button component={Link} to="/chat" size="xs" variant="light">
              {common.home}
            </Button>
          </Stack>
        </Alert>
      )}
    </Stack>
  );
}
