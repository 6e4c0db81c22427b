/** Which of a character's expression images shows its mood. */

/** The names that an expression may have, as the server knows them. */
export const EXPRESSIONS = [
  "neutral",
  "joy",
  "surprise",
  "sadness",
  "fear",
  "anger",
  "disgust",
  "calm",
  "relief",
  "gratitude",
  "excitement",
  "anxiety",
  "frustration",
  "disappointment",
  "boredom",
] as const;

export type Expression = (typeof EXPRESSIONS)[number];
export type ImageName = "avatar" | Expression;

/** The expressions that suit a mood, the best first; one that is not here would lie about it. */
const SUITABLE: Record<string, readonly Expression[]> = {
  calm: ["calm", "neutral", "relief"],
  content: ["relief", "calm", "gratitude", "joy", "neutral"],
  cheerful: ["joy", "excitement", "gratitude", "relief"],
  elated: ["excitement", "joy", "gratitude"],
  excited: ["excitement", "surprise", "joy"],
  proud: ["joy", "gratitude", "relief", "calm"],
  tender: ["gratitude", "relief", "joy", "calm"],
  moved: ["gratitude", "surprise", "sadness", "neutral"],
  sad: ["sadness", "disappointment"],
  worried: ["anxiety", "fear", "sadness"],
  afraid: ["fear", "anxiety", "surprise"],
  hurt: ["sadness", "disappointment", "frustration"],
  angry: ["anger", "frustration", "disgust"],
  sulky: ["frustration", "disappointment", "disgust", "anger"],
  bored: ["boredom", "calm", "neutral"],
  tired: ["boredom", "calm", "sadness", "neutral"],
};

/** `mood` in English, as `EmotionOut` says it: "clearly sad". Null if there is no image that suits it. */
export function expressionOf(mood: string, images: readonly string[]): Expression | null {
  const word = mood.trim().toLowerCase().split(/\s+/).at(-1) ?? "";
  return (SUITABLE[word] ?? []).find((expression) => images.includes(expression)) ?? null;
}
