/** Sizes of texts, estimated as the server does where no provider counts them. */

const WIDE = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g;

/** One token for each Chinese character, and one for every four others. */
export function tokensOf(text: string): number {
  const all = [...text].length;
  const wide = text.match(WIDE)?.length ?? 0;
  return wide + Math.ceil((all - wide) / 4);
}

export interface Size {
  tokens: number;
  characters: number;
}

export function sizeOf(texts: readonly string[]): Size {
  return {
    tokens: texts.reduce((sum, text) => sum + tokensOf(text), 0),
    characters: texts.reduce((sum, text) => sum + [...text].length, 0),
  };
}
