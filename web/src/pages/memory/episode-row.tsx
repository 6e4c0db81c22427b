/** One thing that was said, and what can be done with it. */

import { ActionIcon, Badge, Group, Text, Tooltip } from "@mantine/core";
import { IconMessage, IconPencil, IconShare } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router";

import { DeleteButton } from "~/pages/soul/delete-button";
import css from "~/pages/soul/soul.module.css";
import { useWhen } from "~/pages/soul/when";
import { useSouls } from "~/parts/soul-picker";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import { CorrectDialog, ShareDialog } from "./episode-dialogs";
import { Score } from "./score";
import { useForgetEpisode } from "./use-episodes";
import { useMayChange } from "./view";

export interface Episode {
  message_id: number;
  session_id: string;
  user_id: string;
  soul_id: string;
  role: string;
  content: string;
  at: string;
  score?: number | null;
  proactive?: boolean;
}

interface EpisodeProps {
  episode: Episode;
  /** The highest score beside it. */
  best?: number;
  withLink?: boolean;
}

export function EpisodeRow({ episode, best, withLink }: EpisodeProps) {
  const w = useWords(memoryWords);
  const when = useWhen();
  const mayChange = useMayChange();
  const souls = useSouls().data ?? [];
  const soul = souls.find((one) => one.soul_id === episode.soul_id)?.name ?? episode.soul_id;
  const speaker = episode.role === "user" ? episode.user_id : soul;
  return (
    <div className={css.row}>
      <div className={css.grow}>
        <Text size="sm" style={{ whiteSpace: "pre-wrap" }}>
          {episode.content}
        </Text>
        <Group gap={8}>
          <Text size="xs" c="dimmed">
            {speaker} · {when.time(episode.at)}
          </Text>
          {episode.proactive && <Mark text={w.proactive} />}
          {best !== undefined && <Score value={episode.score ?? null} best={best} />}
        </Group>
      </div>
      <Group gap={2} wrap="nowrap">
        {withLink && (
          <Tooltip label={w.openChat}>
            <ActionIcon
              component={Link}
              to={`/chat/${encodeURIComponent(episode.session_id)}`}
              variant="subtle"
              color="gray"
              aria-label={w.openChat}
            >
              <IconMessage size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
        {mayChange(episode.user_id) && <Changes episode={episode} />}
      </Group>
    </div>
  );
}

function Mark({ text }: { text: string }) {
  return (
    <Badge size="xs" variant="default" tt="none">
      {text}
    </Badge>
  );
}

function Changes({ episode }: { episode: Episode }) {
  const w = useWords(memoryWords);
  const [open, setOpen] = useState<"correct" | "share" | null>(null);
  const forget = useForgetEpisode();
  const text = episode.content.slice(0, 40);
  const close = () => setOpen(null);
  return (
    <>
      <ActionIcon variant="subtle" color="gray" aria-label={w.shareNamed(text)} onClick={() => setOpen("share")}>
        <IconShare size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" aria-label={w.correctNamed(text)} onClick={() => setOpen("correct")}>
        <IconPencil size={16} aria-hidden />
      </ActionIcon>
      <DeleteButton
        question={w.forgetMessageAsk}
        label={w.forgetNamed(text)}
        loading={forget.isPending}
        onConfirm={() => forget.mutate(episode)}
      />
      {open === "correct" && <CorrectDialog episode={episode} onClose={close} />}
      {open === "share" && <ShareDialog episode={episode} onClose={close} />}
    </>
  );
}
