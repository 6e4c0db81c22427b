import { useQuery } from "@tanstack/react-query";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";

/** The conversations of the chosen person with a soul, the newest first. */
export function useSessions(soulId: string) {
  const { person, isSomebody } = useAccess();
  const query = { soul_id: soulId, user_id: person, limit: 1000 };
  return useQuery({
    queryKey: [...keys.sessions(soulId), "of", person],
    queryFn: () => ask(api.GET("/v1/sessions", { params: { query } })),
    enabled: isSomebody,
  });
}
