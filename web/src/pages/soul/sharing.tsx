/** Who else may know of something: nobody, some people, or everybody. */

import { Badge, Checkbox, Stack, TagsInput } from "@mantine/core";

import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { usePeople } from "./person";

export const EVERYBODY = "*";

export function SharedBadge({ people }: { people: string[] }) {
  const w = useWords(soulWords);
  if (people.length === 0) return null;
  const names = people.includes(EVERYBODY) ? w.everybody : people.join(", ");
  return (
    <Badge size="sm" variant="light" tt="none" style={{ maxWidth: "100%" }}>
      {w.sharedWith(names)}
    </Badge>
  );
}

interface SharingProps {
  soulId: string;
  value: string[];
  onChange: (people: string[]) => void;
  /** Whose it is: they know it anyway. */
  except: string;
}

export function SharingInput({ soulId, value, onChange, except }: SharingProps) {
  const w = useWords(soulWords);
  const known = usePeople(soulId).filter((person) => person !== except);
  const withAll = value.includes(EVERYBODY);
  return (
    <Stack gap={6}>
      <TagsInput
        label={w.sharing}
        description={w.sharingHint}
        data={known}
        value={withAll ? [] : value}
        onChange={onChange}
        disabled={withAll}
        maxTags={100}
        acceptValueOnBlur
      />
      <Checkbox
        label={w.sharedWithAll}
        checked={withAll}
        onChange={(event) => onChange(event.currentTarget.checked ? [EVERYBODY] : [])}
      />
    </Stack>
  );
}
