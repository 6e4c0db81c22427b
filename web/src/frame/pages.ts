/** The pages of the rail and the palette, and who may open them. */

import {
  IconAffiliate,
  IconBooks,
  IconBrain,
  IconChartLine,
  IconHeart,
  IconMessageCircle,
  IconPuzzle,
  IconRobot,
  IconSettings,
} from "@tabler/icons-react";

import type { Access } from "~/access";

const anybody = () => true;

export const pages = [
  { name: "chat", path: "/chat", icon: IconMessageCircle, for: (access: Access) => access.isSomebody },
  { name: "soul", path: "/soul", icon: IconHeart, for: anybody },
  { name: "memory", path: "/memory", icon: IconBrain, for: (access: Access) => access.isSomebody },
  { name: "library", path: "/library", icon: IconBooks, for: anybody },
  { name: "templates", path: "/prompt-templates", icon: IconPuzzle, for: anybody },
  { name: "terminals", path: "/terminals", icon: IconRobot, for: anybody },
  { name: "graph", path: "/graph", icon: IconAffiliate, for: anybody },
  { name: "simulate", path: "/simulate", icon: IconChartLine, for: anybody },
  { name: "operations", path: "/operations", icon: IconSettings, for: (access: Access) => access.isServerOwner },
] as const;
