import { Badge, Code, Group, Stack, Switch, Table, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask } from "~/api/client";
import { ProblemNote } from "~/parts/problem";
import { operationsWords } from "~/words/operations";
import { useWords } from "~/words/words";

export function SettingsTable() {
  const w = useWords(operationsWords);
  const settings = useQuery({ queryKey: ["settings"], queryFn: () => ask(api.GET("/v1/settings")) });
  const [filter, setFilter] = useState("");
  const [onlySet, setOnlySet] = useState(false);
  const shown = (settings.data ?? []).filter(
    ({ name, description, source }) =>
      `${name} ${description}`.toLowerCase().includes(filter.trim().toLowerCase()) && (!onlySet || source === "set"),
  );
  return (
    <Stack className="panel">
      <Text size="sm" c="dimmed">
        {w.settingsText}
      </Text>
      <Group>
        <TextInput aria-label={w.filter} placeholder={w.filter} value={filter} onChange={(event) => setFilter(event.currentTarget.value)} />
        <Switch label={w.onlySet} checked={onlySet} onChange={(event) => setOnlySet(event.currentTarget.checked)} />
      </Group>
      {settings.error && <ProblemNote problem={settings.error} />}
      <Table.ScrollContainer minWidth={560}>
        <Table aria-label={w.settings} fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{w.setting}</Table.Th>
              <Table.Th>{w.value}</Table.Th>
              <Table.Th>{w.source}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((setting) => (
              <Table.Tr key={setting.name}>
                <Table.Td>
                  <Code>{setting.name}</Code>
                  <Text size="xs" c="dimmed">
                    {setting.description}
                  </Text>
                </Table.Td>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{setting.value}</Table.Td>
                <Table.Td>
                  <Badge variant={setting.source === "set" ? "filled" : "default"}>{w[setting.source]}</Badge>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}
