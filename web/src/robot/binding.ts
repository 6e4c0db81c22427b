/** Which soul the robot carries: it is said over HTTP, and the robot hears of it by its status. */

import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { showProblem } from "~/parts/problem";
import { useRobot } from "~/robot/store";

export function useSelectSoul() {
  const { person } = useAccess();
  return useMutation({
    mutationFn: (chosen: { terminalId: string; soulId: string }) =>
      ask(
        api.POST("/v1/souls/select", {
          body: { terminal_id: chosen.terminalId, soul_id: chosen.soulId, user_id: person },
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.terminals }),
    onError: showProblem,
  });
}

/** Let the robot carry this soul as soon as it is there. */
export function useBinding(soulId: string | undefined): void {
  const { mutate } = useSelectSoul();
  const { online, terminalId, state } = useRobot();
  const wanted = online && state.bound !== null && soulId !== undefined && state.soulId !== soulId;
  useEffect(() => {
    if (wanted && soulId) mutate({ terminalId, soulId });
  }, [wanted, soulId, terminalId, mutate]);
}
