/** Makes a soul and opens its first conversation, with its character's greeting if it has one. */

import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { usePreferences } from "~/preferences";

export interface NewSoul {
  name: string;
  mbti_type: string;
  character_id: string | null;
  /** What the soul calls its person. */
  user_name: string;
}

export function useMakeSoul(onMade?: (soul: Schemas["SoulOut"]) => void) {
  const { person, userId } = useAccess();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async (wanted: NewSoul) => {
      const user_name = wanted.user_name.trim() || null;
      const body = { ...wanted, name: wanted.name.trim(), user_name, user_id: userId };
      const soul = await ask(api.POST("/v1/souls", { body }));
      const opened = { soul_id: soul.soul_id, user_id: person, greeting: 0 };
      return { soul, session: await ask(api.POST("/v1/sessions/open", { body: opened })) };
    },
    onSuccess: async ({ soul, session }) => {
      usePreferences.getState().setSoulId(soul.soul_id);
      await queryClient.invalidateQueries({ queryKey: keys.souls });
      onMade?.(soul);
      void navigate(`/chat/${encodeURIComponent(session.session_id)}`);
    },
  });
}
