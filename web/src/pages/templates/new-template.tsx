import { Select, TextInput } from "@mantine/core";
import { useState } from "react";

import { FormDialog } from "~/parts/dialog";
import { commonWords } from "~/words/common";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { type Body, bodyOf, draftOf, freeName, type Stored } from "./draft";
import { useCreate } from "./queries";

const EMPTY = "";

export function NewTemplate({ all, onClose }: { all: Stored[]; onClose: () => void }) {
  const w = useWords(templateWords);
  const common = useWords(commonWords);
  const [name, setName] = useState(() => freeName(w.untitled, all.map((one) => one.name)));
  const [from, setFrom] = useState(all[0]?.id ?? EMPTY);
  const create = useCreate(onClose);
  const submit = () => {
    const source = all.find((one) => one.id === from);
    create.mutate({ ...(source ? bodyOf(draftOf(source)) : onlyRequired(w)), name });
  };
  return (
    <FormDialog
      title={w.newTitle}
      submit={common.create}
      pending={create.isPending}
      ready={name.trim() !== ""}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label={common.name}
        value={name}
        maxLength={80}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Select
        label={w.beginWith}
        data={[...all.map((one) => ({ value: one.id, label: one.name })), { value: EMPTY, label: w.beginEmpty }]}
        value={from}
        allowDeselect={false}
        onChange={(chosen) => setFrom(chosen ?? EMPTY)}
      />
    </FormDialog>
  );
}

/** A template with nothing but what the server would add by itself. */
function onlyRequired(w: (typeof templateWords)["en"]): Omit<Body, "name"> {
  const module = (name: string, layer: 2 | 3 | 4, template: string) => ({ name, layer, priority: 10, enabled: true, template });
  return {
    voice: "companion",
    modules: [
      module(w.layers[2], 2, "{{base_persona}}"),
      module(w.layers[3], 3, "{{relation}}"),
      module(w.layers[4], 4, "{{mode}}"),
    ],
  };
}
