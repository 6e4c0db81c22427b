/** A background: the world in which conversations take place, and its lore. */

import { Badge, Stack, Tabs } from "@mantine/core";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { type Background, backgroundBody, type BackgroundFields, backgroundFields, isSummary, MOST } from "./fields";
import { CopyButton, DeleteButton, PresetHeader } from "./header";
import { type FormProps, LongTexts, NameField } from "./inputs";
import styles from "./library.module.css";
import { LoreTab } from "./lore";
import { useCreate } from "./queries";
import { type Form, usePreset } from "./use-preset";

const FORM: Form<Background, BackgroundFields> = {
  kind: "backgrounds",
  fieldsOf: backgroundFields,
  put: (fields, base) =>
    ask(
      api.PUT("/v1/backgrounds/{background_id}", {
        params: { path: { background_id: base.id } },
        body: backgroundBody(fields, base),
      }),
    ),
};

export function BackgroundEditor({ background }: { background: Background }) {
  const w = useWords(libraryWords);
  const { isServerOwner } = useAccess();
  const form = usePreset(background, FORM);
  // What sums up a conversation belongs to those who had it.
  const mayEdit = isServerOwner || isSummary(background);
  return (
    <section className={`panel ${styles.panel}`} aria-label={background.name}>
      <PresetHeader
        kind="backgrounds"
        preset={background}
        form={form}
        invalid={!form.fields.name.trim()}
        mayEdit={mayEdit}
        note={isSummary(background) && <Badge variant="light">{w.summary}</Badge>}
        actions={<Actions background={background} mayDelete={mayEdit} />}
      />
      <Tabs defaultValue="details" keepMounted={false} className={styles.tabs}>
        <Tabs.List aria-label={w.parts}>
          <Tabs.Tab value="details">{w.details}</Tabs.Tab>
          <Tabs.Tab value="lore">{`${w.lore} · ${background.lore.length}`}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="details" pt="md">
          <BackgroundForm fields={form.fields} change={form.change} mistakes={form.mistakes} readOnly={!mayEdit} />
        </Tabs.Panel>
        <Tabs.Panel value="lore" pt="md">
          <LoreTab kind="backgrounds" preset={background} />
        </Tabs.Panel>
      </Tabs>
    </section>
  );
}

function BackgroundForm(form: FormProps<BackgroundFields>) {
  const w = useWords(libraryWords);
  const texts = [
    { field: "description", label: w.backgroundDescription, minRows: 3, sized: true },
    { field: "world_rules", label: w.worldRules, minRows: 4, sized: true },
    { field: "initial_context", label: w.initialContext, minRows: 3, sized: true },
  ] as const;
  return (
    <Stack gap="md" maw={820}>
      <NameField {...form} />
      <LongTexts texts={texts} {...form} />
    </Stack>
  );
}

function Actions({ background, mayDelete }: { background: Background; mayDelete: boolean }) {
  const w = useWords(libraryWords);
  const { isServerOwner } = useAccess();
  const create = useCreate("backgrounds");
  const copy = () => {
    const { id: _, revision, created_at, updated_at, ...fields } = background;
    create.mutate({ body: { ...fields, name: w.copyOf(background.name).slice(0, MOST.name) } });
  };
  return (
    <>
      {isServerOwner && <CopyButton loading={create.isPending} onClick={copy} />}
      {mayDelete && <DeleteButton kind="backgrounds" preset={background} />}
    </>
  );
}
