import { words } from "~/words/words";

export const dropWords = words(
  {
    here: "Drop it: a character card or a lorebook",
    hereToo: "Drop it: a transcript (JSONL), a character card or a lorebook",
    transcript: "Drop it: a transcript (JSONL)",
    forbidden: "Importing is for owners of the server.",
  },
  {
    here: "松开即可导入：角色卡或世界书",
    hereToo: "松开即可导入：对话记录（JSONL）、角色卡或世界书",
    transcript: "松开即可导入：对话记录（JSONL）",
    forbidden: "只有服务器所有者可以导入。",
  },
);
