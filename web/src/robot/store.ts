/** Whether there is a robot in this tab, what it is called, and whether it is there; and how it is at this moment. */

import { create } from "zustand";
import { persist } from "zustand/middleware";

import { NEWBORN, type RobotState } from "~/robot/hearing";

export interface RobotLine {
  n: number;
  at: number;
  direction: "in" | "out";
  kind: string;
  text: string;
}

export type RobotConnection = "off" | "connecting" | "online" | "down";

interface RobotStore {
  /** Whether it is switched on; kept in this browser. */
  enabled: boolean;
  terminalId: string;
  connection: RobotConnection;
  /** Whether the broker has it now. */
  online: boolean;
  state: RobotState;
  lines: RobotLine[];
  setEnabled: (enabled: boolean) => void;
  setTerminalId: (terminalId: string) => void;
}

export const FIRST_ID = "studio-robot";

export const useRobot = create<RobotStore>()(
  persist(
    (set) => ({
      enabled: false,
      terminalId: FIRST_ID,
      connection: "off",
      online: false,
      state: NEWBORN,
      lines: [],
      setEnabled: (enabled) => set({ enabled }),
      setTerminalId: (terminalId) => set({ terminalId }),
    }),
    { name: "soulgraph.robot", partialize: ({ enabled, terminalId }) => ({ enabled, terminalId }) },
  ),
);
