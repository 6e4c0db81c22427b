// The Vercel AI SDK: the same lines of JSON as talk.py, with streamText of `ai` and a provider of its own.
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [url, key, home, kind] = process.argv.slice(2);
const here = createRequire(`${home}/package.json`);
const load = (name) => import(pathToFileURL(here.resolve(name)));
const { streamText } = await load('ai');
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
const { createOpenAI } = await load('@ai-sdk/openai');
const models = {
  compatible: () => createOpenAICompatible({ name: 'soulgraph', baseURL: url, apiKey: key })('soul:Mo'),
  responses: () => createOpenAI({ baseURL: url, apiKey: key })('soul:Mo'),
};
const model = models[kind]();
const history = [];

const apply = {
  'new chat': () => history.splice(0),
  regenerate: () => history.pop(),
  edit: (text) => history.splice(-2, 2, { role: 'user', content: text }),
};

async function read(stopped) {
  const abort = new AbortController();
  let failure = null;
  const { textStream } = streamText({
    model, messages: history, maxRetries: 0, abortSignal: abort.signal, onError: ({ error }) => { failure = error; },
  });
  let said = '';
  let count = 0;
  for await (const piece of textStream) {
    said += piece;
    count += 1;
    if (stopped && count === 3) {
      abort.abort();
      break;
    }
  }
  if (failure && !stopped) throw failure;
  return said;
}

for await (const line of createInterface({ input: process.stdin })) {
  const wanted = JSON.parse(line);
  (apply[wanted.do] ?? ((text) => history.push({ role: 'user', content: text })))(wanted.text);
  if (wanted.do !== 'new chat') history.push({ role: 'assistant', content: await read(wanted.do === 'stop') });
  process.stdout.write(`${JSON.stringify({ history })}\n`);
}
