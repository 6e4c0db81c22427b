/** What stands beside the talk, where there is no room for it. */

import { Drawer, type DrawerProps } from "@mantine/core";

import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

export function SideDrawer(props: DrawerProps) {
  const w = useWords(commonWords);
  return <Drawer closeButtonProps={{ "aria-label": w.close }} {...props} />;
}
