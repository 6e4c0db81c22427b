/** The figures of `/metrics`, which are in Prometheus' text format. */

export interface Figure {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export function figuresOf(text: string): Figure[] {
  return text.split("\n").flatMap((line) => {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) return [];
    const labels = [...(match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return [
      {
        name: match[1]!,
        labels: Object.fromEntries(labels.map((label) => [label[1]!, label[2]!.replace(/\\(.)/g, "$1")])),
        value: Number(match[3]),
      },
    ];
  });
}

/** The sum of all figures of this name whose labels `fit`. */
export function total(figures: Figure[], name: string, fit: (labels: Record<string, string>) => boolean = () => true) {
  return figures
    .filter((figure) => figure.name === name && fit(figure.labels))
    .reduce((sum, figure) => sum + figure.value, 0);
}
