import { Avatar } from "@mantine/core";

import { useImage } from "~/parts/images";

interface CharacterAvatarProps {
  character: { id: string; name: string; images: readonly string[] };
  size?: number;
}

/** The avatar, or the first letters of the name. The name stands beside it. */
export function CharacterAvatar({ character, size = 36 }: CharacterAvatarProps) {
  const address = useImage(character.id, character.images.includes("avatar") ? "avatar" : null);
  return (
    <Avatar src={address} alt="" size={size} radius="md" color="soul" aria-hidden>
      {address ? undefined : [...character.name].slice(0, 2).join("")}
    </Avatar>
  );
}
