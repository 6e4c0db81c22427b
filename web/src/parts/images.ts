/** The images of characters. They need the key, so they are fetched and shown from memory. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { askRaw } from "~/api/client";
import type { ImageName } from "~/parts/expressions";

/** Of one image, or of all that a character has. */
export const imageKey = (characterId: string, ...name: ImageName[]) => ["character-image", characterId, ...name] as const;

export const imageNamesKey = (characterId: string) => ["character-images", characterId] as const;

export const imagePath = (characterId: string, name: ImageName) =>
  `v1/characters/${encodeURIComponent(characterId)}/images/${name}`;

/** An address of the image for as long as it is shown; undefined while it is read, or if there is none. */
export function useImage(characterId: string | null | undefined, name: ImageName | null): string | undefined {
  const image = useQuery({
    queryKey: imageKey(characterId ?? "", name ?? "avatar"),
    queryFn: async () => (await askRaw(imagePath(characterId ?? "", name ?? "avatar"))).blob(),
    enabled: Boolean(characterId && name),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const content = characterId && name ? image.data : undefined;
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!content) return setAddress(undefined);
    const made = URL.createObjectURL(content);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return address;
}
