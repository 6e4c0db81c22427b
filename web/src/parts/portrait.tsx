/** The face of a soul: its character's image for the mood, else the drawn face with the avatar beside it. */

import { Image } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { api, ask } from "~/api/client";
import type { Emotion } from "~/live/live";
import { expressionOf } from "~/parts/expressions";
import { Face } from "~/parts/face";
import { imageNamesKey, useImage } from "~/parts/images";
import { useSouls } from "~/parts/soul-picker";
import { usePreferences } from "~/preferences";
import { moodWords } from "~/words/mood";
import { useWords } from "~/words/words";

interface PortraitProps {
  /** A soul without a character has the drawn face. */
  soulId: string;
  emotion: Emotion;
  size?: number;
}

export function Portrait({ soulId, emotion, size = 88 }: PortraitProps) {
  const w = useWords(moodWords);
  const lang = usePreferences((state) => state.lang);
  const character = useSouls().data?.find((soul) => soul.soul_id === soulId)?.character_id;
  const images = useImageNames(character);
  const expression = expressionOf(emotion.mood.en, images);
  const face = useImage(character, expression);
  const avatar = useImage(character, expression === null && images.includes("avatar") ? "avatar" : null);
  const { p, a, d } = emotion.soul_emotion;
  const label = w.face(emotion.mood[lang]);
  if (face) {
    return (
      <Image
        src={face}
        alt={label}
        w={size}
        h={size}
        radius="lg"
        fit="cover"
        style={{ flex: "none" }}
        data-expression={expression}
      />
    );
  }
  return (
    <div style={{ position: "relative", width: size, height: size, flex: "none" }}>
      <Face p={p} a={a} d={d} size={size} label={label} />
      {avatar && (
        <Image
          src={avatar}
          alt=""
          w={size * 0.42}
          h={size * 0.42}
          radius="xl"
          fit="cover"
          style={{ position: "absolute", right: -6, bottom: -6, border: "2px solid var(--panel)" }}
        />
      )}
    </div>
  );
}

function useImageNames(characterId: string | null | undefined): string[] {
  const images = useQuery({
    queryKey: imageNamesKey(characterId ?? ""),
    queryFn: () =>
      ask(api.GET("/v1/characters/{character_id}/images", { params: { path: { character_id: characterId ?? "" } } })),
    enabled: Boolean(characterId),
    staleTime: 60_000,
    // A soul outlives its character.
    retry: false,
  });
  return (images.data ?? []).map((image) => image.name);
}
