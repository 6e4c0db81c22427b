/** One terminal: whether it is there, whose soul it carries, and what it can do. */

import { Badge, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { TerminalBinding } from "~/pages/terminals/terminal-binding";
import { agoWords, type Terminal } from "~/pages/terminals/use-terminals";
import { ConfirmButton } from "~/parts/confirm";
import { JsonTree } from "~/parts/json-tree";
import { Presence } from "~/parts/presence";
import { showDone, showProblem } from "~/parts/problem";
import { usePreferences } from "~/preferences";
import { useRobot } from "~/robot/store";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

export function TerminalAbout({ terminal, onIntents }: { terminal: Terminal; onIntents: () => void }) {
  const w = useWords(terminalWords);
  const lang = usePreferences((state) => state.lang);
  const { isTerminal } = useAccess();
  const seen = terminal.last_seen ? w.lastSeen(agoWords(lang, terminal.last_seen)) : w.neverSeen;
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start">
        <div style={{ minWidth: 0 }}>
          <Title order={2} size="h4" style={{ overflowWrap: "anywhere" }}>
            {terminal.terminal_id}
          </Title>
          <Group gap="xs" mt={4}>
            <Presence state={terminal.online ? "online" : "off"} data-testid="presence">
              {terminal.online ? w.online : w.offline}
            </Presence>
            <Text size="xs" c="dimmed">
              {seen}
            </Text>
          </Group>
        </div>
        {isTerminal && <DeleteTerminal terminalId={terminal.terminal_id} />}
      </Group>
      <TerminalBinding terminal={terminal} />
      <Intents terminal={terminal} onOpen={onIntents} />
      <Skills terminal={terminal} />
    </Stack>
  );
}

function DeleteTerminal({ terminalId }: { terminalId: string }) {
  const w = useWords(terminalWords);
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () =>
      ask(api.DELETE("/v1/terminals/{terminal_id}", { params: { path: { terminal_id: terminalId } } })),
    onMutate: () => {
      const robot = useRobot.getState(); // it would come back with its next report
      if (robot.terminalId === terminalId) robot.setEnabled(false);
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: keys.terminals });
      showDone(w.deleted);
      void navigate("/terminals");
    },
    onError: showProblem,
  });
  return (
    <ConfirmButton question={w.deleteQuestion(terminalId)} onConfirm={() => remove.mutate()} loading={remove.isPending}>
      {w.deleteIt}
    </ConfirmButton>
  );
}

function Intents({ terminal, onOpen }: { terminal: Terminal; onOpen: () => void }) {
  const w = useWords(terminalWords);
  const { intent_catalog: intents, catalog_version: version } = terminal;
  return (
    <section>
      <Title order={3} size="h6" mb={6}>
        {w.intents(intents.length, version)}
      </Title>
      {intents.length === 0 && (
        <Text size="sm" c="dimmed" mb={6}>
          {w.noIntents}
        </Text>
      )}
      <Group gap={6}>
        {intents.slice(0, 60).map((intent) => (
          <Badge key={String(intent.id)} variant="light" tt="none" fw={500} title={String(intent.id)}>
            {String(intent.name)}
          </Badge>
        ))}
        <Button size="compact-xs" variant="subtle" onClick={onOpen}>
          {w.catalog.title}
        </Button>
      </Group>
    </section>
  );
}

function Skills({ terminal }: { terminal: Terminal }) {
  const w = useWords(terminalWords);
  return (
    <section>
      <Title order={3} size="h6" mb={6}>
        {w.skills(terminal.skills.length, terminal.skill_version)}
      </Title>
      {terminal.skills.length === 0 && (
        <Text size="sm" c="dimmed">
          {w.noSkills}
        </Text>
      )}
      <Stack gap="xs">
        {terminal.skills.map((skill) => (
          <div key={String(skill.name)}>
            <Text size="sm" fw={600} ff="monospace">
              {String(skill.name)}
            </Text>
            <Text size="sm" c="dimmed">
              {String(skill.description ?? "")}
            </Text>
            <JsonTree name={w.arguments} value={skill.input_schema} open={0} />
          </div>
        ))}
      </Stack>
    </section>
  );
}
