/** Deletes a template; one that is in use says by which conversations. */

import { Anchor, List, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";

import { api, ask, Problem } from "~/api/client";
import { keys } from "~/api/queries";
import { ConfirmButton } from "~/parts/confirm";
import { Dialog } from "~/parts/dialog";
import { UNGUARDED } from "~/parts/leave";
import { showDone, showProblem } from "~/parts/problem";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import type { Stored } from "./draft";

export function DeleteTemplate({ template }: { template: Stored }) {
  const w = useWords(templateWords);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [inUse, setInUse] = useState(false);
  const remove = useMutation({
    mutationFn: () =>
      ask(api.DELETE("/v1/templates/{template_id}", { params: { path: { template_id: template.id } } })),
    onSuccess: async () => {
      await navigate("/prompt-templates", UNGUARDED);
      client.setQueryData<Stored[]>(keys.templates, (all) => all?.filter((one) => one.id !== template.id));
      showDone(w.deleted);
    },
    onError: (problem) => {
      if (problem instanceof Problem && problem.code === "template_in_use") setInUse(true);
      else showProblem(problem);
    },
  });
  return (
    <>
      <ConfirmButton
        question={w.deleteQuestion(template.name)}
        onConfirm={() => remove.mutate()}
        loading={remove.isPending}
        aria-label={w.deleteTemplate}
        px={8}
      >
        <IconTrash size={16} aria-hidden />
      </ConfirmButton>
      {inUse && <InUse template={template} onClose={() => setInUse(false)} />}
    </>
  );
}

function InUse({ template, onClose }: { template: Stored; onClose: () => void }) {
  const w = useWords(templateWords);
  const sessions = useQuery({
    queryKey: [...keys.sessions(), "by-template"],
    queryFn: () => ask(api.GET("/v1/sessions", { params: { query: { limit: 1000 } } })),
  });
  const users = (sessions.data ?? []).filter((session) => session.template_id === template.id);
  return (
    <Dialog opened onClose={onClose} title={w.inUseTitle}>
      <Text size="sm" mb="sm">
        {w.inUse}
      </Text>
      <List size="sm" style={{ maxHeight: 300, overflow: "auto" }}>
        {users.map((session) => (
          <List.Item key={session.session_id}>
            <Anchor component={Link} to={`/chat/${encodeURIComponent(session.session_id)}`} size="sm">
              {session.title || w.untitledTalk}
            </Anchor>{" "}
            · {session.user_id}
          </List.Item>
        ))}
      </List>
    </Dialog>
  );
}
