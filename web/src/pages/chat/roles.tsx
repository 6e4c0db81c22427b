/** Who speaks to whom and where, as far as there is a choice: people and souls of a group, terminals of the soul. */

import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import type { Soul } from "~/pages/chat/scene";
import { peopleOf, type Session, soulsOf } from "~/pages/chat/sessions";
import { useSouls } from "~/parts/soul-picker";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

/** What was chosen; what was not is the usual. */
export interface RoleChoice {
  person?: string;
  soulId?: string;
  /** "": at none. */
  terminalId?: string;
}

export interface Roles {
  person: string | undefined;
  soulId: string;
  terminalId: string | undefined;
}

function useTerminals(soulId: string) {
  const terminals = useQuery({ queryKey: keys.terminals, queryFn: () => ask(api.GET("/v1/terminals")) });
  return (terminals.data ?? []).filter((terminal) => terminal.soul_id === soulId);
}

/** Said at a terminal of the soul that is there, so that it can act; elsewhere it only talks. */
export function useRoles(soul: Soul, session: Session | undefined, choice: RoleChoice): Roles {
  const access = useAccess();
  const people = session ? peopleOf(session) : [];
  const usual = people.includes(access.userId) ? access.userId : (session?.user_id ?? access.userId);
  const soulId = choice.soulId ?? session?.soul_id ?? soul.soul_id;
  const present = useTerminals(soulId).find((terminal) => terminal.online)?.terminal_id;
  return {
    person: access.actsForAnybody ? (choice.person ?? usual) : undefined,
    soulId,
    terminalId: (choice.terminalId ?? present) || undefined,
  };
}

interface PickersProps {
  session: Session | undefined;
  roles: Roles;
  onChange: (choice: RoleChoice) => void;
}

export function RolePickers({ session, roles, onChange }: PickersProps) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const access = useAccess();
  const all = useSouls().data ?? [];
  const people = session ? peopleOf(session) : [];
  const souls = session ? soulsOf(session) : [];
  const terminals = useTerminals(roles.soulId);
  const soulName = (soulId: string) => all.find((soul) => soul.soul_id === soulId)?.name ?? soulId;
  return (
    <>
      {access.actsForAnybody && people.length > 1 && (
        <Picker
          label={common.personPicker}
          value={roles.person ?? ""}
          data={people.map((person) => ({ value: person, label: person }))}
          onChange={(person) => onChange({ person })}
        />
      )}
      {souls.length > 1 && (
        <Picker
          label={w.toWhom}
          value={roles.soulId}
          data={souls.map((soulId) => ({ value: soulId, label: soulName(soulId) }))}
          onChange={(soulId) => onChange({ soulId })}
        />
      )}
      {terminals.length > 0 && (
        <Picker
          label={w.saidAt}
          value={roles.terminalId ?? ""}
          data={[
            { value: "", label: w.nowhere },
            ...terminals.map((terminal) => ({
              value: terminal.terminal_id,
              label: terminal.online ? `● ${terminal.terminal_id}` : terminal.terminal_id,
            })),
          ]}
          onChange={(terminalId) => onChange({ terminalId })}
        />
      )}
    </>
  );
}

interface PickerProps {
  label: string;
  value: string;
  data: { value: string; label: string }[];
  onChange: (value: string) => void;
}

function Picker({ label, value, data, onChange }: PickerProps) {
  return (
    <label className={c.role}>
      {label}
      <NativeSelect size="xs" variant="unstyled" value={value} data={data} onChange={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}
