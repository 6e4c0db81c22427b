/** What an owner can do with a whole soul. */

import { ActionIcon, Menu } from "@mantine/core";
import { IconCopyPlus, IconDots, IconDownload, IconMessages, IconPencil, IconTrash, IconUpload } from "@tabler/icons-react";
import { Suspense, useState } from "react";

import { useAccess } from "~/access";
import { onDemand } from "~/later";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { DeleteSoul, RenameSoul, SaveAsCharacter } from "./soul-dialogs";
import type { OfSoul } from "./soul";
import { ExportDialog, ImportDialog } from "./transfer";

const ImportChats = onDemand(async () => (await import("./import-chats")).ImportChats);

type Action = "rename" | "saveAs" | "chats" | "export" | "import" | "delete";

export function SoulActions({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const { isServerOwner } = useAccess();
  const [open, setOpen] = useState<Action | null>(null);
  const close = () => setOpen(null);
  const items = [
    { action: "rename", label: w.rename, icon: IconPencil, offered: true },
    { action: "saveAs", label: w.saveAs, icon: IconCopyPlus, offered: true },
    { action: "chats", label: w.importChats, icon: IconMessages, offered: true },
    { action: "export", label: w.exportSoul, icon: IconDownload, offered: true },
    { action: "import", label: w.importSoul, icon: IconUpload, offered: isServerOwner },
  ] as const;
  return (
    <>
      <Menu position="bottom-end" withArrow>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={w.actions}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {items
            .filter(({ offered }) => offered)
            .map(({ action, label, icon: Icon }) => (
              <Menu.Item key={action} leftSection={<Icon size={16} aria-hidden />} onClick={() => setOpen(action)}>
                {label}
              </Menu.Item>
            ))}
          <Menu.Divider />
          <Menu.Item color="var(--bad)" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setOpen("delete")}>
            {w.deleteSoul}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {open === "rename" && <RenameSoul soul={soul} onClose={close} />}
      {open === "saveAs" && <SaveAsCharacter soul={soul} onClose={close} />}
      {open === "chats" && (
        <Suspense>
          <ImportChats soul={soul} onClose={close} />
        </Suspense>
      )}
      {open === "export" && <ExportDialog soul={soul} onClose={close} />}
      {open === "import" && <ImportDialog onClose={close} />}
      {open === "delete" && <DeleteSoul soul={soul} onClose={close} />}
    </>
  );
}
