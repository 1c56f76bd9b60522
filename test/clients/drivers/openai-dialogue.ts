import type { OpenAI } from 'openai';
import { PNG, rain, reportSchema, SYSTEM, weatherTool } from '../words.ts';
import { MAX_ROUNDS, MAX_TOKENS, type Outcome, type Wish } from './driver.ts';

/** A conversation by hand, as applications on the `openai` SDK write it. Portkey's SDK has the same calls. */

type Chat = OpenAI.Chat.Completions.ChatCompletion;
type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk;
type Body = Omit<OpenAI.Chat.Completions.ChatCompletionCreateParams, 'stream'>;
type Param = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type Calls = OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall[];

/** The gateway's extensions, which clients that are not strict see: they are kept and sent back as they came. */
interface Extended {
  readonly content_blocks?: readonly Block[];
  readonly reasoning_content?: string;
}
interface Block {
  readonly thinking?: string;
  readonly delta?: { readonly thinking?: string };
}

interface Turn extends Extended {
  readonly content: string | null;
  readonly calls: Calls;
  readonly finish: string | undefined;
  readonly usage: OpenAI.CompletionUsage | null | undefined;
}

interface Options {
  readonly signal?: AbortSignal;
}

export interface Completions {
  plain(body: Body, options: Options): Promise<Chat>;
  stream(body: Body, options: Options): Promise<AsyncIterable<Chunk>>;
}

export async function openaiDialogue(completions: Completions, wish: Wish): Promise<Outcome> {
  const options = wish.signal ? { signal: wish.signal } : {};
  const messages: Param[] = opening(wish);
  const turns: Turn[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const body = bodyFor(wish, messages);
    const turn = wish.stream
      ? await foldStream(await completions.stream(body, options), wish)
      : readPlain(await completions.plain(body, options));
    turns.push(turn);
    if (turn.calls.length === 0) break;
    messages.push(echo(turn), ...results(turn.calls));
  }
  return outcomeOf(turns);
}

const opening = ({ question, image }: Wish): Param[] => [
  { role: 'system', content: SYSTEM },
  {
    role: 'user',
    content: image
      ? [
          { type: 'text', text: question },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        ]
      : question,
  },
];

function bodyFor({ model, tools, thinking, report }: Wish, messages: Param[]): Body {
  const { name, description, schema } = weatherTool;
  return {
    model,
    messages: [...messages],
    max_completion_tokens: MAX_TOKENS,
    ...(tools && { tools: [{ type: 'function', function: { name, description, parameters: schema } }] }),
    ...(thinking && { reasoning_effort: 'low' }),
    ...(report && {
      response_format: { type: 'json_schema', json_schema: { name: 'report', schema: reportSchema, strict: true } },
    }),
  };
}

function echo({ content, calls, content_blocks: blocks, reasoning_content: reasoning }: Turn): Param {
  const extended: Extended = {
    ...(blocks && { content_blocks: blocks }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
  };
  return { role: 'assistant', content, tool_calls: calls, ...extended };
}

/** The last call is answered first: no application owes the gateway an order. */
const results = (calls: Calls): Param[] =>
  calls
    .map(({ id, function: { arguments: args } }): Param => {
      const { city } = JSON.parse(args) as { city: string };
      return { role: 'tool', tool_call_id: id, content: rain(city) };
    })
    .toReversed();

function readPlain({ choices, usage }: Chat): Turn {
  const [choice] = choices;
  if (!choice) throw new Error('A completion without a choice.');
  const message: typeof choice.message & Extended = choice.message;
  return {
    content: message.content,
    calls: (message.tool_calls ?? []).filter((call) => call.type === 'function'),
    finish: choice.finish_reason,
    usage,
    ...(message.content_blocks && { content_blocks: message.content_blocks }),
    ...(message.reasoning_content !== undefined && { reasoning_content: message.reasoning_content }),
  };
}

async function foldStream(stream: AsyncIterable<Chunk>, { onText }: Wish): Promise<Turn> {
  let [content, reasoning] = ['', ''];
  let finish: string | undefined;
  let usage: Turn['usage'];
  const calls: Calls = [];
  const blocks: Block[] = [];
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage;
    const [choice] = chunk.choices;
    if (!choice) continue;
    finish = choice.finish_reason ?? finish;
    const delta: typeof choice.delta & Extended = choice.delta;
    content += delta.content ?? '';
    if (delta.content) onText?.();
    reasoning += delta.reasoning_content ?? '';
    blocks.push(...(delta.content_blocks ?? []));
    for (const { index, id, function: part } of delta.tool_calls ?? []) {
      const call = (calls[index] ??= { id: id ?? '', type: 'function', function: { name: '', arguments: '' } });
      // With whatever else stands beside name and arguments: `thought_signature` for one.
      const args = call.function.arguments + (part?.arguments ?? '');
      call.function = { ...call.function, ...part, name: part?.name ?? call.function.name, arguments: args };
    }
  }
  return {
    content: content === '' ? null : content,
    calls,
    finish,
    usage,
    ...(blocks.length > 0 && { content_blocks: blocks }),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
  };
}

function outcomeOf(turns: readonly Turn[]): Outcome {
  const last = turns.at(-1);
  return {
    text: last?.content ?? '',
    thoughts: turns.map(thoughtsOf).join(''),
    calls: turns.flatMap(({ calls }) =>
      calls.map(({ function: { name, arguments: args } }) => ({
        name,
        args: JSON.parse(args) as Record<string, unknown>,
      })),
    ),
    finish: last?.finish,
    usage: { input: last?.usage?.prompt_tokens, output: last?.usage?.completion_tokens },
  };
}

function thoughtsOf({ content_blocks: blocks = [], reasoning_content: reasoning }: Turn): string {
  const thoughts = blocks.map(({ thinking, delta }) => thinking ?? delta?.thinking ?? '').join('');
  return thoughts === '' ? (reasoning ?? '') : thoughts;
}
