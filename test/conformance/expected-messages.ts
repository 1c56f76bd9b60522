/**
 * The reply that a client of /v1/messages should get, by a recording of an upstream that speaks another API
 * (docs/protocols/messages-route.md#replies, docs/protocols/replies.md#finish-reasons, docs/protocols/replies.md#usage).
 */
import { readSse } from '../../src/formats/sse/event-stream.ts';
import type { Expected } from './check-messages.ts';
import type { Json, Judges, Recording } from './recordings.ts';

/** A recording of Gemini, by the shared checker's own reading of it. Undefined where it has none. */
export function expectedOfGemini(record: Recording, { derive }: Judges): Expected | undefined {
  const derived = derive(record) as unknown as Derived;
  if (!derived.applicable) return undefined;
  const { status, errorMessage, streamError, blocked, unfinished, usage } = derived;
  const [choice] = derived.choices;
  const tools = choice?.tools ?? [];
  return {
    status,
    ...(errorMessage !== undefined && { errorMessage }),
    ...(streamError !== undefined && { streamError }),
    ...(blocked !== undefined && { blocked }),
    ...(unfinished !== undefined && { unfinished }),
    texts: choice?.text ?? [],
    thinking: (choice?.thinking ?? []).map(({ text }) => text).join(''),
    tools: choice?.partial ? tools.map((tool) => ({ ...tool, argsUnknown: true })) : tools,
    stop: choice?.stop ? stopOfGemini(choice.stop, tools.length > 0) : [],
    ...(usage && {
      usage: {
        input: usage.promptInclusive.map((count) => count - usage.cached),
        cached: usage.cached,
        output: usage.completion,
      },
    }),
    moreText: (choice?.otherBlocks ?? []).length > 0,
  };
}

interface Derived {
  readonly applicable: boolean;
  readonly status: number;
  readonly errorMessage?: string;
  readonly streamError?: string;
  readonly blocked?: string;
  readonly unfinished?: boolean;
  readonly choices: readonly {
    readonly text: readonly string[];
    readonly thinking: readonly { readonly text: string }[];
    readonly tools: Expected['tools'];
    readonly partial?: boolean;
    readonly stop: string | null;
    readonly otherBlocks: readonly string[];
  }[];
  readonly usage: {
    readonly promptInclusive: readonly number[];
    readonly cached: number;
    readonly completion: readonly number[];
  } | null;
}

const FILTERED = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'LANGUAGE',
  'MODEL_ARMOR',
]);

function stopOfGemini(reason: string, called: boolean): readonly string[] {
  if (reason === 'MAX_TOKENS') return ['max_tokens'];
  if (FILTERED.has(reason)) return ['refusal'];
  return [called ? 'tool_use' : 'end_turn'];
}

const STOP_OF_OPENAI: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

interface OpenAiCall {
  id?: string;
  index?: number;
  function?: { name?: string; arguments?: string };
}
interface OpenAiMessage {
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  tool_calls?: readonly OpenAiCall[] | null;
  function_call?: { name?: string; arguments?: string } | null;
  audio?: unknown;
}
interface OpenAiReply {
  readonly error?: { readonly message?: string };
  readonly choices?: readonly {
    readonly index?: number;
    readonly message?: OpenAiMessage;
    readonly delta?: OpenAiMessage;
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: {
    prompt_tokens: number;
    completion_tokens: number;
    prompt_tokens_details?: { cached_tokens?: number | null };
  } | null;
}

/** A recording of OpenAI's chat completions, first choice. */
export function expectedOfOpenAi(record: Recording): Expected {
  const replies = repliesOf(record);
  const reported = {
    text: '',
    thinking: '',
    stop: '',
    calls: new Map<number, { name: string; json: string }>(),
    more: false,
  };
  let usage: OpenAiReply['usage'];
  for (const reply of replies) {
    usage = reply.usage ?? usage;
    const choice = reply.choices?.find(({ index = 0 }) => index === 0);
    if (!choice) continue;
    reported.stop = choice.finish_reason ?? reported.stop;
    const said: OpenAiMessage = choice.message ?? choice.delta ?? {};
    reported.text += said.content ?? '';
    reported.thinking += said.reasoning_content ?? '';
    reported.more ||= Boolean(said.refusal) || Boolean(said.audio);
    const calls = said.tool_calls ?? (said.function_call ? [{ function: said.function_call }] : []);
    for (const [at, { index = at, function: called }] of calls.entries()) {
      const call = reported.calls.get(index) ?? { name: '', json: '' };
      reported.calls.set(index, {
        name: call.name || (called?.name ?? ''),
        json: call.json + (called?.arguments ?? ''),
      });
    }
  }
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  const errorMessage = replies[0]?.error?.message;
  return {
    status: record.response_status,
    ...(errorMessage !== undefined && { errorMessage }),
    texts: [reported.text],
    thinking: reported.thinking,
    tools: [...reported.calls.values()].map(({ name, json }) => ({ name, args: parsed(json) })),
    stop: [...stopOfOpenAi(reported.stop, reported.calls.size > 0), ...(reported.more ? ['refusal'] : [])],
    ...(usage && { usage: { input: [usage.prompt_tokens - cached], cached, output: [usage.completion_tokens] } }),
    moreText: reported.more,
  };
}

/** A forced call ends with `stop` at OpenAI; a client of the other API looks for its own word. */
function stopOfOpenAi(reason: string, called: boolean): readonly string[] {
  if (reason === '') return [];
  return reason === 'stop' && called ? ['tool_use', 'end_turn'] : [STOP_OF_OPENAI[reason] ?? 'end_turn'];
}

function parsed(json: string): unknown {
  return json === '' ? {} : JSON.parse(json);
}

function repliesOf({ response_body_kind: kind, response_body: body }: Recording): readonly OpenAiReply[] {
  if (kind !== 'sse') return [body as OpenAiReply];
  return readSse(Buffer.from(String(body)))
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data) as Json as OpenAiReply);
}
