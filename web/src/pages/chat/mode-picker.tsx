/** How the soul speaks in this conversation. */

import { Button, Menu, Text } from "@mantine/core";
import { IconCheck, IconChevronDown } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { readerOf, type Session } from "~/pages/chat/sessions";
import { showProblem } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";

const MODES = ["hybrid", "rational", "idol", "strict"] as const;
type Mode = (typeof MODES)[number];

function useMode(session: Session) {
  const query = { user_id: readerOf(useAccess()) };
  const params = { path: { session_id: session.session_id }, query };
  return useMutation({
    mutationFn: async (mode: Mode | null) => {
      if (mode === null) await ask(api.DELETE("/v1/sessions/{session_id}/persona-state", { params }));
      else await ask(api.PUT("/v1/sessions/{session_id}/persona-state", { params, body: { mode, mode_source: "user", notes: "" } }));
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [...keys.session(session.session_id, "itself")] }),
    onError: showProblem,
  });
}

export function ModePicker({ session }: { session: Session }) {
  const w = useWords(chatWords);
  const change = useMode(session);
  const { mode, ttl_turns: left, mode_source: source } = session.persona_state;
  const chosen = source !== "default";
  return (
    <Menu position="bottom-start" shadow="md" width={280}>
      <Menu.Target>
        <Button
          size="compact-xs"
          mih={24}
          variant={chosen ? "light" : "subtle"}
          color={chosen ? undefined : "gray"}
          rightSection={<IconChevronDown size={12} aria-hidden />}
          loading={change.isPending}
          aria-label={w.modeNow(w.modes[mode].name)}
        >
          {w.modes[mode].name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{chosen && left > 0 ? w.modeLasts(left) : w.mode}</Menu.Label>
        {MODES.map((one) => (
          <Menu.Item
            key={one}
            onClick={() => change.mutate(one)}
            rightSection={one === mode ? <IconCheck size={16} aria-label={w.chosen} /> : null}
          >
            {w.modes[one].name}
            <Text size="xs" c="dimmed">
              {w.modes[one].meaning}
            </Text>
          </Menu.Item>
        ))}
        {chosen && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => change.mutate(null)}>{w.modeDefault}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
