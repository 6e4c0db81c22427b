/** The labels of emotions, as the server knows them. */

import { words } from "~/words/words";

export const emotionWords = words(
  {
    neutral: "neutral",
    joy: "joy",
    surprise: "surprise",
    sadness: "sadness",
    fear: "fear",
    anger: "anger",
    disgust: "disgust",
    calm: "calm",
    relief: "relief",
    gratitude: "gratitude",
    excitement: "excitement",
    anxiety: "anxiety",
    frustration: "frustration",
    disappointment: "disappointment",
    boredom: "boredom",
    unknown: "unknown",
  },
  {
    neutral: "平常",
    joy: "喜悦",
    surprise: "惊讶",
    sadness: "难过",
    fear: "害怕",
    anger: "生气",
    disgust: "厌恶",
    calm: "平静",
    relief: "释然",
    gratitude: "感激",
    excitement: "兴奋",
    anxiety: "焦虑",
    frustration: "烦躁",
    disappointment: "失望",
    boredom: "无聊",
    unknown: "未知",
  },
);
