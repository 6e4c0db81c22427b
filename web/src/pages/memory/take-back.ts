/** Make something private again that was shared, whatever kind it is of. */

import { api, ask, Problem, type Schemas } from "~/api/client";
import { type Profile, textOf } from "~/pages/soul/profile";

type Thing = Schemas["SharedThing"];

interface As {
  /** Whose slot or preference it is. */
  owner: string | undefined;
  /** As whom a message is changed. */
  changer: string | undefined;
}

export async function takeBack(soulId: string, thing: Thing, as: As, gone: string): Promise<void> {
  const query = { user_id: as.owner };
  if (thing.kind === "episode") {
    if (!thing.session_id) throw new Problem(404, "gone", gone);
    const path = { session_id: thing.session_id, message_id: Number(thing.id) };
    const params = { path, query: { user_id: as.changer } };
    await ask(
      api.PUT("/v1/sessions/{session_id}/messages/{message_id}/sharing", { params, body: { shared_with: [] } }),
    );
  } else if (thing.kind === "slot") {
    const params = { path: { soul_id: soulId, n: Number(thing.id) }, query };
    await ask(api.PUT("/v1/souls/{soul_id}/slots/{n}", { params, body: { content: thing.text, shared_with: [] } }));
  } else if (thing.kind === "preference") {
    const params = { path: { soul_id: soulId, key: thing.id }, query };
    const { value, confidence, evidence } = await ask(api.GET("/v1/souls/{soul_id}/preferences/{key}", { params }));
    const body = { value, confidence, evidence: evidence as string[], shared_with: [] };
    await ask(api.PUT("/v1/souls/{soul_id}/preferences/{key}", { params, body }));
  } else if (thing.kind === "fact") {
    const params = { path: { soul_id: soulId, fact_id: thing.id }, query };
    await ask(api.PATCH("/v1/souls/{soul_id}/facts/{fact_id}", { params, body: { shared_with: [] } }));
  } else {
    await takeItemBack(soulId, thing, gone);
  }
}

async function takeItemBack(soulId: string, thing: Thing, gone: string): Promise<void> {
  const params = { path: { soul_id: soulId } };
  const profile = (await ask(api.GET("/v1/souls/{soul_id}/profile", { params }))) as unknown as Profile;
  const state = withoutSharing(profile.dynamic_state, thing);
  if (!state) throw new Problem(404, "gone", gone);
  const body = { revision: profile.revision, dynamic_state: state } as unknown as Schemas["ProfileEdit"];
  await ask(api.PUT("/v1/souls/{soul_id}/profile", { params, body }));
}

/** The state in which this item is shared with nobody; null if it is not there. */
export function withoutSharing(
  state: Profile["dynamic_state"],
  thing: Pick<Thing, "user_id" | "text" | "at">,
): Profile["dynamic_state"] | null {
  let found = false;
  const fields = Object.entries(state).map(([field, { items }]) => {
    const changed = items.map((item) => {
      const isIt = item.user_id === thing.user_id && textOf(item) === thing.text && (item.timestamp ?? "") === thing.at;
      found ||= isIt;
      return isIt ? { ...item, shared_with: [] } : item;
    });
    return [field, { items: changed }] as const;
  });
  return found ? Object.fromEntries(fields) : null;
}
