/** The terminals as they come and go. */

import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { listen } from "~/live/live";

export type Terminal = Schemas["TerminalOut"];

/** Notices tell of the terminals of souls at once; those without a soul, and reports, are looked for. */
const LOOK_AGAIN_MS = 5_000;
const MOST_SOULS = 50;

export function useTerminals() {
  const terminals = useQuery({
    queryKey: keys.terminals,
    queryFn: () => ask(api.GET("/v1/terminals")),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const souls = [...new Set((terminals.data ?? []).map((one) => one.soul_id))].filter((id) => id !== null).sort();
  const heard = souls.slice(0, MOST_SOULS).join(" ");
  useEffect(() => {
    const ends = heard.split(" ").flatMap((soulId) => (soulId ? [listen({ soul_id: soulId })] : []));
    return () => ends.forEach((end) => end());
  }, [heard]);
  return terminals;
}

/** "3 minutes ago", in the language of the person. */
export function agoWords(lang: string, at: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  const words = new Intl.RelativeTimeFormat(lang === "zh" ? "zh-CN" : "en", { numeric: "auto" });
  if (seconds > -60) return words.format(Math.min(0, seconds), "second");
  if (seconds > -3600) return words.format(Math.round(seconds / 60), "minute");
  if (seconds > -86_400) return words.format(Math.round(seconds / 3600), "hour");
  return words.format(Math.round(seconds / 86_400), "day");
}
