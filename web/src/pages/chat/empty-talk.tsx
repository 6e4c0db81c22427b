/** A conversation in which nothing was said yet: the soul may speak first. */

import { Button, Center, Stack, Text, UnstyledButton } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";

import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { useScene } from "~/pages/chat/scene";
import { SoulFace } from "~/pages/chat/soul-face";
import { showProblem } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

export function EmptyTalk() {
  const w = useWords(chatWords);
  const { soul } = useScene();
  return (
    <Center className={c.listBox} style={{ overflowY: "auto" }}>
      <Stack align="center" gap="md" p="md" maw={520}>
        <SoulFace soulId={soul.soul_id} size={88} />
        <Text ta="center" c="dimmed">
          {w.empty(soul.name)}
        </Text>
        <Greetings />
      </Stack>
    </Center>
  );
}

export function useCharacters() {
  return useQuery({ queryKey: keys.characters, queryFn: () => ask(api.GET("/v1/characters")) });
}

function Greetings() {
  const w = useWords(chatWords);
  const { session, access } = useScene();
  const characters = useCharacters();
  const character = characters.data?.find((one) => one.id === session.character_snapshot.source_preset);
  const greet = useMutation({
    mutationFn: (greeting: number) =>
      ask(
        api.POST("/v1/sessions/open", {
          body: { session_id: session.session_id, user_id: access.person, greeting },
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [...keys.session(session.session_id)] }),
    onError: showProblem,
  });
  if (!character?.greetings?.length || session.continued_from) return null;
  return (
    <Stack gap="xs" w="100%" role="group" aria-label={w.greetings}>
      <Text size="sm" fw={600}>
        {w.greetings}
      </Text>
      {character.greetings.map((words, n) => (
        <UnstyledButton
          key={`${n}-${words}`}
          className={c.greeting}
          disabled={greet.isPending}
          onClick={() => greet.mutate(n)}
        >
          {words}
        </UnstyledButton>
      ))}
      {greet.isPending && <Button loading variant="subtle" aria-label={w.greetings} />}
    </Stack>
  );
}
