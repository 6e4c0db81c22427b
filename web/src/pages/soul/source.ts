import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

/** Where a version or a preference came from, as people say it: `restored:3` → restored from 3. */
export function useSourceText(): (source: string) => string {
  const w = useWords(soulWords);
  return (source) => {
    const [kind = "", of = ""] = source.split(":", 2);
    if (kind === "restored") return w.restoredFrom(of);
    if (kind === "inherited") return w.inheritedFrom;
    return w.sourceOf[kind] ?? source;
  };
}
