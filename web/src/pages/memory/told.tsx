/** The facts that people have told: the newest first, or those with certain words, that hold or held. */

import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { Empty, Read, Section } from "~/pages/soul/section";
import { commonWords } from "~/words/common";
import { factWords } from "~/words/facts";
import { useWords } from "~/words/words";

import { FactRow } from "./fact-row";
import { Question } from "./question";
import { useView } from "./view";
import { VirtualList } from "./virtual-list";

const MOST = 1000;
const states = ["all", "current", "past"] as const;
type State = (typeof states)[number];
const superseded: Record<State, boolean | undefined> = { all: undefined, current: false, past: true };

export function Told({ soulId }: { soulId: string }) {
  const w = useWords(factWords);
  const common = useWords(commonWords);
  const [search, setSearch] = useSearchParams();
  const [state, setState] = useState<State>("all");
  const q = search.get("q") ?? "";
  return (
    <Section title={w.title} text={w.text}>
      <Question
        label={w.find}
        placeholder={w.findPlaceholder}
        submit={common.search}
        value={q}
        onAsk={(question) => setSearch(question ? { q: question } : {})}
      >
        <Select
          aria-label={w.which}
          data={states.map((value) => ({ value, label: w.state[value] }))}
          value={state}
          allowDeselect={false}
          onChange={(value) => setState((value ?? "all") as State)}
        />
      </Question>
      <Facts soulId={soulId} q={q} state={state} />
    </Section>
  );
}

function Facts({ soulId, q, state }: { soulId: string; q: string; state: State }) {
  const w = useWords(factWords);
  const { userId } = useView();
  const [open, setOpen] = useState<string | null>(null);
  const query = { user_id: userId, q, superseded: superseded[state], limit: MOST };
  const facts = useQuery({
    queryKey: keys.soul(soulId, "facts", userId, q, state),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/facts", { params: { path: { soul_id: soulId }, query } })),
  });
  return (
    <Read query={facts}>
      {(found) =>
        found.length === 0 ? (
          <Empty>{q || state !== "all" ? w.noneFound : w.none}</Empty>
        ) : (
          <VirtualList label={w.title} items={found} keyOf={({ fact_id }) => fact_id}>
            {(fact) => (
              <FactRow
                soulId={soulId}
                fact={fact}
                isOpen={open === fact.fact_id}
                onToggle={() => setOpen(open === fact.fact_id ? null : fact.fact_id)}
              />
            )}
          </VirtualList>
        )
      }
    </Read>
  );
}
