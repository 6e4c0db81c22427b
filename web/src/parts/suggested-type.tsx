/** The MBTI type that a character's text suggests, and why. */

import { List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";

/** Below this the text says too little. */
const UNSURE = 0.3;

export type Suggestion = Schemas["MbtiSuggestion"];

/** What the server suggests for a character; nothing for none. */
export function useSuggestedType(characterId: string | null): Suggestion | undefined {
  const { data } = useQuery({
    queryKey: [...keys.characters, characterId, "mbti"],
    queryFn: () => ask(api.GET("/v1/characters/{character_id}/mbti", { params: { path: { character_id: characterId! } } })),
    enabled: characterId !== null,
  });
  return data;
}

/** The reasons of a suggestion. A character that has its type needs none. */
export function TypeReasons({ suggestion }: { suggestion: Suggestion | undefined }) {
  const w = useWords(libraryWords);
  if (!suggestion || suggestion.confidence === 1) return null;
  const { mbti_type, confidence, why } = suggestion;
  const unsure = confidence < UNSURE;
  return (
    <div data-testid="type-reasons">
      <Text size="xs" c="dimmed">
        {unsure ? w.typeUnsure(mbti_type) : w.typeSuggested(mbti_type, Math.round(confidence * 100))}
      </Text>
      <List size="xs" c="dimmed">
        {why.map((reason) => (
          <List.Item key={reason}>{reason}</List.Item>
        ))}
      </List>
    </div>
  );
}
