/** What the library reads, makes and deletes. Characters and backgrounds have the same calls at two addresses. */

import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { api, ask, askRaw, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { imageKey, imageNamesKey, imagePath } from "~/parts/images";
import type { ImageName } from "~/parts/expressions";
import { UNGUARDED } from "~/parts/leave";
import { showDone, showProblem } from "~/parts/problem";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { type Background, type Character, type Kind, writable } from "./fields";

export type Preset = Character | Background;

export const pathOf = (kind: Kind, id?: string) => (id ? `/library/${kind}/${encodeURIComponent(id)}` : `/library/${kind}`);

export function useCharacters() {
  return useQuery({ queryKey: keys.characters, queryFn: () => ask(api.GET("/v1/characters")) });
}

export function useBackgrounds() {
  return useQuery({ queryKey: keys.backgrounds, queryFn: () => ask(api.GET("/v1/backgrounds")) });
}

export function readPreset(kind: Kind, id: string): Promise<Preset> {
  return kind === "characters"
    ? ask(api.GET("/v1/characters/{character_id}", { params: { path: { character_id: id } } }))
    : ask(api.GET("/v1/backgrounds/{background_id}", { params: { path: { background_id: id } } }));
}

/** Show a preset as it now is, without reading all the others. */
export function keep(client: QueryClient, kind: Kind, preset: Preset): void {
  client.setQueryData<Preset[]>(keys[kind], (all = []) => {
    const at = all.findIndex((one) => one.id === preset.id);
    return at < 0 ? [...all, preset] : all.with(at, preset);
  });
}

type NewPreset = Schemas["NewCharacter"] | Schemas["NewBackground"];

/** Make a preset, with copies of the images of another one, and open it. */
export function useCreate(kind: Kind) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async ({ body, imagesOf }: { body: NewPreset; imagesOf?: Character }) => {
      const made: Preset =
        kind === "characters"
          ? await ask(api.POST("/v1/characters", { body: writable(body as Schemas["NewCharacter"]) }))
          : await ask(api.POST("/v1/backgrounds", { body: body as Schemas["NewBackground"] }));
      for (const name of imagesOf?.images ?? []) await copyImage(imagesOf?.id ?? "", made.id, name as ImageName);
      return imagesOf ? await readPreset(kind, made.id) : made;
    },
    onSuccess: async (made) => {
      keep(client, kind, made);
      await navigate(pathOf(kind, made.id));
      void client.invalidateQueries({ queryKey: keys[kind], exact: true });
    },
    onError: showProblem,
  });
}

async function copyImage(from: string, to: string, name: ImageName): Promise<void> {
  const image = await (await askRaw(imagePath(from, name))).blob();
  await askRaw(imagePath(to, name), { method: "PUT", body: image });
}

export function useDelete(kind: Kind, id: string) {
  const w = useWords(libraryWords);
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () =>
      kind === "characters"
        ? ask(api.DELETE("/v1/characters/{character_id}", { params: { path: { character_id: id } } }))
        : ask(api.DELETE("/v1/backgrounds/{background_id}", { params: { path: { background_id: id } } })),
    onSuccess: async () => {
      await navigate(pathOf(kind), UNGUARDED);
      client.setQueryData<Preset[]>(keys[kind], (all) => all?.filter((one) => one.id !== id));
      showDone(w.deleted);
    },
    onError: showProblem,
  });
}

/** Store or delete an image of a character, wherever it is shown. */
export function useImageChange(characterId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, file }: { name: ImageName; file: File | null }) =>
      askRaw(imagePath(characterId, name), file ? { method: "PUT", body: file } : { method: "DELETE" }),
    onSuccess: async (_, { name }) => {
      client.removeQueries({ queryKey: imageKey(characterId, name) });
      void client.invalidateQueries({ queryKey: imageNamesKey(characterId) });
      keep(client, "characters", await readPreset("characters", characterId));
    },
    onError: showProblem,
  });
}

/** Store the pictures of an expression pack, wherever they are shown. */
export function usePackImport(characterId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (file: File) => {
      const answer = await askRaw(`v1/characters/${encodeURIComponent(characterId)}/images/import`, { method: "POST", body: file });
      return (await answer.json()) as Schemas["ImportedImages"];
    },
    onSuccess: async ({ images }) => {
      for (const { name } of images) client.removeQueries({ queryKey: imageKey(characterId, name as ImageName) });
      void client.invalidateQueries({ queryKey: imageNamesKey(characterId) });
      keep(client, "characters", await readPreset("characters", characterId));
    },
    onError: showProblem,
  });
}
