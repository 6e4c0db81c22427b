/** The id and the soul of the robot. */

import { Select, Stack, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";

import { useSouls } from "~/parts/soul-picker";
import { useSelectSoul } from "~/robot/binding";
import { useRobot } from "~/robot/store";
import { isTerminalId } from "~/robot/topics";
import { robotWords } from "~/words/robot";
import { useWords } from "~/words/words";

export function RobotSettings() {
  return (
    <Stack gap="xs">
      <IdField />
      <SoulField />
    </Stack>
  );
}

/** Another id is another terminal, so it is taken when it is typed to its end. */
function IdField() {
  const w = useWords(robotWords);
  const { terminalId, setTerminalId } = useRobot();
  const [typed, setTyped] = useState(terminalId);
  useEffect(() => setTyped(terminalId), [terminalId]);
  const valid = isTerminalId(typed.trim());
  const take = () => valid && setTerminalId(typed.trim());
  return (
    <TextInput
      size="xs"
      label={w.id}
      value={typed}
      error={valid ? undefined : w.idHint}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => event.key === "Enter" && !event.nativeEvent.isComposing && take()}
    />
  );
}

function SoulField() {
  const w = useWords(robotWords);
  const souls = useSouls();
  const select = useSelectSoul();
  const { terminalId, online, state } = useRobot();
  return (
    <Select
      size="xs"
      label={w.soul}
      placeholder={online && state.bound === false ? w.unbound : undefined}
      data={(souls.data ?? []).map((soul) => ({ value: soul.soul_id, label: `${soul.name} · ${soul.mbti_type}` }))}
      value={state.soulId}
      onChange={(soulId) => soulId && select.mutate({ terminalId, soulId })}
      disabled={!online}
      allowDeselect={false}
      searchable
    />
  );
}
