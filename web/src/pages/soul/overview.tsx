import { Group, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { useLive } from "~/live/live";
import { MoodPanel } from "~/parts/mood";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { History } from "./history";
import { Radar } from "./radar-figure";
import { Empty, Read, Section } from "./section";
import type { OfSoul } from "./soul";
import css from "./soul.module.css";
import { useProfile } from "./use-profile";

export function Overview({ soul }: OfSoul) {
  const access = useAccess();
  return (
    <Stack gap={14}>
      <div className={`${css.wide} ${css.even}`}>
        <Personality soul={soul} />
        <MoodPanel soulId={soul.soul_id} userId={access.isOwner ? undefined : access.person} />
      </div>
      {access.isSomebody && <Identity soul={soul} />}
      <History soulId={soul.soul_id} />
    </Stack>
  );
}

function Personality({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const live = useLive((state) => state.emotions[soul.soul_id]);
  const path = { soul_id: soul.soul_id };
  const read = useQuery({
    queryKey: keys.soul(soul.soul_id, "emotion"),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/emotion", { params: { path } })),
  });
  const drift = (live ?? read.data)?.soul_emotion.drift ?? soul.emotion_state.drift;
  return (
    <Section title={w.radar}>
      <Radar born={soul.personality_vector} drift={drift} />
    </Section>
  );
}

function Identity({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const profile = useProfile(soul.soul_id);
  return (
    <Section title={w.identity}>
      <Read query={profile}>
        {({ core_identity: identity }) =>
          Object.keys(identity).length === 0 ? (
            <Empty>{w.noIdentity}</Empty>
          ) : (
            <Table fz="sm" aria-label={w.identity}>
              <Table.Tbody>
                {Object.entries(identity).map(([name, value]) => (
                  <Table.Tr key={name}>
                    <Table.Th scope="row" c="dimmed" fw={500}>
                      {w.identityOf[name] ?? name.replaceAll("_", " ")}
                    </Table.Th>
                    <Table.Td>{Array.isArray(value) ? <Several texts={value} /> : String(value)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Read>
    </Section>
  );
}

function Several({ texts }: { texts: unknown[] }) {
  return (
    <Group gap={6}>
      {texts.map((text) => (
        <Text key={String(text)} size="sm" className={css.level}>
          {String(text)}
        </Text>
      ))}
    </Group>
  );
}
