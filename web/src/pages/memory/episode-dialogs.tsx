import { Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { Read } from "~/pages/soul/section";
import { SharingInput } from "~/pages/soul/sharing";
import { FormDialog } from "~/parts/dialog";
import { commonWords } from "~/words/common";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import type { Episode } from "./episode-row";
import { useCorrectEpisode, useShareEpisode } from "./use-episodes";
import { useChanger } from "./view";

interface EpisodeDialogProps {
  episode: Episode;
  onClose: () => void;
}

export function CorrectDialog({ episode, onClose }: EpisodeDialogProps) {
  const w = useWords(memoryWords);
  const common = useWords(commonWords);
  const [content, setContent] = useState(episode.content);
  const correct = useCorrectEpisode(episode, onClose);
  const isEmpty = content.trim() === "";
  return (
    <FormDialog
      title={w.correctTitle}
      submit={common.save}
      pending={correct.isPending}
      ready={!isEmpty && content.trim() !== episode.content}
      changed={content !== episode.content}
      onSubmit={() => correct.mutate(content.trim())}
      onClose={onClose}
    >
      <Text size="sm">{w.correctText}</Text>
      <Textarea
        label={w.words}
        value={content}
        error={isEmpty && w.correctEmptied}
        autosize
        minRows={2}
        maxRows={12}
        onChange={(event) => setContent(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  );
}

/** With whom it is shared is read first: what is sent replaces it. */
export function ShareDialog({ episode, onClose }: EpisodeDialogProps) {
  const as = useChanger()(episode.user_id);
  const params = { path: { soul_id: episode.soul_id }, query: { user_id: as } };
  const shared = useQuery({
    queryKey: keys.soul(episode.soul_id, "shared", as),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/shared", { params })),
    staleTime: 0,
  });
  return (
    <Read query={shared}>
      {(things) => {
        const own = things.find(({ kind, id }) => kind === "episode" && id === String(episode.message_id));
        return <ShareForm episode={episode} known={own?.shared_with ?? []} onClose={onClose} />;
      }}
    </Read>
  );
}

function ShareForm({ episode, known, onClose }: EpisodeDialogProps & { known: string[] }) {
  const w = useWords(memoryWords);
  const common = useWords(commonWords);
  const [people, setPeople] = useState(known);
  const share = useShareEpisode(episode, onClose);
  return (
    <FormDialog
      title={w.shareTitle}
      submit={common.save}
      pending={share.isPending}
      onSubmit={() => share.mutate(people)}
      onClose={onClose}
    >
      <Text size="sm" lineClamp={3}>
        “{episode.content}”
      </Text>
      <Text size="sm" c="dimmed">
        {w.shareText}
      </Text>
      <SharingInput soulId={episode.soul_id} value={people} onChange={setPeople} except={episode.user_id} />
    </FormDialog>
  );
}
