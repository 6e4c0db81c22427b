/** Ids that nobody else makes. Unlike `crypto.randomUUID` also for pages that came without TLS. */

export function newId(prefix = "studio-"): string {
  const parts = [...crypto.getRandomValues(new Uint32Array(4))];
  return prefix + parts.map((part) => part.toString(16).padStart(8, "0")).join("");
}
