/** Refusals of the server in the words of the page. */

import { type Lang, words } from "~/words/words";

/** The server's own words are English, and say more than we could. */
const told = (detail: string) => detail;

/**
 * By `code`, or by `code` and `reason` where one code has several. What a model's server has said is never shown: it may be
 * in any language and form, and quote a key.
 */
export const problemWords = words(
  {
    unreachable: () => "The server cannot be reached.",
    "model_refused.key": () => "The model's server does not take the key it was given. An owner of this server can set another one.",
    "model_refused.unknown_model": () => "The model's server does not know the model. An owner of this server can name another one.",
    "model_refused.endless": () => "The model's answer did not end, and was not read any further. Try again.",
    model_refused: () =>
      "The model's server refused to answer. Say it in other words; if that does not help, an owner should look at the model's settings.",
    "model_unavailable.busy": () => "The model's server gets too many requests just now. Wait a moment, then try again.",
    "model_unavailable.unreachable": () =>
      "The model's server cannot be reached. Try again in a moment; if that does not help, an owner should see whether it runs.",
    model_unavailable: () => "The model's server failed. Try again in a moment.",
    model_timeout: () => "The model did not answer in time. Try again.",
    model_error: () => "The model failed. Try again.",
    turn_output_invalid: () => "The model's answer could not be used. Try again.",
    unauthorized: told,
    forbidden: told,
    not_found: told,
    soul_exists: told,
    session_mismatch: told,
    others_spoke: told,
    session_empty: told,
    last_owner_key: told,
    already_exists: told,
    changed_meanwhile: told,
    template_shipped: told,
    template_in_use: told,
    no_broker: told,
    job_not_dead: told,
    turn_superseded: told,
    turn_stopped: () => "You stopped it before the first word: nothing was said.",
    body_too_large: told,
    unsupported_media: told,
    invalid_input: told,
    budget_exhausted: told,
    session_busy: told,
    server_busy: () => "So much is going on here right now that this was not taken. Send it again in a moment.",
    internal_error: told,
    store_unavailable: told,
    memory_problem: told,
    broker_unavailable: told,
    shutting_down: told,
  },
  {
    unreachable: () => "连不上服务器。",
    "model_refused.key": () => "模型服务不接受所用的密钥。请这个服务器的所有者换一个。",
    "model_refused.unknown_model": () => "模型服务没有这个模型。请这个服务器的所有者换一个模型名称。",
    "model_refused.endless": () => "模型的回答没完没了，没有读到底。请再试一次。",
    model_refused: () => "模型服务拒绝回答。换个说法试试；还是不行的话，请所有者检查模型的设置。",
    "model_unavailable.busy": () => "模型服务此刻请求太多。请稍等一会儿再试。",
    "model_unavailable.unreachable": () => "连不上模型服务。请稍后再试；还是不行的话，请所有者看看它是否在运行。",
    model_unavailable: () => "模型服务出错了。请稍后再试。",
    model_timeout: () => "模型没有按时回答。请再试一次。",
    model_error: () => "模型出错了。请再试一次。",
    turn_output_invalid: () => "模型的回答没法使用。请再试一次。",
    unauthorized: () => "需要有效的密钥：没有密钥，或者它已被吊销。",
    forbidden: () => "这个密钥不允许这样做。",
    not_found: () => "没有找到：它可能已被删除，或者不该由你看到。",
    soul_exists: () => "已经有同名的灵魂，请换一个名字。",
    session_mismatch: () => "这个对话属于别的人、灵魂或设定，请新开一个对话。",
    others_spoke: () => "之后已经有别人说了话，不能再改这一句。请说新的话。",
    session_empty: () => "这个对话里还没有人说过话，请先聊几句。",
    last_owner_key: () => "这是最后一个所有者密钥。请先创建另一个。",
    already_exists: () => "这个 id 已经被占用，请换一个。",
    changed_meanwhile: () => "期间有人修改过。请重新读取，再做修改。",
    template_shipped: () => "这是自带的模板，不能修改。请另存为一个新模板。",
    template_in_use: () => "还有对话在用这个模板，请先删除那些对话。",
    no_broker: () => "这个服务器没有启用 MQTT。",
    job_not_dead: () => "这个任务在等待、运行或已完成，只有失败的任务可以重试。",
    turn_superseded: () => "另一个服务器先写入了这一轮，什么也没有保存。请再发一次。",
    turn_stopped: () => "还没开口，你就让它停下了：什么也没有说。",
    body_too_large: () => "内容太大，请发小一些的。",
    unsupported_media: () => "不支持这种文件。",
    invalid_input: (detail: string) => `有内容不符合要求：${detail}`,
    budget_exhausted: () => "这个灵魂今天的用量已经用完，午夜后继续。",
    session_busy: () => "这个对话里正在进行的轮次太多，请稍等一会儿。",
    server_busy: () => "此刻说话的人太多，这一句没有收下。请稍等一会儿再发。",
    internal_error: () => "服务器出错了，这一步没有保存。原因在服务器的日志里。",
    store_unavailable: () => "数据库没有回应，请稍后再试。",
    memory_problem: () => "事件库用不了：对话照常进行。请这个服务器的所有者运行 soulgraph doctor --repair。",
    broker_unavailable: () => "MQTT 服务没有回应，请稍后再试。",
    shutting_down: () => "服务器正在关闭，请稍后再试。",
  },
);

export interface Told {
  code: string;
  detail: string;
  reason?: unknown;
}

/** What to tell of a refusal; of one that we do not know, what the server says. */
export function sentenceOf({ code, detail, reason }: Told, lang: Lang): string {
  const sentences: Record<string, (detail: string) => string> = problemWords[lang];
  const sentence = sentences[`${code}.${String(reason)}`] ?? sentences[code];
  return sentence ? sentence(detail) : detail;
}
