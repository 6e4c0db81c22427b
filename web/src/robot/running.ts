/** The robot runs while it is switched on, also on pages that do not show it. Its program is loaded when it first is. */

import { useEffect } from "react";

import { useKey } from "~/api/key";
import { showProblem } from "~/parts/problem";
import { usePreferences } from "~/preferences";
import type * as Program from "~/robot/robot";
import { useRobot } from "~/robot/store";

let program: Promise<typeof Program> | null = null;

function withProgram(use: (robot: typeof Program) => void): void {
  program ??= import("~/robot/robot");
  program.then(use, (problem: unknown) => {
    program = null;
    showProblem(problem);
  });
}

export function useRunning(allowed: boolean): void {
  const { enabled, terminalId } = useRobot();
  const key = useKey((state) => state.key);
  const lang = usePreferences((state) => state.lang);
  useEffect(() => {
    if (enabled && allowed) withProgram(({ startRobot }) => startRobot(terminalId));
    else if (program) withProgram(({ stopRobot }) => stopRobot());
  }, [enabled, allowed, terminalId, key]);
  useEffect(() => {
    if (program) withProgram(({ reportAgain }) => reportAgain());
  }, [lang]);
}
